/**
 * A way back without a guard takes nothing back that was approved: out of a CHECK it goes on REJECT alone, and
 * out of work that a CHECK judges it never fires, which `flow check` says (version 8 of the rules).
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const LOOP = { class: 'Loop' as const }
const GOALS = [
  node('g', { kind: 'GOAL', phase_id: 'e' }),
  node('h', { kind: 'GOAL', phase_id: 'e' }),
]
const NODES = [work('a'), work('w'), check('c', 'w'), check('d', 'w'), ...GOALS]
const TO_BOTH = [edge('a', 'w'), edge('w', 'c'), edge('w', 'd')]
const DECIDED = [
  edge('w', 'g', { class: 'Decision', guard_expr: 'state.score >= 90' }),
  edge('w', 'h', { class: 'Decision', guard_expr: 'state.score < 90' }),
]

/** Each attempt of WORK leaves a stage; the first word of `low` is a REJECT. */
function staging(low = ''): Script {
  const said = new Set<string>()
  return (id, attempt, command) => {
    if (command.type !== 'run_participant' || command.review === null)
      return { stage: `${id}-${attempt}` }
    const isLow = id === low && !said.has(id)
    said.add(id)
    return { score: isLow ? 40 : 95 }
  }
}

const SHAPES: readonly (readonly [string, readonly FlowEdge[]])[] = [
  ['the other CHECK leads on', [...TO_BOTH, edge('d', 'g'), edge('c', 'a', LOOP)]],
  ['the work decides where it leads', [...TO_BOTH, ...DECIDED, edge('c', 'a', LOOP)]],
  ['by a Rollback', [...TO_BOTH, edge('d', 'g'), edge('c', 'a', { class: 'Rollback' })]],
]

describe('a way back without a guard out of a CHECK', () => {
  it.each(SHAPES)('does not go when the CHECK has approved: %s', (_, edges) => {
    const host = new Host({ nodes: NODES, edges: [...edges] }, staging()).start().run()
    expect([host.status, host.fired.includes('c>a')]).toEqual(['DONE', false])
    expect(host.entered.filter((id) => id === 'a')).toHaveLength(1)
    host.verify()
  })

  it.each(SHAPES)('goes on REJECT: %s', (_, edges) => {
    const host = new Host({ nodes: NODES, edges: [...edges] }, staging('c')).start().run()
    expect([host.status, host.fired.filter((id) => id === 'c>a')]).toEqual(['DONE', ['c>a']])
    host.verify()
  })

  it('does not go out of a called CHECK that has approved, and is not named by the check', () => {
    const called = node('k', {
      ...{ kind: 'CHECK', call: true, phase_id: 'k' },
      reviewer: { command: ['k'] },
    })
    const edges = [edge('a', 'k', { class: 'Gate' }), edge('a', 'g'), edge('k', 'a', LOOP)]
    const nodes: FlowNode[] = [work('a'), called, ...GOALS.slice(0, 1)]
    expect(neverFires(nodes, edges)).toEqual([])
    const host = new Host({ nodes, edges }, staging()).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'k', 'g']])
    const again = new Host({ nodes, edges }, staging('k')).start().run()
    expect([again.status, again.entered]).toEqual(['DONE', ['a', 'k', 'a', 'k', 'g']])
  })

  it('does not go out of the CHECK of a list whose items are all approved', () => {
    const nodes = [work('a'), work('m', { map: { items: ['x', 'y'] } }), check('c', 'm'), node('z')]
    const edges = [edge('a', 'm'), edge('m', 'c'), edge('c', 'a', LOOP)]
    const host = new Host({ nodes, edges }, staging()).start().run()
    expect([host.status, host.fired.includes('c>a')]).toEqual(['DONE', false])
    host.verify()
  })
})

function neverFires(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): readonly string[] {
  const flow = { type: 'flow_v1' as const, flow_id: 'f', title: '' }
  return checkFlow({ ...flow, nodes: [...nodes], edges: [...edges] }).warnings.flatMap(
    ({ code, path, hint }) => (code === 'flow.never_fires' ? [`${path} ${hint}`] : []),
  )
}

it('takes no approved work back out of the work itself, and the check says so', () => {
  const nodes = [work('a'), work('w'), check('c', 'w'), ...GOALS.slice(0, 1)]
  const edges = [edge('a', 'w'), edge('c', 'g'), edge('w', 'a', LOOP)]
  const hint = 'lead the way back out of `c`, which takes it on REJECT, or give it a guard_expr'
  expect(neverFires(nodes, edges)).toEqual([`/edges/2 ${hint}`])
  const host = new Host({ nodes, edges }, staging()).start().run()
  expect([host.status, host.fired.includes('w>a')]).toEqual(['DONE', false])
  host.verify()
})
