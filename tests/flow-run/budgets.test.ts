/** Budgets bound the attempts under way, leave out the time of people, and can be raised by a human. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Participant } from '../../src/contracts/index.ts'
import { replayRun, stopsOf } from '../../src/flow/index.ts'
import { leaveOrder } from '../../src/runs/runs.ts'
import { artifact, eventsOf, flowOf, worker } from './acceptance/scene.ts'
import { type Asked, Endpoint } from './endpoints.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

const TIMEOUT = { timeout: 90_000 }
let place: RunPlace

const open = placeEach('budgets', (made) => {
  place = made
})

const ANN = 'human:ann@local'
const SLOW = script(`${TOOL}Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)`)
const QUICK = script(`${TOOL}${artifact("'done'")}`)

/** One that never answers. */
const hanging = () => new Endpoint(() => {})

describe('seconds', TIMEOUT, () => {
  it('end a program, and one elsewhere with all its tries', async () => {
    place.write('a.mjs', SLOW)
    const http: Participant = { http: await open(hanging()), tools: 'none' }
    const nodes = [worker('a'), worker('b', { executor: http })]
    const run = await place.run(flowOf(nodes, [], { budgets: { seconds: 4 } }))
    expect([run.status, findingsIn(run)]).toEqual([
      'BLOCKED',
      ['flow.budget block', 'flow.budget block'],
    ])
    expect(run.state.totals.seconds).toBeGreaterThanOrEqual(3.9)
    expect(run.state.totals.seconds).toBeLessThan(6)
    const failed = eventsOf(run.facts, 'attempt_failed').map(({ error }) => error)
    expect(JSON.stringify(failed)).toContain('the time of the run is used up')
  })

  it('do not count while a person is waited for, nor does the time floor', async () => {
    const node = worker('a', { executor: { human: 'ann' }, minimum_duration: 1 })
    const begun = await place.run(flowOf([node], [], { budgets: { seconds: 60 } }))
    await pause(1_500)
    const [command] = begun.waiting
    const text = JSON.stringify({
      result_type: 'ARTIFACT',
      artifact: { name: 'out', format: 'md', content: 'by hand' },
    })
    leaveOrder(place.host(), begun.runId, {
      kind: 'document',
      node_id: 'a',
      command: command?.command ?? 0,
      text,
      principal: ANN,
    })
    const run = await place.resume(begun.runId)
    expect(run.state.totals.seconds).toBeLessThan(1)
    expect(findingsIn(run)).toContain('flow.time_floor block')
  })
})

it(
  'attempts: the run names the last failure with the budget that it used up',
  TIMEOUT,
  async () => {
    place.write('a.mjs', "console.error('out of paper'); process.exit(7)")
    const nodes = [worker('a', { max_attempts: 9 })]
    const run = await place.run(flowOf(nodes, [], { budgets: { attempts: 1 } }))
    expect(stopsOf(run).map(({ says }) => says)).toEqual([
      expect.stringMatching(
        /^the budget of attempts is used up: 1 of 1; its last attempt failed: .*exit status 7.*out of paper/,
      ),
    ])
  },
)

describe('tokens', TIMEOUT, () => {
  /** Asks for another operation each time, and uses 100 tokens. */
  const talker = (usage: object = { total_tokens: 100 }) =>
    Endpoint.json((_asked: Asked, count) => ({
      body: {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: `t${count}`,
                  type: 'function',
                  function: {
                    name: 'propose_action',
                    arguments: JSON.stringify({
                      operation: {
                        type: 'COMMAND_EXECUTION',
                        argv: ['true'],
                        cwd: place.workspace,
                      },
                    }),
                  },
                },
              ],
            },
          },
        ],
        usage,
      },
    }))

  it('are looked at after every round, and the rest is the limit of the next', async () => {
    const model = talker()
    const executor: Participant = { chat: await open(model), model: 'm' }
    const run = await place.run(
      flowOf([worker('a', { executor })], [], { budgets: { tokens: 250 } }),
    )
    expect([run.status, run.state.totals.tokens, model.asked.length]).toEqual(['BLOCKED', 300, 3])
    expect(model.asked.map(({ max_tokens }) => max_tokens)).toEqual([250, 150, 50])
  })
})

describe('tokens of an endpoint that does not count', TIMEOUT, () => {
  it.each([[undefined], [-100_000], [1e308], [0.1], ['0'], [1]])(
    'are estimated from the texts: %s',
    async (total_tokens) => {
      const said = { schema_version: 'xiaobo_action_v1', task_id: 'a', result_type: 'ERROR' }
      const content = `${'x'.repeat(30_000)}${JSON.stringify({ ...said, error: { code: 'E', message: 'm' } })}`
      const model = Endpoint.json(() => ({
        body: {
          ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
          usage: total_tokens === undefined ? undefined : { total_tokens },
        },
      }))
      const executor: Participant = { chat: await open(model), model: 'm', tools: 'none' }
      const nodes = [worker('a', { executor, max_attempts: 9 })]
      const run = await place.run(flowOf(nodes, [], { budgets: { tokens: 200 } }))
      expect([run.status, model.asked.length]).toEqual(['BLOCKED', 1])
      expect(run.state.totals.tokens).toBeGreaterThan(200)
      expect(findingsIn(run)).toContain('flow.budget block')
    },
  )
})

describe('attempts', TIMEOUT, () => {
  it('never show more than there are, and a human raises them: the run goes on', async () => {
    place.write('a.mjs', QUICK)
    place.write('b.mjs', QUICK)
    const nodes = [worker('a'), worker('b')]
    const edges = [{ edge_id: 'e', source: 'a', target: 'b', class: 'Progress' as const }]
    const begun = await place.run(flowOf(nodes, edges, { budgets: { attempts: 1 } }))
    expect([begun.status, begun.state.totals.attempts]).toEqual(['BLOCKED', 1])
    const again = await place.resume(begun.runId)
    expect([again.status, again.state.totals.attempts]).toEqual(['BLOCKED', 1])
    const order = { kind: 'budget', limits: { attempts: 2 }, principal: ANN } as const
    leaveOrder(place.host(), begun.runId, order)
    const run = await place.resume(begun.runId)
    expect([run.status, run.state.totals.attempts]).toEqual(['DONE', 2])
    expect(eventsOf(run.facts, 'event').map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: 'budget_set', limits: { attempts: 2 }, principal: ANN }),
    )
    expect(replayRun(run.flow, run.facts)).toBeNull()
  })

  it('of an attempt that the budget ended are not lost: it runs again', async () => {
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)'
    const body = `if (input.attempt === 1) ${wait}\n${artifact("'done'")}`
    place.write('a.mjs', script(`${TOOL}${body}`))
    const flow = flowOf([worker('a', { max_attempts: 1 })], [], { budgets: { seconds: 2 } })
    const begun = await place.run(flow)
    expect([begun.status, findingsIn(begun)]).toEqual(['BLOCKED', ['flow.budget block']])
    leaveOrder(place.host(), begun.runId, {
      kind: 'budget',
      limits: { seconds: 60 },
      principal: ANN,
    })
    expect((await place.resume(begun.runId)).status).toBe('DONE')
  })
})

describe('participants at the same time', TIMEOUT, () => {
  it('are as many as the flow says; the rest waits in order', async () => {
    let [now, most] = [0, 0]
    const order: string[] = []
    const server = new Endpoint((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', async () => {
        now++
        most = Math.max(most, now)
        order.push(JSON.parse(Buffer.concat(parts).toString('utf8')).node.node_id)
        await pause(150)
        now--
        const action = {
          result_type: 'ARTIFACT',
          artifact: { name: 'out', format: 'md', content: 'x' },
        }
        response.end(JSON.stringify(action))
      })
    })
    const executor: Participant = { http: await open(server), tools: 'none' }
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`)
    const nodes = names.map((name) => worker(name, { executor }))
    const run = await place.run(flowOf(nodes, [], { budgets: { parallel: 2 } }))
    expect([run.status, most]).toEqual(['DONE', 2])
    expect(order.toSorted()).toEqual(names)
    expect(order.slice(0, 2).toSorted()).toEqual(['n0', 'n1'])
    most = 0
    await place.run(flowOf(nodes, [], { budgets: { parallel: 2 } }), {}, { parallel: 3 })
    expect(most).toBe(3)
    expect(run.state.totals.seconds).toBeLessThan(9 * 2)
  })
})
