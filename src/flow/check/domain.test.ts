/** Gaps between guards on a field that the host counts: it is a whole number from 0. */
import { expect, it } from 'vitest'
import type { Flow } from '../../contracts/index.ts'
import { checkFlow } from './check.ts'

function gapsOf(guards: readonly string[]): readonly string[] {
  const head = { title: 't', phase_id: 'P', actor: 'worker', max_attempts: 1 }
  const ends = guards.map((_, index) => ({ ...head, node_id: `g${index}`, kind: 'GOAL' as const }))
  const flow: Flow = {
    type: 'flow_v1',
    flow_id: 'f',
    title: 't',
    nodes: [{ ...head, node_id: 'a', kind: 'WORK' }, ...ends],
    edges: guards.map((guard_expr, index) => ({
      edge_id: `e${index}`,
      source: 'a',
      target: `g${index}`,
      class: 'Decision',
      guard_expr,
    })),
  }
  const { warnings } = checkFlow(flow)
  return warnings.flatMap(({ code, message }) => (code === 'flow.decision_none' ? [message] : []))
}

it.each([
  [['state.tool_calls == 0', 'state.tool_calls > 0'], null],
  [['state.tool_calls <= 2', 'state.tool_calls >= 3'], null],
  [['state.tool_calls > 0'], 'state.tool_calls is 0'],
  [['state.attempt_count < 2', 'state.attempt_count > 2'], 'state.attempt_count is 2'],
  [['state.rejection_count <= 1', 'state.rejection_count > 4'], 'state.rejection_count is 2'],
  [['state.tool_calls < 3'], 'state.tool_calls is 3'],
  [['state.cumulative_duration <= 2.0', 'state.cumulative_duration >= 3.0'], 'is 2.5'],
] as const)('%j leaves the gap %j', (guards, gap) => {
  const [found = null, ...others] = gapsOf(guards)
  expect(others).toEqual([])
  if (gap === null) expect(found).toBeNull()
  else expect(found).toContain(gap)
})
