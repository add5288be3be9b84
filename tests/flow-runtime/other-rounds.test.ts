/**
 * What an earlier round left open when a later one begins (version 8 of the rules): questions, entries, rollbacks
 * that fail or wait, items that were undone, decisions that are made, and goals of which half a join is left.
 */
import { expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { FLOW_EVALUATOR, type FlowCommand } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const FIRST = 'state.attempt_count < 2'
const AND = { class: 'Sync' as const, join: 'AND' as const }
const GOAL = node('g', { kind: 'GOAL', phase_id: 'e' })

/** Each attempt of WORK leaves a stage; `scores` are the words of CHECK nodes, in order. */
function hostOf(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
  scores: Readonly<Record<string, readonly number[]>> = {},
  version = FLOW_EVALUATOR.version,
): Host {
  const left = new Map(Object.entries(scores).map(([id, list]) => [id, [...list]]))
  const script: Script = (id, attempt, command) => {
    const isReview = command.type === 'run_participant' && command.review !== null
    return isReview ? { score: left.get(id)?.shift() ?? 95 } : { stage: `${id}-${attempt}` }
  }
  const evaluator = { ...FLOW_EVALUATOR, version }
  return new Host({ nodes: [...nodes], edges: [...edges] }, script).startWith({ evaluator })
}

/** Answers the commands for these nodes, in this order. */
function answer(host: Host, ...ids: readonly string[]): void {
  for (const id of ids) {
    const command = host.open.find((one) => 'node_id' in one && one.node_id === id)
    if (command === undefined) throw new Error(`${id} is not asked`)
    host.open.splice(host.open.indexOf(command), 1)
    host.answer(command)
  }
}

const isRollback = ({ type }: FlowCommand): boolean => type === 'roll_back'

/** Says that the first act of a Rollback could not be undone. */
function failRollback(host: Host): void {
  const command = host.open.find(isRollback)
  if (command?.type !== 'roll_back') throw new Error('nothing is rolled back')
  host.open.splice(host.open.indexOf(command), 1)
  const { node_id, command: number } = command
  host.send({ type: 'rolled_back', node_id, command: number, is_restored: false })
}

function questions(host: Host): readonly string[] {
  return host.open.flatMap((one) => (one.type === 'ask_human' ? [one.node_id] : []))
}

it('a question about work whose base is rejected is withdrawn', () => {
  const nodes = [work('a'), work('b', { max_attempts: 1 }), node('n')]
  const checks = [check('c', 'a'), check('d', 'b')]
  const ways = [edge('a', 'b'), edge('a', 'n'), edge('n', 'c'), edge('b', 'd')]
  const ends = [edge('c', 'g', AND), edge('d', 'g', AND)]
  const host = hostOf([...nodes, ...checks, GOAL], [...ways, ...ends], { c: [40], d: [40] })
  answer(host, 'a', 'b', 'd')
  expect(questions(host)).toEqual(['b'])
  answer(host, 'n', 'c')
  expect(questions(host)).toEqual([])
  host.run().verify()
  expect([host.status, host.node('b').status]).toEqual(['DONE', 'done'])
})

it.each([
  ['8', 'withdrawn, and asked once after it has undone the node'],
  ['9', 'kept, and nothing is undone before the answer'],
])('by version %s a question about the target of a Rollback is %s', (version) => {
  const called = ['k', 'm'].map((id) => work(id, { call: true }))
  const calls = [edge('a', 'k'), edge('a', 'm')]
  const backs = [edge('k', 'a', { class: 'Loop' }), edge('m', 'a', { class: 'Rollback' })]
  const nodes = [work('a', { max_attempts: 1 }), ...called]
  const host = hostOf(nodes, [...calls, ...backs], {}, version)
  answer(host, 'a', 'a', 'k', 'k')
  expect(questions(host)).toEqual(['a'])
  const before = host.open.find(({ type }) => type === 'ask_human')
  host.run().verify()
  expect([questions(host), host.node('a').work.acts.length]).toEqual([
    ['a'],
    version === '8' ? 0 : 1,
  ])
  expect(host.open.includes(before as FlowCommand)).toBe(version === '9')
})

it('a rejected version stays rejected if a Rollback fails before its node', () => {
  const nodes = [work('w'), work('v'), check('c', 'w'), GOAL]
  const again = edge('c', 'w', { edge_id: 'again', class: 'Loop', guard_expr: FIRST })
  const back = edge('c', 'w', { edge_id: 'back', class: 'Rollback' })
  const ways = [edge('w', 'v'), edge('v', 'c'), edge('c', 'g')]
  const host = hostOf(nodes, [...ways, again, back], { c: [95, 40] })
  host.run(isRollback)
  failRollback(host)
  host.run().verify()
  expect([host.status, host.node('v').status, host.node('w').status]).toEqual([
    'BLOCKED',
    'blocked',
    'rejected',
  ])
})

it('an item that was undone tries again when a person lets it, and its map goes on', () => {
  const list = work('m', { map: { items: ['x', 'y'] } })
  const back = edge('g', 'm', { class: 'Rollback', guard_expr: FIRST })
  const host = hostOf([work('a'), list, GOAL], [edge('a', 'm'), edge('m', 'g'), back])
  host.run(isRollback)
  answer(host, 'm/2')
  failRollback(host)
  for (const node_id of ['m/1', 'm/2']) {
    host.run()
    expect(host.send({ type: 'unblocked', node_id, principal: 'p' })).toBe(true)
  }
  host.run().verify()
  expect([host.status, host.node('m').status]).toEqual(['DONE', 'done'])
})

it('nothing is entered by an edge whose source was entered again in the same step', () => {
  const nodes = [work('a'), check('b', 'a'), check('c', 'a'), node('n'), GOAL]
  const loop = edge('c', 'c', { class: 'Loop', guard_expr: FIRST })
  const joined = edge('a', 'n', { class: 'Sync', join: 'OR' })
  const host = hostOf(nodes, [edge('b', 'n'), joined, loop, edge('n', 'g')])
  host.run().verify()
  expect(host.entered).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'n', 'g'])
})

it('a Rollback that waits for the gate is not passed by another way to its target', () => {
  const back = edge('a', 't', { class: 'Rollback', guard_expr: FIRST })
  const ways = [edge('p', 't'), edge('s', 't'), edge('t', 'a'), edge('t', 'b')]
  const nodes = ['p', 's', 't', 'a', 'b'].map((id) => work(id))
  const ends = [edge('a', 'g', AND), edge('b', 'g', AND)]
  const host = hostOf([...nodes, GOAL], [...ways, back, ...ends])
  // `b` is being promoted when the way back goes, and `s` leads to its target before that has ended.
  answer(host, 'p', 'p', 't', 't', 'b', 'a', 'a', 's', 's')
  expect(host.node('t').status).toBe('done')
  host.run().verify()
  const undone = host.facts.flatMap(({ payload }) =>
    'kind' in payload && payload.kind === 'commanded' && payload.command.type === 'roll_back'
      ? [payload.command.node_id]
      : [],
  )
  expect([host.status, undone, host.node('t').entries]).toEqual(['DONE', ['b', 'a', 't'], 2])
})

it('a decision that was made before the work was judged is not made again after', () => {
  const nodes = [work('a'), work('w'), node('n'), node('x'), check('c', 'w'), check('d', 'a'), GOAL]
  const isApproved = 'state.validator_verdict == "APPROVE"'
  const decided = [
    edge('w', 'n', { class: 'Decision', guard_expr: `!(${isApproved})` }),
    edge('w', 'x', { class: 'Decision', guard_expr: isApproved }),
  ]
  const ways = [edge('a', 'w'), edge('n', 'c'), edge('c', 'd'), edge('d', 'g')]
  const host = hostOf(nodes, [...decided, ...ways])
  host.run().verify()
  expect(host.fired.filter((id) => id.startsWith('w>'))).toEqual(['w>n'])
  expect(host.entered).not.toContain('x')
})

it('a run is not done if a goal was left behind and half of its join leads there still', () => {
  const nodes = ['a', 'w', 'v'].map((id) => work(id))
  const end = node('end', { kind: 'GOAL', phase_id: 'e' })
  const backs = [
    edge('end', 'a', { class: 'Loop', guard_expr: FIRST }),
    edge('c', 'w', { class: 'Rollback' }),
  ]
  const ways = [edge('a', 'w'), edge('a', 'v'), edge('a', 'g'), edge('v', 'c')]
  const joins = [edge('w', 'end', AND), edge('c', 'end', AND)]
  const all = [...nodes, check('c', 'v'), end, GOAL]
  const host = hostOf(all, [...ways, ...joins, ...backs], { c: [95, 40] })
  host.run().verify()
  expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.stalled block'])
})
