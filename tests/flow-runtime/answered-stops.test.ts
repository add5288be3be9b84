/** A stop names what stopped the run now, not what a person answered before the node ran again. */
import { expect, it } from 'vitest'
import { stopsOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const ANN = 'human:ann@local'

function stopOf({ flow, facts, state, open }: Host) {
  const [stop] = stopsOf({ flow, facts, state, waiting: open })
  return stop
}

it.each(['block', 'reroute'] as const)('a way that is closed with %s, after a budget', (action) => {
  const closed = { guard_expr: 'state.score > 97', on_guard_fail: action }
  const host = new Host({
    nodes: [work('a'), check('c', 'a'), node('g', { kind: 'GOAL' })],
    edges: [edge('a', 'c'), edge('c', 'g', closed)],
    budgets: { attempts: 1 },
  })
  host.start().run()
  expect([host.status, stopOf(host)?.code]).toEqual(['BLOCKED', 'flow.budget'])
  host.send({ type: 'budget_set', limits: { attempts: 50 }, principal: ANN })
  host.send({ type: 'unblocked', node_id: 'c', principal: ANN })
  host.run().verify()
  const stop = stopOf(host)
  expect([host.status, stop?.node_id, stop?.code]).toEqual(['BLOCKED', 'c', 'flow.guard_false'])
  expect(stop?.next.join(' ')).not.toContain('budget')
})
