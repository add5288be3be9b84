/**
 * What a human said is taken once, whenever the process dies that takes it: an order lies there until
 * what follows from it is durable, and so may be found again by the next process.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { type FlowFact, peopleOf, type RunState, replayRun, stopsOf } from '../../src/flow/index.ts'
import { type Order, unblockOrder } from '../../src/runs/orders.ts'
import { verdictText } from '../../src/runs/person-answer.ts'
import { LOG_FILE } from '../../src/runs/programs/workspace-files.ts'
import { leaveOrder } from '../../src/runs/runs.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { REVIEWER, script, smallFlow, TOOL, WORKER } from './scripts.ts'

let place: RunPlace

placeEach('answers', (made) => {
  place = made
})

beforeEach(() => {
  place.write('worker.mjs', WORKER)
  place.write('reviewer.mjs', REVIEWER)
})

const SAID_BY = 'human:ann@local'
const TIMEOUT = { timeout: 60_000 }

function events(facts: readonly FlowFact[], name: string): number {
  return facts.filter(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === name,
  ).length
}

/** Each question is answered the moment it is durable, before anybody was shown it. */
it(
  'an answer that is there before its question is shown leaves nothing waiting',
  TIMEOUT,
  async () => {
    const flow: Flow = smallFlow({}, { executor: { human: 'ann' } })
    const onFacts = (facts: readonly FlowFact[], { runId }: RunState): void => {
      for (const fact of facts) {
        const order = signed(fact)
        if (order !== null && runId !== null) leaveOrder(place.host(), runId, order)
      }
    }
    const abort = AbortSignal.timeout(30_000)
    const run = await place.run(flow, {}, { waits: true, abort, onFacts })
    expect([run.status, run.waiting, events(run.facts, 'attempt_ended')]).toEqual(['DONE', [], 4])
    expect(readdirSync(join(place.home.directory, 'runs', run.runId))).toEqual([LOG_FILE])
  },
)

/** Returns an answer to the command of a fact that starts a participant; null for other facts. */
function signed({ type, payload }: FlowFact): Order | null {
  if (type !== 'flow_event_v1' || payload.kind !== 'commanded') return null
  const asked = payload.command
  if (asked.type !== 'run_participant' || asked.review !== null) return null
  const artifact = { name: 'out', format: 'md', content: `attempt ${asked.attempt}` }
  const text = JSON.stringify({ result_type: 'ARTIFACT', artifact })
  const { command, node_id } = asked
  return { kind: 'document', node_id, command, text, principal: SAID_BY }
}

it('an answer to a question that was withdrawn is kept, and named', TIMEOUT, async () => {
  // The first version is rejected by the program while the person has not answered yet.
  place.write('reviewer.mjs', REVIEWER)
  const { nodes, edges, ...flow } = smallFlow()
  const boss = { ...nodes.find(({ kind }) => kind === 'CHECK'), node_id: 'boss', title: 'Boss' }
  const asked = { ...boss, reviewer: { human: true as const } } as (typeof nodes)[number]
  const way = { edge_id: 'E9', source: 'draft', target: 'boss', class: 'Progress' as const }
  let left = 0
  const onFacts = (facts: readonly FlowFact[], { runId }: RunState): void => {
    for (const { type, payload } of facts) {
      if (type !== 'flow_event_v1' || payload.kind !== 'commanded' || runId === null) continue
      const { command } = payload
      if (command.type !== 'stop' || command.node_id !== 'boss') continue
      left = command.stopped
      leaveOrder(place.host(), runId, yes(left))
    }
  }
  const whole = { ...flow, nodes: [...nodes, asked], edges: [...edges, way] }
  const run = await place.run(whole, {}, { onFacts })
  expect([run.status, left > 0, events(run.facts, 'answer_late')]).toEqual(['WAITING', true, 1])
  const [stop] = stopsOf(run)
  expect(stop?.says).toMatch(
    /human:ann@local answered `approve` about the version sha256:[0-9a-f]+, which was withdrawn/,
  )
  expect(stop?.says).toMatch(/it asks about the version sha256:[0-9a-f]+ now$/)
  expect(stop?.next.join(' ')).toContain('--digest sha256:')
  const [said] = peopleOf(run.flow, run.facts)
  expect([said?.said, said?.principal]).toEqual(['approve (too late)', SAID_BY])
  expect(replayRun(run.flow, run.facts)).toBeNull()
  // An order that is found once more is not recorded twice.
  leaveOrder(place.host(), run.runId, yes(left))
  const again = await place.resume(run.runId)
  expect([again.status, events(again.facts, 'answer_late')]).toEqual(['WAITING', 1])
})

function yes(command: number): Order {
  const text = JSON.stringify({ action_required: 'APPROVE', total_score: 100 })
  return { kind: 'document', node_id: 'boss', command, text, principal: SAID_BY }
}

it(
  'of two answers that come at once the first counts, and the other is kept',
  TIMEOUT,
  async () => {
    const { nodes, ...flow } = smallFlow()
    const asked = { reviewer: { human: true as const } }
    const whole = {
      ...flow,
      nodes: nodes.map((node) => (node.kind === 'CHECK' ? { ...node, ...asked } : node)),
    }
    const run = await place.run(whole)
    const [question] = run.waiting
    if (question?.type !== 'run_participant' || question.review === null)
      throw new Error('no one is asked')
    const { node_id, command, review } = question
    const said = (verdict: 'approve' | 'reject'): Order => {
      const text = verdictText(verdict, review, 'as I see it')
      return { kind: 'document', node_id, command, text, principal: SAID_BY }
    }
    // As two machines of a home leave them, one of them twice.
    leaveOrder(place.host(), run.runId, said('reject'), 'a0')
    leaveOrder(place.host(), run.runId, said('approve'), 'b0')
    leaveOrder(place.host(), run.runId, said('reject'), 'c0')
    const after = await place.resume(run.runId)
    expect([after.status, events(after.facts, 'answer_late')]).toEqual(['WAITING', 1])
    const words = peopleOf(after.flow, after.facts).map((one) => one.said)
    expect(words).toEqual(['MODIFY', 'approve (too late)'])
    expect(replayRun(after.flow, after.facts)).toBeNull()
  },
)

it('what is said to a program that works is no answer', TIMEOUT, async () => {
  const flow = smallFlow({}, { executor: { command: ['node', 'slow.mjs'] } })
  place.write(
    'slow.mjs',
    script(`setTimeout(() => { ${TOOL}
answer({ task_id: 'draft', result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'attempt 2, ' + input.attempt } }) }, 1500)`),
  )
  let isLeft = false
  const { status, facts } = await place.run(
    flow,
    {},
    {
      onFacts: (_, { runId }) => {
        if (isLeft || runId === null) return
        isLeft = true
        const command = 2
        const text = JSON.stringify({ result_type: 'NOOP' })
        leaveOrder(place.host(), runId, {
          kind: 'document',
          node_id: 'draft',
          command,
          text,
          principal: SAID_BY,
        })
      },
    },
  )
  expect([status, events(facts, 'attempt_started')]).toEqual(['DONE', 2])
})

it('a node is let go on once for each time that a person says so', TIMEOUT, async () => {
  place.write(
    'worker.mjs',
    script(`${TOOL}
answer({ task_id: 'draft', result_type: 'ARTIFACT', claims: [{ claim_id: 'c', trust_level: 'external_unverified' }],
  artifact: { name: 'out', format: 'md', content: 'attempt 2, ' + input.attempt } })`),
  )
  const { edges, ...flow } = smallFlow()
  const trusting = edges.map((edge) =>
    edge.edge_id === 'E2'
      ? { ...edge, trust_requirement: 'independent_verification_required' as const }
      : edge,
  )
  const held = await place.run({ ...flow, edges: trusting })
  const { runId } = held
  expect(held.status).toBe('BLOCKED')
  const order = unblockOrder(held.facts, 'review', SAID_BY)
  leaveOrder(place.host(), runId, order)
  // Two who say so at once mean the same.
  leaveOrder(place.host(), runId, unblockOrder(held.facts, 'review', SAID_BY))
  const once = await place.resume(runId)
  expect([once.status, events(once.facts, 'unblocked')]).toEqual(['BLOCKED', 1])
  leaveOrder(place.host(), runId, order)
  const again = await place.resume(runId)
  expect([again.status, events(again.facts, 'unblocked')]).toEqual(['BLOCKED', 1])
  leaveOrder(place.host(), runId, unblockOrder(again.facts, 'review', SAID_BY))
  const twice = await place.resume(runId)
  expect(events(twice.facts, 'unblocked')).toBe(2)
})

it('a yes to try again that is found once more grants nothing more', TIMEOUT, async () => {
  place.write(
    'worker.mjs',
    script(`answer({ result_type: 'ERROR', error: { code: 'x', message: 'y' } })`),
  )
  const failed = await place.run(smallFlow({}, { max_attempts: 1 }))
  const { runId, waiting } = failed
  const command = waiting[0]?.command ?? -1
  const order = {
    kind: 'answer',
    node_id: 'draft',
    command,
    answer: 'retry',
    principal: SAID_BY,
  } as const
  for (const attempts of [2, 2]) {
    leaveOrder(place.host(), runId, order)
    const { status, facts } = await place.resume(runId)
    expect([status, events(facts, 'attempt_ended')]).toEqual(['WAITING', attempts])
  }
})

it('what a human made that is found once more is not made twice', TIMEOUT, async () => {
  const orders: Order[] = []
  const flow: Flow = smallFlow({}, { executor: { human: 'ann' } })
  const onFacts = (facts: readonly FlowFact[]): void => {
    orders.push(...facts.flatMap((fact) => signed(fact) ?? []))
  }
  const { runId } = await place.run(flow, {}, { onFacts })
  for (const times of [2, 2]) {
    leaveOrder(place.host(), runId, orders[0] as Order)
    const { status, facts } = await place.resume(runId)
    expect([status, events(facts, 'attempt_ended')]).toEqual(['WAITING', times])
  }
})
