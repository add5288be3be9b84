/** Warnings of what does nothing: invariants before a phase that say `rerun`, ways out of a REJECT by a called CHECK, and ways back out of judged work. */
import { expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow } from '../../src/flow/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const REJECT = { class: 'Exception' as const, on: 'reject' as const }
const GOAL = { kind: 'GOAL' as const, phase_id: 'E' }

function neverFires(nodes: FlowNode[], edges: FlowEdge[]): readonly string[] {
  const flow = { type: 'flow_v1' as const, flow_id: 'f', title: '', nodes, edges }
  return checkFlow(flow).warnings.flatMap(({ code, path }) =>
    code === 'flow.never_fires' ? [path] : [],
  )
}

it('does not name the way out of work that a called CHECK may reject', () => {
  const reviewer = { command: ['review'] }
  const called = node('k', { kind: 'CHECK', call: true, phase_id: 'Q', reviewer })
  const nodes = [work('w'), called, node('g', GOAL), node('h', GOAL)]
  const ways = [edge('w', 'g'), edge('w', 'h', REJECT)]
  const edges = [edge('w', 'k', { class: 'Gate' }), ...ways]
  expect(neverFires(nodes, edges)).toEqual([])
  const host = new Host({ nodes, edges }, () => ({ score: 40, stage: 's' })).start().run()
  expect(host.fired).toContain('w>h')
  // Without the call nothing rejects the work.
  expect(neverFires(nodes, ways)).toEqual(['/edges/1'])
})

it('names a way back without a guard out of work that goes to its CHECK', () => {
  const nodes = [work('a'), work('w'), check('c', 'w'), node('g', GOAL)]
  const way = edge('w', 'a', { class: 'Loop' })
  const others = [edge('a', 'w'), edge('w', 'c'), edge('c', 'g')]
  expect(neverFires(nodes, [...others, way])).toEqual(['/edges/3'])
  const host = new Host({ nodes, edges: [...others, way] }, () => ({ stage: 's' })).start().run()
  expect([host.status, host.fired.includes('w>a')]).toEqual(['DONE', false])
  const guarded = { ...way, guard_expr: 'state.attempt_count < 2' }
  expect(neverFires(nodes, [...others, guarded])).toEqual([])
})

it('an invariant before a phase blocks, and its `rerun` is warned of', () => {
  const before = (fail_action: 'rerun' | 'block') => {
    const head = { invariant_id: 'I', invariant_expr: 'false', severity: 'high' as const }
    const invariants = [{ ...head, check_timing: 'pre_phase' as const, fail_action }]
    return { nodes: [work('a'), node('g', GOAL)], edges: [edge('a', 'g')], invariants }
  }
  const warned = (parts: ReturnType<typeof before>) =>
    checkFlow({ type: 'flow_v1', flow_id: 'f', title: '', ...parts }).warnings.filter(({ path }) =>
      path.startsWith('/invariants'),
    )
  expect(warned(before('block'))).toEqual([])
  expect(warned(before('rerun'))).toMatchObject([
    { path: '/invariants/0/fail_action', message: expect.stringContaining('`rerun` blocks there') },
  ])
  expect(new Host(before('rerun')).start().run().status).toBe('BLOCKED')
})
