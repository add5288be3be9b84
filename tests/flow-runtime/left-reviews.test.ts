/**
 * A way back to work whose review is under way (version 10): the review is left, and the work runs again; without an
 * attempt left a person is asked after the verdict.
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const GUARD = { guard_expr: 'state.attempt_count < 2' }

it.each<[string, FlowEdge[]]>([
  ['a Loop', [edge('a', 'b'), edge('b', 'a', { class: 'Loop', ...GUARD })]],
  ['a Rollback', [edge('c', 'b'), edge('b', 'a', { class: 'Rollback', ...GUARD })]],
])('%s', (_, ways) => {
  const nodes = [work('s'), work('a'), work('b'), check('c', 'a'), node('g', { kind: 'GOAL' })]
  const edges = [edge('s', 'a'), edge('s', 'b'), edge('a', 'c'), edge('b', 'g'), ...ways]
  const host = new Host({ nodes, edges }, () => ({ stage: 's' })).start()
  const isReview = (command: (typeof host.open)[number]): boolean =>
    command.type === 'run_participant' && command.node_id === 'c'
  host.run(isReview)
  // The review takes longer than everything else.
  const [review] = host.open.splice(host.open.findIndex(isReview), 1)
  host.run()
  if (review !== undefined) host.answer(review)
  host.run().verify()
  expect([host.status, host.findings]).toEqual(['DONE', []])
  expect(host.entered).toEqual(['s', 'a', 'b', 'c', 'a', 'c', 'b', 'g'])
})

/** b goes back to a, which has no attempt left, while c judges it; then c gives this score. */
function asked(sort: FlowEdge['class'], score: number, stage: string | null = 's'): Host {
  const nodes = [
    ...[work('s'), work('a', { max_attempts: 1 }), work('b')],
    ...[check('c', 'a'), node('g', { kind: 'GOAL' })],
  ]
  const ways = [edge('s', 'a'), edge('s', 'b'), edge('a', 'c'), edge('b', 'g'), edge('c', 'b')]
  const edges = [...ways, edge('b', 'a', { class: sort, ...GUARD })]
  const scores = [95, score]
  const host = new Host({ nodes, edges }, (id) =>
    id === 'c' ? { score: scores.pop() ?? 0 } : { stage },
  ).start()
  const isReview = (command: (typeof host.open)[number]): boolean =>
    command.type === 'run_participant' && command.node_id === 'c'
  host.run(isReview)
  const [review] = host.open.splice(host.open.findIndex(isReview), 1)
  host.run()
  expect([host.status, host.findings]).toEqual(['RUNNING', []])
  if (review !== undefined) host.answer(review)
  host.run().verify()
  expect([host.status, host.open.map(({ type }) => type)]).toEqual(['WAITING', ['ask_human']])
  expect(host.node('a').status).toBe('waiting')
  return host
}

const principal = 'human:ann@local'

describe.each(['Loop', 'Rollback'] as const)('a %s without an attempt left', (sort) => {
  it.each([
    [95, 's'],
    [95, null],
    [40, 's'],
  ] as const)(
    'runs the work when a person lets it, after score %d, with stage %s',
    (score, stage) => {
      const host = asked(sort, score, stage)
      const [question] = host.open.splice(0, 1)
      if (question?.type !== 'ask_human') throw new Error('no person is asked')
      const { node_id, command } = question
      host.send({ type: 'human_answer', node_id, command, answer: 'retry', principal })
      host.run().verify()
      expect(host.status).toBe('DONE')
      expect(host.entered).toEqual(['s', 'a', 'b', 'c', 'a', 'c', 'b', 'g'])
    },
  )

  it('goes on without the work when a person skips it', () => {
    const host = asked(sort, 95)
    host.open.length = 0
    host.send({ type: 'skipped', node_id: 'a', principal, comment: 'fine' })
    host.run().verify()
    expect(host.status).toBe('BLOCKED')
    host.send({ type: 'unblocked', node_id: 'b', principal })
    host.run().verify()
    expect(host.status).toBe('DONE')
  })
})
