/** The net under runs in which only calls are left: what keeps them is found, at their callers. */
import { expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../contracts/index.ts'
import { compileFlow } from '../compile/compile.ts'
import { FLOW_EVALUATOR } from '../compile/rules.ts'
import { findStalled } from '../runtime/stall.ts'
import { Turn } from '../runtime/turn.ts'
import { RunDraft } from '../state/draft.ts'
import { emptyState, type RunState } from '../state/state.ts'
import { step } from './step.ts'

const AT = { at: '2026-01-01T00:00:00.000Z', nonce: 'n' }
const LOOP = { class: 'Loop' as const }

function node(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  const head = { node_id, kind: 'WORK' as const, title: node_id, phase_id: 'P', actor: 'worker' }
  return { ...head, max_attempts: 3, ...more }
}

function edge(source: string, target: string, more: Partial<FlowEdge> = {}): FlowEdge {
  return { edge_id: `${source}>${target}`, source, target, class: 'Progress', ...more }
}

/** A run by version 7 of the rules, in which the second call of a node does not begin. */
function keptCall(): RunState {
  const nodes = [node('a'), node('k', { call: true, phase_id: 'k' }), node('r'), node('n')]
  const edges = [
    ...[edge('a', 'k'), edge('k', 'r'), edge('a', 'n')],
    edge('r', 'k', { ...LOOP, guard_expr: 'false' }),
    edge('a', 'a', { ...LOOP, guard_expr: 'state.attempt_count < 2' }),
  ]
  const compiled = compileFlow({ type: 'flow_v1', flow_id: 'f', title: '', nodes, edges })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults))
  const evaluator = { ...FLOW_EVALUATOR, version: '7' }
  const origin = { workspace: '/w', participants_digest: null, evaluator }
  let next = step(emptyState(compiled.flow), { type: 'started', run_id: 'r', origin, ...AT })
  for (const open = [...next.commands]; open.length > 0; open.push(...next.commands)) {
    const one = open.shift()
    if (one?.type === 'pass') {
      const { node_id, command } = one
      next = step(next.state, { type: 'passed', node_id, command, ...AT })
    } else if (one?.type === 'write_log') {
      const { phase_id, command } = one
      next = step(next.state, { type: 'log_written', phase_id, command, digest: 'log', ...AT })
    } else throw new Error(`this test has no answer for ${one?.type}`)
  }
  return next.state
}

it.each([
  [7, []],
  [8, [['flow.stalled', 'a']]],
])('by version %d a call that never begins is found at its caller: %j', (rules, found) => {
  const state = { ...keptCall(), rules }
  expect([state.open + state.stuck, state.calling, state.ended]).toEqual([0, 1, null])
  const turn = new Turn(new RunDraft(state, 'one step'), { type: 'tick', ...AT }, -1)
  expect(findStalled(turn)).toBe(found.length > 0)
  const findings = turn.facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' ? [[payload.code, payload.node_id]] : [],
  )
  expect(findings).toEqual(found)
})
