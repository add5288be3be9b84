/** A way back to work whose review is under way: the review is left, and the work runs again (version 10). */
import { expect, it } from 'vitest'
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
