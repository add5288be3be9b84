/**
 * Work that calls a CHECK stays staged until the CHECK has approved it (F-13): what a shared gate refuses was
 * never in the workspace. The CHECK nodes that name the work are asked first, the called ones after them.
 */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const GATE = { class: 'Gate' as const }
const PERSON = 'human:ann@local'

function gate(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  const reviewer = { command: ['review', node_id] }
  return node(node_id, { kind: 'CHECK', reviewer, phase_id: node_id, call: true, ...more })
}

/** Each attempt of WORK leaves a stage; `scores` are the words of CHECK nodes, in order. */
function staging(scores: Readonly<Record<string, readonly number[]>> = {}): Script {
  const left = new Map(Object.entries(scores).map(([id, list]) => [id, [...list]]))
  return (id, attempt, command) => {
    const isReview = command.type === 'run_participant' && command.review !== null
    return isReview ? { score: left.get(id)?.shift() ?? 95 } : { stage: `${id}-${attempt}` }
  }
}

/** What was entered, promoted and undone, in order. */
function walked(host: Host): readonly string[] {
  return host.facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1') return []
    if (payload.kind === 'entered') return [payload.node_id]
    if (payload.kind !== 'event') return []
    const { event } = payload
    if (event.type === 'promoted' && event.action_id !== null) return [`+${event.node_id}`]
    return event.type === 'rolled_back' ? [`-${event.node_id}`] : []
  })
}

function walk(nodes: readonly FlowNode[], edges: readonly FlowEdge[], script: Script): Host {
  const host = new Host({ nodes: [...nodes], edges: [...edges] }, script).start().run()
  host.verify()
  return host
}

function unblock(host: Host, node_id: string): Host {
  host.send({ type: 'unblocked', node_id, principal: PERSON })
  host.run().verify()
  return host
}

/** The gate lies in a phase of its own, or in that of its callers. */
const PLACES = ['own', 'P'] as const

describe('work that calls a CHECK', () => {
  const nodes = (place: string): FlowNode[] => [
    work('a', place === 'P' ? {} : { phase_id: 'a' }),
    work('b', place === 'P' ? {} : { phase_id: 'b' }),
    gate('clock', place === 'P' ? { phase_id: 'P' } : {}),
  ]
  const edges = [edge('a', 'b'), edge('a', 'clock', GATE), edge('b', 'clock', GATE)]

  it.each(PLACES)('is promoted when the CHECK has approved it, and leads on then: %s', (place) => {
    const host = walk(nodes(place), edges, staging())
    expect(walked(host)).toEqual(['a', 'clock', '+a', 'b', 'clock', '+b'])
    expect([host.status, host.findings]).toEqual(['DONE', []])
  })

  it.each(PLACES)('is never promoted when the CHECK rejects it: %s', (place) => {
    const host = walk(nodes(place), edges, staging({ clock: [40] }))
    expect([walked(host), host.status]).toEqual([['a', 'clock'], 'BLOCKED'])
    expect(host.findings).toEqual(['flow.approval_required block', 'flow.call_failed block'])
    // The next version is judged, and promoted.
    expect(walked(unblock(host, 'a')).slice(2)).toEqual(['a', 'clock', '+a', 'b', 'clock', '+b'])
    expect(host.status).toBe('DONE')
  })

  it.each(PLACES)('is asked about by the CHECK nodes that name it first: %s', (place) => {
    const judged = [...nodes(place), check('judge', 'a', { phase_id: place === 'P' ? 'P' : 'a' })]
    const ways = [edge('a', 'judge'), edge('a', 'clock', GATE), edge('judge', 'b')]
    const host = walk(judged, ways, staging({ judge: [40, 95], clock: [40, 95] }))
    expect(walked(host)).toEqual(['a', 'judge', 'a', 'judge', 'clock'])
    // Both judge the next version.
    const next = ['a', 'judge', 'clock', '+a', 'b', '+b']
    expect([walked(unblock(host, 'a')).slice(5), host.status]).toEqual([next, 'DONE'])
  })

  it('is in place before anything that the CHECK leads to begins', () => {
    const more = [work('note', { phase_id: 'note' })]
    const host = walk([...nodes('own'), ...more], [...edges, edge('clock', 'note')], staging())
    const call = (id: string) => ['clock', `+${id}`, 'note', '+note']
    expect(walked(host)).toEqual(['a', ...call('a'), 'b', ...call('b')])
    expect(host.status).toBe('DONE')
  })

  it('leaves nothing to roll back when the CHECK leads back', () => {
    const back = edge('clock', 'a', {
      class: 'Rollback',
      guard_expr: "state.validator_verdict == 'REJECT'",
    })
    const host = walk(nodes('own'), [...edges, back], staging({ clock: [40] }))
    expect(walked(host)).toEqual(['a', 'clock', 'a', 'clock', '+a', 'b', 'clock', '+b'])
    expect(host.status).toBe('DONE')
  })

  it('is promoted without the CHECK where its way there is closed and no Gate', () => {
    const closed = edge('a', 'clock', { guard_expr: 'state.tool_calls > 1000' })
    const host = walk(
      nodes('own').slice(0, 2).concat(gate('clock')),
      [edge('a', 'b'), closed],
      staging(),
    )
    expect([walked(host), host.status]).toEqual([['a', '+a', 'b', '+b'], 'DONE'])
  })

  it('stays staged while a Gate to the CHECK is closed', () => {
    const closed = edge('a', 'clock', { ...GATE, guard_expr: 'state.tool_calls > 1000' })
    const host = walk(nodes('own'), [edge('a', 'b'), closed], staging())
    expect([walked(host), host.status]).toEqual([['a'], 'BLOCKED'])
    expect(host.findings).toEqual(['flow.guard_false block'])
  })

  it('waits for all CHECK nodes that it calls', () => {
    const two = [...nodes('own'), gate('seal')]
    const ways = [...edges, edge('a', 'seal', GATE)]
    const host = walk(two, ways, staging({ seal: [40, 95] }))
    expect(walked(host).filter((one) => one.startsWith('+'))).toEqual([])
    unblock(host, 'a')
    const after = walked(host).slice(3)
    expect(after.indexOf('+a')).toBeGreaterThan(
      Math.max(after.indexOf('clock'), after.indexOf('seal')),
    )
    expect(host.status).toBe('DONE')
  })

  it('does not hold two callers up that call two CHECK nodes in another order', () => {
    const start = node('s', { phase_id: 's' })
    const both = [start, ...nodes('own'), gate('seal')]
    const ways = [
      edge('s', 'a'),
      edge('s', 'b'),
      edge('a', 'clock', GATE),
      edge('a', 'seal', GATE),
      edge('b', 'seal', GATE),
      edge('b', 'clock', GATE),
    ]
    const host = walk(both, ways, staging())
    expect(host.status).toBe('DONE')
    expect(
      walked(host)
        .filter((one) => one.startsWith('+'))
        .sort(),
    ).toEqual(['+a', '+b'])
  })

  it('stops where its promotion is refused, and the call with it', () => {
    const host = new Host({ nodes: nodes('own'), edges }, staging()).start()
    host.run(({ type }) => type === 'promote')
    const [asked] = host.open.splice(0)
    if (asked?.type !== 'promote') throw new Error('nothing is promoted')
    const { node_id, command, manifest } = asked
    expect([node_id, host.node('clock').status]).toEqual(['a', 'resting'])
    host.send({
      type: 'promoted',
      node_id,
      command,
      manifest,
      action_id: null,
      why: ['promote.conflict'],
    })
    host.run().verify()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.promotion_refused block']])
    expect(walked(unblock(host, 'a')).slice(2)).toEqual(['a', 'clock', '+a', 'b', 'clock', '+b'])
    expect(host.status).toBe('DONE')
  })

  it('is judged with the evidence that it staged', () => {
    const source = { guard_expr: 'state.bugs == 0', guard_evidence_source: 'out/qa.json:bugs' }
    const parts = {
      nodes: nodes('own'),
      edges: [edge('a', 'b'), edge('a', 'clock', { ...GATE, ...source })],
      state: { fields: { bugs: { type: 'int' as const, initial: 7 } } },
    }
    const host = new Host(parts, staging()).start()
    host.run(({ type }) => type === 'read_evidence')
    const [asked] = host.open.splice(0)
    if (asked?.type !== 'read_evidence') throw new Error('no evidence is read')
    expect(walked(host)).toEqual(['a'])
    const { node_id, command } = asked
    const digest = `sha256:${'1'.repeat(64)}`
    const readings = [{ edge_id: 'a>clock', digest, value: 0 }]
    host.send({ type: 'evidence_read', node_id, command, readings })
    host.run().verify()
    expect([walked(host), host.status]).toEqual([['a', 'clock', '+a', 'b', '+b'], 'DONE'])
  })
})

it('a call node that is no CHECK judges nothing: the work is promoted before it is called', () => {
  const nodes = [work('a', { phase_id: 'a' }), work('tidy', { phase_id: 'tidy', call: true })]
  const host = walk(nodes, [edge('a', 'tidy', GATE)], staging())
  expect(walked(host)).toEqual(['a', '+a', 'tidy', '+tidy'])
})

it('a way back inside a call to a CHECK that has approved runs the caller again', () => {
  const back = (kind: 'Loop' | 'Rollback') =>
    edge('m', 'k', { class: kind, guard_expr: 'state.attempt_count < 2' })
  const nodes = [work('a'), gate('k'), work('m', { phase_id: 'k' })]
  const goal = node('g', { kind: 'GOAL', phase_id: 'PG' })
  const edges = [edge('a', 'k'), edge('a', 'g'), edge('k', 'm')]
  const once = ['a', 'k', '+a', 'm', '+m']
  const looped = walk([...nodes, goal], [...edges, back('Loop')], staging())
  expect([looped.status, walked(looped)]).toEqual(['DONE', [...once, ...once, 'g']])
  const undone = walk([...nodes, goal], [...edges, back('Rollback')], staging())
  expect([undone.status, walked(undone)]).toEqual(['DONE', [...once, '-m', '-a', ...once, 'g']])
})

it('a node with a list may not call a CHECK, and is shown what to write', () => {
  const list = work('d', { map: { items: ['x', 'y'] } })
  const nodes = [list, gate('k'), node('g', { kind: 'GOAL', phase_id: 'PG' })]
  const edges = [edge('d', 'k'), edge('d', 'g')]
  const flow: Flow = { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges }
  const { violations } = checkFlow(flow)
  expect(violations).toMatchObject([{ code: 'flow.map', path: '/nodes/0/map' }])
  expect(violations[0]?.message).toContain('write a CHECK with `target: d` for the items')
})
