/** A Rollback edge undoes what was promoted on every way that led on, ways out of failures included. */
import { expect, it } from 'vitest'
import { edge, Host, node, work } from './host.ts'

it('rolls back what was promoted behind an Exception edge', () => {
  const host = new Host(
    {
      nodes: [work('a'), work('b', { max_attempts: 1 }), work('c'), node('d')],
      edges: [
        edge('a', 'b'),
        edge('b', 'c', { class: 'Exception' }),
        edge('c', 'a', {
          class: 'Rollback',
          guard_expr: 'state.attempt_count <= 3',
          guard_scope: 'global',
        }),
        edge('c', 'd'),
      ],
    },
    (id, attempt) => (id === 'b' ? { result: 'ERROR' } : { stage: `${id}${attempt}` }),
  )
    .start()
    .run()
  const undone = host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'rolled_back'
      ? [payload.event.node_id]
      : [],
  )
  expect([host.status, undone]).toEqual(['DONE', ['c', 'a']])
  host.verify()
})
