/** UI_AUTOMATION with a real browser inside the sandbox, over pages of the scope and of a server. */
import { chmodSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findBrowser } from '../../src/service/acts/act-command.ts'
import type { Json } from '../cli-gate/place.ts'
import { Actor, BOTH_USERS, type Who } from './actor.ts'
import { Counterpart } from './counterpart.ts'

vi.setConfig({ testTimeout: 180_000 })

const PAGE = `<!doctype html><title>shop</title>
<h1>Shop</h1>
<input id="name"><select id="size"><option>small<option>large</select>
<button onclick="document.querySelector('#said').textContent =
  document.querySelector('#name').value + ' wants ' + document.querySelector('#size').value">Order</button>
<p id="said"></p>
<script>document.querySelector('#name').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') document.querySelector('#said').textContent = 'entered'
})</script>
`
const RESOURCES = {
  max_cpu_ms: 60_000,
  max_memory_mb: 1024,
  max_disk_mb: 200,
  max_duration_ms: 60_000,
}

/** A browser that asks its maker's server for news through the proxy, if it finds one. */
const NOSY = `#!/bin/sh
"${process.execPath}" -e '
const { HTTP_PROXY } = process.env
if (HTTP_PROXY) require("http").get(HTTP_PROXY, { path: "http://update.example/" }, (r) => r.resume())
'
exec "${findBrowser(['/usr/bin'])}" "$@"
`

let server: Counterpart

beforeAll(async () => {
  server = await Counterpart.open()
}, 180_000)

afterAll(() => server?.close())

let actor: Actor

function drive(
  steps: readonly Json[],
  wanted: Json = {},
  start = `file://${actor.at('work/page.html')}`,
): Json {
  const { compensation, ...rest } = wanted
  const operation = {
    type: 'UI_AUTOMATION',
    start_url: start,
    steps,
    ...(compensation === undefined ? {} : { compensation }),
  }
  return actor.proposal(operation, { ui: true, resources: RESOURCES, ...rest })
}

/** Gives the tests of a group an actor of their own. */
function useActor(who: Who): void {
  beforeAll(() => {
    actor = new Actor(who, 'interface', ['playwright-core'])
    actor.write('work/page.html', PAGE)
    actor.setting(`read_only_hosts: ['${server.host}']`)
  }, 120_000)
  afterAll(() => actor?.remove())
}

describe.each(BOTH_USERS)('as %s', (who) => {
  useActor(who)

  it('follows its steps, and what it saw is evidence', () => {
    const shot = actor.at('work/shots/after.png')
    const proposal = drive(
      [
        { action: 'wait_for', selector: '#name' },
        { action: 'fill', selector: '#name', content: 'hush-hush' },
        { action: 'select', selector: '#size', option: 'large' },
        { action: 'click', selector: 'button' },
        { action: 'expect_text', text: 'wants large', selector: '#said' },
        { action: 'press', key: 'Enter', selector: '#name' },
        { action: 'expect_text', text: 'entered' },
        { action: 'screenshot', save_to: shot },
      ],
      { create: ['work/shots/after.png'] },
    )
    const { status, json } = actor.act(proposal)
    expect(status, JSON.stringify(json)).toBe(0)
    const bytes = readFileSync(shot)
    expect(bytes.subarray(1, 4).toString()).toBe('PNG')
    const [entry] = json.result.diff.added.filter(({ path }: Json) => path === shot)
    expect(actor.hasObject(entry.after)).toBe(true)
    expect(actor.writ(['log', '--json']).out).not.toContain('hush-hush')
    expect(actor.rollback(json.action_id).json).toMatchObject({ verified: true })
    expect(actor.place.has('work/shots/after.png')).toBe(false)
  })

  it('a page of the web is reached through the door only, and what was done there is compensated', async () => {
    const compensation = { type: 'NETWORK_REQUEST', method: 'DELETE', url: `${server.url}/session` }
    const steps = [{ action: 'expect_text', text: 'ok' }]
    const proposal = drive(
      steps,
      { hosts: [server.host], compensation, rollback: 'compensation' },
      `${server.url}/page`,
    )
    const proposed = actor.propose(proposal)
    expect(proposed.status, JSON.stringify(proposed.json)).toBe(3)
    expect(proposed.json.decision.codes).toContain('confirm.class')
    const hosts = proposed.json.result.side_effects.network.map(({ host }: Json) => host)
    expect(new Set(hosts)).toEqual(new Set(['127.0.0.1']))
    const { json } = actor.approve(proposed.json.pending.id)
    expect(json.promoted, JSON.stringify(json)).toBe(true)
    expect((await server.taken()).map(({ path }) => path)).toContain('/page')
    const waiting = actor.rollback(json.action_id)
    expect(waiting.status, JSON.stringify(waiting.json)).toBe(3)
    expect(actor.approve(waiting.json.compensation.pending.id).status).toBe(0)
    expect(actor.rollback(json.action_id).json).toMatchObject({ verified: true })
    expect((await server.taken()).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /session',
    ])
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})

// What writ decides here does not depend on the user.
describe('as one of them', () => {
  useActor('user')

  it('a step that does not come about is reported, and nothing happens', () => {
    const { status, json } = actor.propose(
      drive([{ action: 'wait_for', selector: '#nowhere', timeout_ms: 500 }]),
    )
    expect(status).toBe(1)
    expect(json.decision).toMatchObject({ decision: 'BLOCK' })
    expect(json.decision.codes).toContain('ui.step')
    expect(json.result.outputs.stderr).toContain('steps/0 (wait_for)')
  })

  it('an undeclared screenshot is an undeclared effect', () => {
    const steps = [{ action: 'screenshot', save_to: actor.at('work/other.png') }]
    const { json } = actor.propose(drive(steps))
    expect(json.decision).toMatchObject({ decision: 'BLOCK', code: 'effect.undeclared' })
  })

  it('pages outside the scope, and without a declared interface, are refused', () => {
    const outside = actor.propose(drive([], {}, 'file:///etc/hostname'))
    expect(outside.json.decision.codes).toContain('descriptor.operation_scope')
    const undeclared = actor.propose(drive([], { ui: false }))
    expect(undeclared.json.decision.codes).toContain('descriptor.operation_scope')
  })

  it('without a compensation what a page of the web does cannot be undone, and is blocked', () => {
    const { json } = actor.propose(drive([], { hosts: [server.host] }, `${server.url}/page`))
    expect(json.decision).toMatchObject({ decision: 'BLOCK' })
    expect(json.decision.codes).toContain('effect.irreversible')
  })

  it('what a page asks of another host counts, what the browser program asks does not', () => {
    const compensation = { type: 'NETWORK_REQUEST', method: 'DELETE', url: `${server.url}/session` }
    const wanted = { hosts: [server.host], compensation, rollback: 'compensation' }
    // A browser of any version that connects to its vendor's server at the start.
    const browser = actor.write('work/bin/chromium', NOSY)
    chmodSync(browser, 0o755)
    const through = { env: { PATH: `${dirname(browser)}:${process.env['PATH']}` } }
    const alone = actor.propose(drive([], wanted, `${server.url}/page`), through)
    expect(alone.status, JSON.stringify(alone.json)).toBe(3)
    const page = actor.write('work/asking.html', '<img src="http://elsewhere.example/pixel.png">')
    const asking = actor.propose(drive([], wanted, `file://${page}`), through)
    expect(asking.json.decision).toMatchObject({ decision: 'BLOCK', code: 'effect.undeclared' })
    const [finding] = asking.json.result.findings
    expect(finding).toMatchObject({ code: 'effect.undeclared', path: 'elsewhere.example:80' })
  })

  it('all of it is computed again', () => {
    const { status, json } = actor.replay()
    expect(status, JSON.stringify(json)).toBe(0)
  })
})
