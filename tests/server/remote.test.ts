/** `WRIT_URL`: the command line as the client of a registered service. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { placeOf } from '../../src/cli/remote/carried-out.ts'
import { type Ended, type Json, Place } from '../cli-gate/place.ts'
import { FOREIGN_KEY } from '../witness/log-rig.ts'
import { LOCAL_COMMANDS } from './local-commands.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

let place: ServicePlace
let client: Place
let token: string
let key: string

beforeAll(async () => {
  place = new ServicePlace('remote')
  token = place.tokenOf('human:ann@local')
  key = place.writ(['ledger', 'key', '--json']).json.public_key
  await place.serve()
  // Another user directory and state: nothing of the home is there.
  client = new Place('remote-client')
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
  client.remove()
})

function there(args: readonly string[], around: Json = {}): Ended {
  const env = { WRIT_URL: place.url, ...around.env }
  // The variable holds for a process from its start.
  return client.writ(args, { token, isWarm: false, ...around, env })
}

function here(args: readonly string[]): Ended {
  return client.writ(args, { token, isWarm: false })
}

it('speaks to no address that is not registered, and says how to register it', () => {
  const { status, err } = there(['principal', 'list'])
  expect(status).toBe(2)
  expect(err).toContain('remote.unknown')
  expect(err).toContain(`writ remote add NAME ${place.url}`)
}, 60_000)

it('registers a service by the key that a person took from its home', () => {
  const without = here(['remote', 'add', 'farm', place.url])
  expect([without.status, without.err.includes('credential.required')]).toEqual([1, true])
  const other = key.slice(0, -6).concat('AAAAA=')
  const wrong = here(['remote', 'add', 'farm', place.url, '--key', other])
  expect(wrong.status).not.toBe(0)
  const foreign = here(['remote', 'add', 'farm', place.url, '--key', FOREIGN_KEY])
  // A person compares it with what the home prints.
  expect(foreign.err).toContain(`the service has the key ${key}`)
  expect(foreign.err).toContain('remote.key_changed')
  expect(here(['remote', 'list', '--json']).json.remotes).toEqual([])
  const { status, json, err } = here(['remote', 'add', 'farm', place.url, '--key', key, '--json'])
  expect([status, err]).toEqual([0, ''])
  expect(json).toMatchObject({ name: 'farm', url: place.url, key })
  expect(here(['remote', 'list', '--json']).json.remotes).toHaveLength(1)
}, 120_000)

it('prints what the command prints there, with its exit status', () => {
  const text = there(['principal', 'list'])
  expect([text.status, text.out]).toEqual([0, place.writ(['principal', 'list'], { token }).out])
  expect(there(['flow', 'list']).out).toContain('writ flow run FLOW')
  const json = there(['token', 'list', '--json'])
  expect(json.json).toEqual(place.writ(['token', 'list', '--json'], { token }).json)
  const none = there(['task', 'show', 'act-none', '--json'])
  expect([none.status, none.json.error.code]).toEqual([1, 'history.unknown'])
}, 120_000)

it('proves a person with the passphrase that is typed here', () => {
  const pass = { passphrase: PASSPHRASE }
  const without = there(['principal', 'add', 'ai:far@local', '--json'])
  expect(without.json.error.code).toBe('credential.required')
  const added = there(['principal', 'add', 'ai:far@local', '--json', '--pass-fd', '3'], pass)
  expect([added.status, added.json.principal.id]).toEqual([0, 'far'])
  expect(place.writ(['principal', 'list'], { token }).out).toContain('far')
}, 120_000)

describe('what is useful from afar', () => {
  const pass = { passphrase: PASSPHRASE }
  const proposed = (name: string): { readonly file: string; readonly id: string } => {
    const document = place.proposal(name)
    client.write('proposal.json', JSON.stringify(document))
    return { file: join(client.project, 'proposal.json'), id: document.descriptor.action_id }
  }

  it('proposes, shows the question, approves it here, and reads what became of it', () => {
    const { file, id } = proposed('.env.far')
    const asked = there(['propose', file, '--json'])
    expect([asked.status, asked.json.decision.decision]).toEqual([3, 'CONFIRM'])
    const { pending } = there(['inbox', '--json']).json
    const [question] = pending.filter((one: Json) => one.action_id === id)
    const shown = there(['inbox', question.id])
    expect([shown.status, shown.out]).toEqual([0, expect.stringContaining('.env.far')])
    const without = there(['approve', question.id, '--yes'])
    expect([without.status, without.err]).toEqual([
      1,
      expect.stringContaining('credential.required'),
    ])
    expect(place.has('.env.far')).toBe(false)
    const done = there(['approve', question.id, '--pass-fd', '3', '--json'], pass)
    expect([done.status, done.json.status]).toEqual([0, 'promoted'])
    expect(place.has('.env.far')).toBe(true)
    expect(there(['show', id, '--json']).json).toMatchObject({ kind: 'action' })
    expect(there(['log']).out).toContain('.env.far')
    const facts = there(['log', '--facts', '--json']).json.facts
    expect(facts.length).toBeGreaterThan(3)
    const proof = there(['ledger', 'prove', '0', '--json'])
    expect(proof.json).toEqual(place.writ(['ledger', 'prove', '0', '--json']).json)
    expect(there(['ledger', 'verify', '--json']).json.ok).toBe(true)
  }, 240_000)

  it('denies, and says which question waits while it waits for the answer', async () => {
    const { file } = proposed('.env.no')
    const child = client.start(['propose', file, '--wait', '--json'], {
      token,
      env: { WRIT_URL: place.url },
    })
    let [out, err] = ['', '']
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    child.stderr?.on('data', (chunk) => {
      err += chunk
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    for (let look = 0; look < 200 && !err.includes('writ deny'); look++) await pause(200)
    const [, id = ''] = /writ deny ([0-9a-f]+)/.exec(err) ?? []
    const denied = there(['deny', id, '--reason', 'not now', '--pass-fd', '3'], pass)
    expect([denied.status, denied.out]).toEqual([0, expect.stringContaining('denied')])
    expect(await ended).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ status: 'denied' })
  }, 240_000)

  it('takes a yes only for the effects that were looked at', async () => {
    const { file, id } = proposed('.env.moved')
    expect(there(['propose', file, '--json']).status).toBe(3)
    const [question] = there(['inbox', '--json']).json.pending.filter(
      (one: Json) => one.action_id === id,
    )
    // What lies between shows other effects than those that are asked about.
    const between = spawn(process.execPath, [
      join(import.meta.dirname, 'other-effects.program.mjs'),
      place.url,
    ])
    try {
      const url = await new Promise<string>((resolve) => {
        between.stdout.once('data', (line) => resolve(String(line).trim()))
      })
      const added = here(['remote', 'add', 'between', url, '--key', key])
      expect(added.status, added.err).toBe(0)
      const yes = ['approve', question.id, '--pass-fd', '3', '--json']
      const moved = there(yes, { ...pass, env: { WRIT_URL: url } })
      expect([moved.status, moved.json.error.code]).toEqual([1, 'api.digest_moved'])
      expect(place.has('.env.moved')).toBe(false)
      expect(there(yes, pass).json.status).toBe('promoted')
    } finally {
      between.kill()
    }
  }, 120_000)

  it('takes no option that names this machine', () => {
    const like = there(['approve', '--like', 'abcdef123456', '--pass-fd', '3'], pass)
    expect([like.status, like.err]).toEqual([2, expect.stringContaining('remote.no_form')])
    const only = there(['approve', 'abcdef123456', '--only', 'src', '--pass-fd', '3'], pass)
    expect([only.status, only.err]).toEqual([2, expect.stringContaining('relative')])
    const home = there(['inbox', '--home', '.writ'])
    expect([home.status, home.err]).toEqual([2, expect.stringContaining('a home of this machine')])
  }, 120_000)

  it('leaves an undo that an actor asked for to a person', async () => {
    const bot = place.tokenOf('ai:far-bot@local')
    const body = place.proposal('taken-back.txt')
    const acting = place.client(bot)
    await acting.proposeAction({ query: {}, body, wait: 60 })
    const { action_id } = body.descriptor
    const asked = await acting.requestUndo({ body: { action_id, reason: 'wrong file' } })
    const { id } = asked.value
    expect(there(['inbox']).out).toContain(id)
    const yes = there(['approve', id, '--pass-fd', '3'], pass)
    expect([yes.status, yes.out]).toEqual([0, expect.stringContaining('taken back')])
    expect(place.has('taken-back.txt')).toBe(false)
  }, 240_000)
})

it('leaves what is local where it is, and says so', () => {
  const { status, err } = there(['exec', '--', 'true'])
  expect(status).toBe(125)
  // There is no home on this side, and `exec` does not look for one elsewhere.
  expect(err).not.toContain('remote.')
  expect(err).toContain('writ exec stays on this machine, WRIT_URL is not used')
  expect(there(['undo']).err).toContain('writ undo stays on this machine')
  expect(there(['hook', 'list']).err).toContain('writ hook list stays on this machine')
}, 60_000)

it('carries every command out there, or has a reason to stay here', () => {
  const here = COMMANDS.filter((one) => placeOf(one) === 'here').map(({ name }) => name)
  const documents = here.filter((name) => LOCAL_COMMANDS[name] === undefined)
  // These look at documents, which are here.
  expect([...documents].sort()).toEqual(
    [
      'laws check',
      'check',
      'normalize',
      'schema',
      'rules check',
      'rules eval',
      'rules test',
      'rules prove',
      'rules diff',
      'rules import',
      'rules fmt',
      'flow check',
      'flow test',
      'flow import',
      'flow export',
      'ledger compare',
    ].sort(),
  )
  for (const name of ['propose', 'inbox', 'show', 'approve', 'deny', 'log', 'ledger prove'])
    expect(here).not.toContain(name)
})

it('refuses a service that shows nothing signed to this token', async () => {
  const words = ['--stream', 'empty']
  const blind = place.tokenOf('device:blind@local', ...words)
  const { status, json } = there(['inbox', '--json'], { token: blind })
  expect([status, json.error.code]).toEqual([1, 'remote.key_unproven'])
}, 60_000)

it('follows a rotation of the key, and then believes the old one no more', async () => {
  const pass = { passphrase: PASSPHRASE }
  expect(place.writ(['ledger', 'rotate', '--pass-fd', '3'], pass).status).toBe(0)
  // A fact of each stream is signed with the new key.
  place.exec(['--yes'], 'echo x > rotated.txt')
  expect(there(['principal', 'list'])).toMatchObject({ status: 0, err: '' })
  const { remotes } = here(['remote', 'list', '--json']).json
  const { keys } = place.writ(['ledger', 'key', '--json']).json
  const newest = remotes.find((one: Json) => one.name === 'farm').keys
  expect([newest.length, keys.includes(newest[0])]).toEqual([1, true])
  // A person may still have the key of before.
  expect(here(['remote', 'remove', 'farm']).status).toBe(0)
  expect(here(['remote', 'add', 'farm', place.url, '--key', key]).status).toBe(0)
}, 120_000)

it('takes what `writ ledger key` prints, of a home that has several streams', () => {
  expect(here(['remote', 'remove', 'farm']).status).toBe(0)
  const printed = place.writ(['ledger', 'key']).out
  expect(printed.trim().split('\n').length).toBeGreaterThan(1)
  const added = here(['remote', 'add', 'farm', place.url, '--key', printed])
  expect([added.status, added.err]).toEqual([0, ''])
}, 60_000)

it('refuses a service whose key has changed', () => {
  const file = join(client.folder, 'state', 'writ', 'remotes.json')
  const text = readFileSync(file, 'utf8')
  const rows = JSON.parse(text).remotes.map(({ keys: _keys, ...one }: Json) => one)
  const other = rows.map((one: Json) => ({ ...one, key: FOREIGN_KEY }))
  writeFileSync(file, JSON.stringify({ remotes: other }))
  const { json, status } = there(['principal', 'list', '--json'])
  expect([status, json.error.code]).toEqual([1, 'remote.key_changed'])
  // Services that were registered before others were known have their key alone.
  writeFileSync(file, JSON.stringify({ remotes: rows }))
  expect(there(['principal', 'list']).status).toBe(0)
}, 60_000)
