/** Limits, budgets and bad ends of sessions: nothing pending is lost, and the session goes on where it can. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RunningAgent, SessionPlace } from './session-place.ts'

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('limits')
  place.commit({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  place.init(PASS)
}, 120_000)
afterEach(() => place.remove())

const PASS = 'correct horse battery staple'
const FILL = `node -e 'const kept = []; for (;;) kept.push(Buffer.alloc(1 << 24, 1))'`
const WRITE = 'head -c 80000000 /dev/urandom > /tmp/large'

describe('a limit of a session', { timeout: 120_000 }, () => {
  it('ends the command that passes it, and the agent goes on (S-12a)', async () => {
    const agent = place.agentRun(['--memory', '600', '--disk', '60', '--time', '1h'])
    await agent.does(`${FILL}; echo "memory $?"`)
    expect(agent.out).toMatch(/memory 1\d\d/)
    await agent.hears('600 MB of memory')
    await agent.does(`${WRITE}; echo "disk $?"`)
    await agent.hears('the changes of the session take more than its 60 MB')
    // What is there already ends nothing more: the agent can make room.
    await agent.does('sleep 1; rm /tmp/large; echo "removed $?"; echo kept > kept.txt')
    expect(agent.out).toContain('removed 0')
    await agent.hears('promoted 1 added')
    const [{ session_id }] = place.sessions()
    const extended = place.writ(['session', 'extend', session_id, '--time', '1h', '--json'])
    const [started] = place.facts('session_v1')
    const ms = Date.parse(extended.json.until) - Date.parse(started.at)
    expect(Math.round(ms / 3_600_000), extended.err).toBe(2)
    expect(place.facts('session_v1').at(-1)).toMatchObject({ event: 'EXTENDED' })
    // An agent that leaves processes behind ends like any other.
    await agent.does('setsid sleep 600 & sleep 600 & true')
    expect(await agent.ends()).toBe(0)
    expect(agent.err).toMatch(/2 processes that the agent left running were ended/)
    expect([place.has('kept.txt'), place.sessions()]).toEqual([true, []])
    const shown = place.writ(['session', 'show', session_id])
    expect([shown.status, shown.out]).toEqual([0, expect.stringContaining('exited')])
  })

  it('is named also if the agent ends right after it', async () => {
    const script = `echo kept > kept.txt; ${FILL}; true`
    const agent = new RunningAgent(
      place.start(['run', '--memory', '300', '--', 'bash', '-c', script]),
    )
    expect(await agent.ends()).toBe(0)
    expect(agent.err).toContain('300 MB of memory')
    expect(place.has('kept.txt')).toBe(true)
  })

  it('of time ends the session and keeps what is pending', async () => {
    const agent = place.agentRun(['--time', '6s', '--settle', 'never'])
    await agent.does('rm b.txt')
    await agent.hears('writ session extend')
    expect(await agent.exited).not.toBe(0)
    expect(agent.err).toMatch(/reached its time[\s\S]*1 change is still pending/)
    expect([place.has('b.txt'), place.sessions()]).toEqual([true, [expect.anything()]])
    expect(place.facts('session_v1').at(-1)).toMatchObject({ ended: 'limit', pending: 1 })
  })

  it('of the model asks when it is used up, is raised by a person, and its use is on the record (S-7)', async () => {
    const model: Server = createServer((asked, answer) => {
      asked.resume()
      asked.on('end', () => answer.end('{"usage":{"input_tokens":30,"output_tokens":5}}'))
    })
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', () => resolve()))
    // A server that listens on a port has such an address.
    const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
    const bin = join(place.project, 'bin')
    mkdirSync(bin)
    const loop = 'while IFS= read -r line; do eval "$line"; echo "done: $line"; done'
    writeFileSync(join(bin, 'claude'), `#!/bin/bash\n${loop}\n`, { mode: 0o755 })
    const prices = '[{ model: m, input: 3, output: 15 }]'
    const settings = `session_budget: { requests: 9 }\n  model_prices: ${prices}\n`
    place.write('.writ/laws.yaml', `laws: []\nsettings:\n  ${settings}`)
    const accept = ['laws', 'accept', '--yes', '--pass-fd', '3']
    expect(place.writ(accept, { passphrase: PASS }).status).toBe(0)
    expect(place.writ(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: 'sk-1\n' }).status).toBe(0)
    const run = (...more: string[]) =>
      place.start(['run', '--model-url', url, ...more, '--', join(bin, 'claude')])
    const tooMany = place.writ(['run', '--requests', '10', '--', 'true'], { isWarm: false })
    expect(tooMany.err).toContain('session_budget.requests')
    const agent = new RunningAgent(run('--requests', '2', '--cost', '0.0003'))
    const ask = `curl -sS -d '{"model":"m"}' -H "x-api-key: $ANTHROPIC_API_KEY" $ANTHROPIC_BASE_URL/v1/messages`
    const says = (words: string): void => void agent.child.stdin?.write(`${words}; echo "end $?"\n`)
    // The third request waits for the answer.
    says(`${ask}; ${ask}; ${ask}`)
    await agent.hears('used its 2 requests')
    expect([place.pending().length, agent.out.includes('end 0')]).toEqual([1, false])
    const approve = () => {
      const order = ['approve', '--yes', '--pass-fd', '3', place.pending()[0].id]
      const approved = place.writ(order, { passphrase: PASS })
      expect(approved.status, approved.err).toBe(0)
    }
    approve()
    // Each cost 165 millionths, so it waits for another answer.
    await agent.hears('used 0.00033 of its cost of 0.0003')
    approve()
    await place.until(() => agent.out.includes('end 0'), 'the third answer')
    expect(agent.out).not.toContain('Stop and tell them')
    // The fifth request waits too, and the command gives more.
    says(`${ask}; ${ask}`)
    await agent.hears('used its 4 requests')
    expect(place.writ(['session', 'extend', '--cost', '1', '--requests', '9']).status).toBe(0)
    await place.until(() => agent.out.split('end 0').length > 2, 'the fifth answer')
    expect(agent.out).not.toContain('Stop and tell them')
    await place.until(() => place.pending().length === 0, 'the question is withdrawn')
    await agent.does(`curl -sS https://nowhere.example/ 2>&1; echo x > x.txt`)
    await agent.hears('promoted 1 added')
    const used = { requests: 5, input_tokens: 150, output_tokens: 25, cost_micros: 825 }
    const { use } = place.writ(['session', 'show', '--json']).json
    expect(use.model).toMatchObject(used)
    expect(use.network).toMatchObject([{ host: 'nowhere.example:443', passed: 0, refused: 1 }])
    expect(place.writ(['session', 'show']).out).toContain(
      '5 requests, 150 tokens in, 25 out, cost 0.000825',
    )
    const marks = place.facts('evaluation_v1').flatMap(({ session }) => session ?? [])
    expect(marks.at(-1).programs.join('\n')).toContain('claude')
    // One that no one answers ends with the agent, and it hears of a no.
    says(`for i in 1 2 3 4 5 6 7 8; do ${ask}; done; ${ask}`)
    await agent.hears('used its 13 requests')
    expect(place.writ(['deny', place.pending()[0].id]).status).toBe(0)
    await place.until(() => agent.out.includes('did not give more. Stop and tell them'), 'the no')
    await agent.ends()
    model.close()
    const facts = place.facts('session_v1')
    expect(facts.map(({ event }) => event)).toContain('USED')
    expect(facts.filter(({ event }) => event === 'EXTENDED')).toMatchObject([
      { budget: { requests: 4 } },
      { budget: { cost_micros: 600 } },
      { budget: { requests: 13, cost_micros: 1_000_600 } },
    ])
    expect(facts.at(-1)).toMatchObject({ event: 'ENDED', model: { requests: 13 } })
    const budget = { requests: 2, cost_micros: 300 }
    expect(facts[0]).toMatchObject({ event: 'STARTED', budget })
  })
})

describe('an agent', { timeout: 120_000 }, () => {
  it('that loses its terminal keeps what is pending', () => {
    const seen = place.person(
      ['run', '--settle', 'end', '--', 'bash', '--norc', '-i'],
      [
        { expect: 'bash-' },
        { send: 'rm b.txt; echo go""ne\r' },
        { expect: 'gone' },
        { hangup: true },
      ],
    )
    expect(seen.failed, seen.output).toBeNull()
    expect([place.has('b.txt'), place.pending().length, place.sessions().length]).toEqual([
      true,
      1,
      1,
    ])
  })

  it('does not reach the channel of another session (S-13)', async () => {
    const [one, other] = [place.agentRun(), place.agentRun()]
    await one.does('echo "channel $WRIT_SESSION_CHANNEL"')
    const channel = /channel (\S+)/.exec(one.out)?.[1] ?? ''
    expect(channel).toMatch(/^http:/)
    await one.does(`curl -sS -o /dev/null -w 'own %{http_code}' ${channel}/ping; echo`)
    await other.does(`curl -sS -o /dev/null -w 'other %{http_code}' ${channel}/ping; echo`)
    expect([one.out, other.out]).toEqual([
      expect.stringContaining('own 200'),
      expect.stringContaining('other 404'),
    ])
    expect([await one.ends(), await other.ends()]).toEqual([0, 0])
  })
})
