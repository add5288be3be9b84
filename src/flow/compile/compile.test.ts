/** What compiling gives, and what it refuses. */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge, FlowNode } from '../../contracts/index.ts'
import { compileFlow } from './compile.ts'

function node(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  const made = { node_id, kind: 'WORK' as const, title: node_id, phase_id: 'P', actor: 'a' }
  return { ...made, max_attempts: 1, ...more }
}

function edge(source: string, target: string, more: Partial<FlowEdge> = {}): FlowEdge {
  return { edge_id: `${source}-${target}`, source, target, class: 'Progress', ...more }
}

function compile(parts: Partial<Flow>) {
  return compileFlow({ type: 'flow_v1', flow_id: 'f', title: '', nodes: [], edges: [], ...parts })
}

function compiled(parts: Partial<Flow>) {
  const compilation = compile(parts)
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

describe('compiling', () => {
  it('begins where nothing leads but ways back, and with the first when all is a circle', () => {
    const nodes = [node('a'), node('b'), node('c')]
    const back = edge('b', 'a', { class: 'Loop' })
    const flow = compiled({ nodes, edges: [edge('a', 'b'), back] })
    expect(flow.starts).toEqual([0, 2])
    expect(
      compiled({ nodes: nodes.slice(0, 2), edges: [edge('a', 'b'), edge('b', 'a')] }).starts,
    ).toEqual([0])
  })

  it('gathers phases, checks and who runs', () => {
    const flow = compiled({
      nodes: [
        node('a', { minimum_duration: 2, executor: { command: ['x'] } }),
        node('check', { kind: 'CHECK', target: 'a', reviewer: { human: true } }),
        node('b', { phase_id: 'Q', subphase_id: 'Q1', minimum_duration: 3 }),
      ],
      edges: [edge('a', 'check'), edge('check', 'b')],
    })
    expect(flow.phases).toEqual([
      { index: 0, name: 'P', nodes: [0, 1], minimumDuration: 2 },
      { index: 1, name: 'Q', nodes: [2], minimumDuration: 3 },
    ])
    expect(flow.nodes.map(({ checks, isBare, subphase }) => [checks, isBare, subphase])).toEqual([
      [[1], false, -1],
      [[], false, -1],
      [[], true, 0],
    ])
    expect(flow.edges.map(({ isReview, isLeaving }) => [isReview, isLeaving])).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('judges a policy at the edges that name it, and one that none names at every edge', () => {
    const policy = { policy_expr: 'true', priority: 1, override_mode: 'merge' as const }
    const flow = compiled({
      nodes: [node('a'), node('b')],
      edges: [edge('a', 'b', { policy_refs: ['named'] }), edge('b', 'a', { class: 'Loop' })],
      policies: [
        { ...policy, policy_id: 'named', violation_action: 'block' },
        { ...policy, policy_id: 'free', violation_action: 'alert' },
      ],
    })
    expect(flow.edges.map(({ policies }) => policies.map(({ policyId }) => policyId))).toEqual([
      ['named', 'free'],
      ['free'],
    ])
  })

  it('tells every expression that is wrong, with its place', () => {
    const compilation = compile({
      nodes: [node('a'), node('b')],
      edges: [edge('a', 'b', { guard_expr: 'state.tool_cals > 0' })],
      invariants: [
        {
          invariant_id: 'i',
          invariant_expr: 'state.score',
          check_timing: 'periodic',
          severity: 'low',
          fail_action: 'alert',
        },
      ],
    })
    if (compilation.ok) throw new Error('accepted')
    expect(compilation.faults.map(({ code, path }) => `${code} at ${path}`)).toEqual([
      'expression.not_boolean at /invariants/0/invariant_expr',
      'expression.unknown_field at /edges/0/guard_expr',
    ])
  })
})
