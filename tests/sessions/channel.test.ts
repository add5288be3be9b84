/** The channel of a session, its private home and its keys, seen from inside. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RunningAgent, SessionPlace } from './session-place.ts'

const KEY = 'sk-canary-4711'

let place: SessionPlace
let model: Server
let keys: unknown[]
beforeEach(async () => {
  place = new SessionPlace('channel')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.init()
  keys = []
  model = createServer((asked, answer) => {
    keys.push(asked.headers['x-api-key'])
    asked.resume()
    asked.on('end', () => answer.end('{"usage":{"input_tokens":3}}'))
  })
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', () => resolve()))
})
afterEach(() => {
  model.closeAllConnections()
  model.close()
  place.remove()
})

/** Posts to the channel from inside, and prints status and answer. */
const POST = `post() { curl -sS -o /tmp/answer -w '%{http_code} ' -H 'content-type: application/json' -d "$2" "$1"; cat /tmp/answer; echo; }`

describe('the channel of a session', { timeout: 90_000 }, () => {
  it('says what a person denied, and why', async () => {
    const agent = place.agentRun()
    await agent.does(POST)
    await agent.does('rm b.txt')
    await agent.hears('wait for an answer')
    const [{ id }] = place.pending()
    place.writ(['deny', id, '--reason', 'b is used'])
    // The agent hears it from its next report, also if another settle notices it first.
    place.writ(['session', 'settle'])
    const after = JSON.stringify({ boundary: 'after', tool: 'Bash', kind: 'shell', call: 'c1' })
    await agent.does(`post $WRIT_SESSION_CHANNEL/report '${after}'`)
    expect(agent.out).toMatch(/denied these changes: \S*b\.txt\. Their reason: .*b is used/)
    await agent.ends()
  })

  it('hears a report, settles, and answers with what was blocked', async () => {
    const agent = place.agentRun()
    await agent.does(POST)
    const after = JSON.stringify({ boundary: 'after', tool: 'Bash', kind: 'shell', call: 'c1' })
    await agent.does('cp /bin/true tool; chmod u+s tool; echo fine > fine.txt')
    await agent.does(`post $WRIT_SESSION_CHANNEL/report '${after}'`)
    expect(agent.out).toMatch(/200 \{"feedback":"writ: Blocked, .*tool/)
    expect(place.has('fine.txt')).toBe(true)
    const marks = place.facts('evaluation_v1').flatMap(({ session }) => session ?? [])
    expect(marks.at(-1)).toMatchObject({ boundary: 'tool', tool: { name: 'Bash', call_id: 'c1' } })
    await agent.ends()
  })

  it('blocks what an edit tool did besides the file that it names', async () => {
    const agent = place.agentRun(['--settle', 'tool'])
    await agent.does(POST)
    const edit = { boundary: 'after', tool: 'Write', kind: 'edit', call: 'c', paths: ['new.txt'] }
    await agent.does('echo new > new.txt; echo hidden >> a.txt')
    await agent.does(`post $WRIT_SESSION_CHANNEL/report '${JSON.stringify(edit)}'`)
    expect([place.has('new.txt'), place.text('a.txt')]).toEqual([true, 'one\n'])
    expect(agent.out).toMatch(/effect\.undeclared.*a\.txt/)
    await agent.ends()
  })

  it('serves nothing without the token of the session', async () => {
    const agent = place.agentRun()
    await agent.does(POST)
    await agent.does(
      'base=$(dirname $WRIT_SESSION_CHANNEL); post $base/0000/report "{}"; post $base/ "{}"',
    )
    await agent.does(
      'post $WRIT_SESSION_CHANNEL/approve "{}"; post $WRIT_SESSION_CHANNEL/report "no"',
    )
    expect(agent.out.match(/^(\d{3}) /gm)).toEqual(['404 ', '404 ', '404 ', '400 '])
    await agent.ends()
  })

  it('reaches the model of a known agent with a key that is nowhere inside', async () => {
    // A program of the name of a known agent, that only asks its model once.
    const bin = join(place.project, 'bin')
    mkdirSync(bin)
    const script = [
      '#!/bin/sh',
      'curl -sS -d "{}" -H "x-api-key: $ANTHROPIC_API_KEY" "$ANTHROPIC_BASE_URL/v1/messages"',
      'env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; grep -rs canary "$HOME" /tmp',
    ]
    writeFileSync(join(bin, 'claude'), `${script.join('\n')}\n`, { mode: 0o755 })
    expect(place.writ(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: `${KEY}\n` }).status).toBe(0)
    // A server that listens on a port has such an address.
    const { port } = model.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    // The model answers in this process, which must not wait for the agent.
    const agent = new RunningAgent(
      place.start(['run', '--model-url', url, '--', join(bin, 'claude')]),
    )
    expect(await agent.ends(), agent.err).toBe(0)
    expect(agent.out).toContain('"input_tokens":3')
    expect(keys).toEqual([KEY])
    expect(agent.out).not.toContain(KEY)
    expect(agent.out).toContain('ANTHROPIC_API_KEY=writ-session-placeholder')
  })

  it('keeps a private home, and asks before changed settings are used', async () => {
    const bin = join(place.project, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\neval "$WHAT"\n', { mode: 0o755 })
    mkdirSync(join(place.home, '.claude'))
    writeFileSync(join(place.home, '.claude/settings.json'), '{"theme":"dark"}')
    const run = (what: string, ...more: string[]) =>
      place.writ(['run', ...more, '--env', `WHAT=${what}`, '--', join(bin, 'claude')], {
        isWarm: false,
      })
    const first = run(
      'cat ~/.claude/settings.json; echo mine > ~/note; echo "{}" > ~/.claude/settings.json',
    )
    expect(first.out, first.err).toContain('"theme":"dark"')
    expect(place.writ(['secret', 'list']).status).toBe(0)
    const refused = run('true')
    expect([refused.status, refused.err]).toEqual([
      125,
      expect.stringMatching(/settings\.json[\s\S]*state_changed/),
    ])
    const again = run('cat ~/note', '--accept-state')
    expect([again.status, again.out]).toEqual([0, 'mine\n'])
    expect(run('true').status).toBe(0)
  })
})
