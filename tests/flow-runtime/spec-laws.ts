/**
 * Laws of every walk, written from the specification and read off the facts alone: no edge fires past a closed
 * control (F-1, F-3, F-6), nothing is promoted without the APPROVE of each of its CHECK nodes about that very
 * stage (F-7, F-13), no join fills early, no phase is left before its log (F-11), and a run that is done has
 * nothing open and nothing staged. `judgeRest` holds a run that has come to rest against them.
 */
import { expect } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import {
  type EventPayload,
  type FlowEvent,
  type FlowFact,
  outstanding,
  step,
  stopsOf,
} from '../../src/flow/index.ts'
import { CLOSED } from '../arbitrary/wide-flows.ts'
import type { Host } from './host.ts'

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])
const NEVER = 0

/** What is known of a node, by numbers of facts; `NEVER` if it did not happen since the node was entered. */
interface Seen {
  status: string
  entered: number
  staged: number
  promoted: number
  isBlocked: boolean
  isSkipped: boolean
  /** By CHECK: its last word about this node, and when. */
  readonly words: Map<string, { readonly verdict: string; readonly seq: number }>
}

/** The facts of one run, held against the laws one after another. */
class SpecWalk {
  readonly broken: string[] = []
  readonly #nodes: ReadonlyMap<string, FlowNode>
  readonly #edges: ReadonlyMap<string, FlowEdge>
  readonly #seen = new Map<string, Seen>()
  readonly #fired = new Map<string, number>()
  readonly #guards = new Map<string, { readonly result: string; readonly at: string }>()
  readonly #logged = new Map<string, number>()
  /** The edge that last fired into a node. */
  readonly #led = new Map<string, FlowEdge>()

  constructor({ flow, facts }: Pick<Host, 'flow' | 'facts'>) {
    const { nodes, edges } = flow.document
    this.#nodes = new Map(nodes.map((one) => [one.node_id, one]))
    this.#edges = new Map(edges.map((one) => [one.edge_id, one]))
    for (const { type, payload } of facts) if (type === 'flow_event_v1') this.#read(payload)
  }

  at(id: string): Seen {
    const known = this.#seen.get(id)
    if (known !== undefined) return known
    const fresh = { entered: NEVER, staged: NEVER, promoted: NEVER, isBlocked: false }
    const seen = { ...fresh, status: 'idle', isSkipped: false, words: new Map() }
    this.#seen.set(id, seen)
    return seen
  }

  #read(payload: Extract<FlowFact, { type: 'flow_event_v1' }>['payload']): void {
    const { seq, at } = payload
    switch (payload.kind) {
      case 'entered':
        return this.#enter(payload, seq)
      case 'status':
        return this.#settle(payload.node_id, payload.status)
      case 'guard':
        this.#guards.set(payload.edge_id, { result: payload.result, at })
        return
      case 'fired':
        return this.#fire(payload.edge_id, seq, at)
      case 'staged':
        this.at(payload.node_id).staged = seq
        return
      case 'voided':
        this.at(payload.node_id).staged = NEVER
        return
      case 'reviewed':
        this.at(payload.node_id).words.set(payload.check_id, { verdict: payload.verdict, seq })
        return
      case 'commanded':
        if (payload.command.type === 'promote') this.#promote(payload.command.node_id)
        return
      case 'event':
        return this.#hear(payload.event, seq)
      default:
        return
    }
  }

  #enter(payload: Extract<EventPayload, { kind: 'entered' }>, seq: number): void {
    const { node_id: id, cause } = payload
    if (cause === 'edge') this.#join(id)
    Object.assign(this.at(id), {
      ...{ entered: seq, staged: NEVER, promoted: NEVER },
      ...{ isBlocked: false, isSkipped: false, status: 'running' },
    })
  }

  /** Sync edges are waited for together, or one of them by OR; each counts since its source was entered. */
  #join(id: string): void {
    const led = this.#led.get(id)
    if (led === undefined || led.class === 'Exception' || this.#isReview(led)) return
    const syncs = [...this.#edges.values()].filter(
      (one) => one.target === id && one.class === 'Sync',
    )
    const isFired = ({ edge_id, source }: FlowEdge): boolean =>
      (this.#fired.get(edge_id) ?? NEVER) > this.at(source).entered
    const isAny = syncs.some(({ join }) => join === 'OR')
    const isFilled = isAny ? syncs.some(isFired) : syncs.every(isFired)
    if (!isFilled) this.broken.push(`${id} is entered, and its join is not filled`)
  }

  #settle(id: string, status: string): void {
    const seen = this.at(id)
    seen.status = status
    if (status !== 'done' || seen.isSkipped) return
    for (const [check, { verdict, seq }] of seen.words)
      if (verdict === 'REJECT' && seq > seen.staged && seen.staged !== NEVER)
        this.broken.push(`${id} is done, and ${check} has rejected it`)
  }

  #isReview({ source, target }: FlowEdge): boolean {
    const judged = this.#nodes.get(target)?.target
    return judged !== undefined && (judged === source || this.#nodes.get(source)?.target === judged)
  }

  #fire(id: string, seq: number, at: string): void {
    const way = this.#edges.get(id)
    if (way === undefined) return
    this.#fired.set(id, seq)
    this.#led.set(way.target, way)
    const guard = this.#guards.get(id)
    const isOpen = guard !== undefined && guard.result === 'true' && guard.at === at
    if (way.guard_expr !== undefined && !isOpen) this.broken.push(`${id} fires past its guard`)
    if (way.policy_refs?.includes(CLOSED.policy)) this.broken.push(`${id} fires past its policy`)
    if (way.audit_invariant_refs?.includes(CLOSED.invariant))
      this.broken.push(`${id} fires past its invariant`)
    // No participant of these flows claims anything.
    if (way.trust_requirement === 'independent_verification_required')
      this.broken.push(`${id} fires, and nothing was verified`)
    if (way.class === 'Gate' && way.guard_expr === undefined && this.#workAt(way.source).isBlocked)
      this.broken.push(`${id} fires, and the last attempt was blocked`)
    if (ON.has(way.class)) this.#cross(way)
  }

  /** What a CHECK leads on from is the work that it judges. */
  #workAt(id: string): Seen {
    return this.at(this.#nodes.get(id)?.target ?? id)
  }

  /** The log of a phase is written before anything that it leads to. */
  #cross(way: FlowEdge): void {
    const { source, target, edge_id, group_id } = way
    const from = this.#nodes.get(source)
    const to = this.#nodes.get(target)
    // A goal is reached through its alternatives, and a call is a part of the phase of its caller.
    if (from?.kind === 'GOAL' && group_id !== undefined) return
    if (from === undefined || from.phase_id === to?.phase_id || to?.call === true) return
    const logged = this.#logged.get(from.phase_id) ?? NEVER
    if (logged < this.at(source).entered)
      this.broken.push(`${edge_id} fires before the log of ${from.phase_id}`)
  }

  /** Every CHECK that names the work, and every CHECK that it has called, has approved what is staged. */
  #promote(id: string): void {
    const { staged, words, entered } = this.at(id)
    const all = [...this.#nodes.values()]
    const named = all.filter(({ target }) => target === id).map(({ node_id }) => node_id)
    const called = [...this.#edges.values()].flatMap(({ source, target, edge_id, class: sort }) => {
      const to = this.#nodes.get(target)
      const isJudging = to?.call === true && to.kind === 'CHECK' && source === id
      const isDue = sort === 'Gate' || (this.#fired.get(edge_id) ?? NEVER) > entered
      return isJudging && isDue && (sort === 'Gate' || sort === 'Progress') ? [target] : []
    })
    if (staged < entered) this.broken.push(`${id} is promoted, and nothing is staged`)
    const isApproved = (check: string): boolean => {
      const word = words.get(check)
      return word !== undefined && word.verdict === 'APPROVE' && word.seq > staged
    }
    for (const check of [...named, ...called])
      if (!isApproved(check) && !this.#isStoodIn(check, named, isApproved))
        this.broken.push(`${id} is promoted, and ${check} has not approved it`)
  }

  /** A CHECK by which another one fails over judges in its place, and only then. */
  #isStoodIn(
    check: string,
    named: readonly string[],
    isApproved: (check: string) => boolean,
  ): boolean {
    const overs = [...this.#edges.values()].filter(
      (one) =>
        one.class === 'Exception' && named.includes(one.source) && named.includes(one.target),
    )
    return overs.some(({ source, target }) => {
      if (source === check) return isApproved(target)
      return target === check && isApproved(source)
    })
  }

  #hear(event: FlowEvent, seq: number): void {
    if (event.type === 'promoted' && event.action_id !== null) this.at(event.node_id).promoted = seq
    if (event.type === 'gate_decision' && event.decision === 'BLOCK')
      this.at(event.node_id).isBlocked = true
    if (event.type === 'log_written' && event.digest !== null) this.#logged.set(event.phase_id, seq)
    if (event.type !== 'skipped') return
    this.at(event.node_id).isSkipped = true
  }

  /** What a run that is done left open, or staged and done and not in place. */
  leftovers(): readonly string[] {
    const closed = new Set(['idle', 'done', 'rejected', 'abandoned'])
    return [...this.#seen].flatMap(([id, { status, staged, promoted, isSkipped }]) => {
      if (!closed.has(status)) return [`the run is done, and ${id} is ${status}`]
      const isLost = status === 'done' && staged !== NEVER && promoted < staged && !isSkipped
      return isLost ? [`${id} is done, and what it staged is not in place`] : []
    })
  }
}

/** Holds a run that has come to rest against the laws. */
export function judgeRest(host: Host): void {
  const { status, flow, facts, state, open } = host
  const walk = new SpecWalk(host)
  expect(walk.broken).toEqual([])
  expect([status, host.open.length > 0]).not.toEqual(['RUNNING', false])
  if (status === 'DONE') expect(walk.leftovers()).toEqual([])
  if (status !== 'BLOCKED' && status !== 'WAITING') return
  const stops = stopsOf({ flow, facts, state, waiting: open })
  expect([host.findings.length > 0, stops.length > 0]).toEqual([true, true])
  for (const stop of stops) {
    expect(stop.next).not.toEqual([])
    expect(deadEnds(host, stop.next)).toEqual([])
  }
}

/** The commands among these that would change nothing. */
function deadEnds({ state }: Host, commands: readonly string[]): readonly string[] {
  return commands.filter((command) => {
    const [, node_id = ''] = /^writ flow answer \S+ (\S+) unblock/.exec(command) ?? []
    if (node_id === '') return false
    const event = { type: 'unblocked' as const, node_id, principal: 'p', at: 'x', nonce: 'y' }
    const { isStale, facts, state: next } = step(state, event)
    // Something is under way then, or a finding says what is still missing.
    return isStale || (facts.length < 2 && outstanding(next).length === 0)
  })
}
