/**
 * Laws of walks, over random flows that come far: what a run that is done has reached, what a stop says, which
 * nodes lead on in a later round, and when a way back without a guard goes. They are read off the facts.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { checkFlow, stopsOf } from '../../src/flow/index.ts'
import { callingFlow, walkableFlow } from '../arbitrary/flows.ts'
import { runs } from '../arbitrary/runs.ts'
import { Host, type Script } from './host.ts'

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])
const BACK: ReadonlySet<string> = new Set(['Loop', 'Rollback'])

/** What the facts say of a walk, one after another. */
class Walk {
  readonly broken: string[] = []
  returns = 0
  readonly #edges: ReadonlyMap<string, FlowEdge>
  readonly #from = new Map<string, FlowEdge[]>()
  readonly #checks = new Map<string, string[]>()
  readonly #statuses = new Map<string, string>()
  /** Edges that have fired since their sources were entered. */
  readonly #fired = new Set<string>()
  /** Nodes that a later round has not come to yet. */
  readonly #behind = new Set<string>()

  constructor(host: Host) {
    const { nodes, edges } = host.flow.document
    this.#edges = new Map(edges.map((one) => [one.edge_id, one]))
    for (const { node_id } of nodes)
      this.#from.set(
        node_id,
        edges.filter(({ source }) => source === node_id),
      )
    for (const { node_id, target } of nodes)
      if (target !== undefined)
        this.#checks.set(target, [...(this.#checks.get(target) ?? []), node_id])
    for (const { type, payload } of host.facts) {
      if (type !== 'flow_event_v1') continue
      if (payload.kind === 'entered') this.#enter(payload.node_id)
      if (payload.kind === 'status') this.#statuses.set(payload.node_id, payload.status)
      if (payload.kind === 'fired') this.#fire(payload.edge_id)
    }
  }

  #enter(id: string): void {
    if (this.#statuses.has(id)) {
      this.returns += 1
      const led = this.#reach([id], ({ edge_id }) => this.#fired.has(edge_id))
      for (const one of led) {
        if (one !== id && this.#statuses.get(one) === 'running')
          this.broken.push(`${one} goes on, though ${id}, which it followed, runs again`)
        if (this.#statuses.get(one) !== 'done') continue
        this.#behind.add(one)
        for (const { edge_id } of this.#from.get(one) ?? []) this.#fired.delete(edge_id)
      }
    }
    for (const { edge_id } of this.#from.get(id) ?? []) this.#fired.delete(edge_id)
    this.#behind.delete(id)
    this.#statuses.set(id, 'running')
  }

  #fire(id: string): void {
    const way = this.#edges.get(id)
    if (way === undefined) return
    const { source, class: sort, guard_expr } = way
    if (this.#behind.has(source))
      this.broken.push(`${id} fires from ${source}, which is left behind`)
    const others = (this.#from.get(source) ?? []).filter((one) => ON.has(one.class))
    if (BACK.has(sort) && guard_expr === undefined && this.#statuses.get(source) === 'done') {
      const open = others.filter(
        (one) => this.#fired.has(one.edge_id) || (one.guard_expr === undefined && !one.group_id),
      )
      if (open.length > 0) this.broken.push(`${id} fires, and ${open[0]?.edge_id} is open`)
    }
    this.#fired.add(id)
    if (BACK.has(sort)) this.#leave(way.target)
  }

  /** From a way back on, and before its target runs, nothing takes a way that the target had led to. */
  #leave(target: string): void {
    for (const one of this.#reach([target], ({ edge_id }) => this.#fired.has(edge_id)))
      if (this.#statuses.get(one) === 'done') this.#behind.add(one)
  }

  #reach(from: readonly string[], isTaken: (edge: FlowEdge) => boolean): ReadonlySet<string> {
    const seen = new Set(from)
    for (const one of seen) {
      for (const check of this.#checks.get(one) ?? []) seen.add(check)
      for (const way of this.#from.get(one) ?? [])
        if (!BACK.has(way.class) && isTaken(way)) seen.add(way.target)
    }
    return seen
  }

  /** Goals on the ways taken, and on the ways from where none was taken, that are not done. */
  missed(host: Host): readonly string[] {
    const { nodes } = host.flow.document
    const starts = host.flow.starts.map((index) => nodes[index]?.node_id ?? '')
    const isLeft = (id: string): boolean =>
      (this.#from.get(id) ?? []).some(({ edge_id }) => this.#fired.has(edge_id))
    const reached = this.#reach(starts, ({ edge_id, source, class: sort }) => {
      if (this.#statuses.get(source) === 'abandoned') return false
      const judges = this.#checks.get(source) ?? []
      if (isLeft(source) || judges.some(isLeft)) return this.#fired.has(edge_id)
      return ON.has(sort)
    })
    return nodes.flatMap(({ node_id, kind }) => {
      const isDone = this.#statuses.get(node_id) === 'done' && !this.#behind.has(node_id)
      return kind === 'GOAL' && reached.has(node_id) && !isDone ? [node_id] : []
    })
  }
}

/** What participants do: some attempts fail, and some reviews reject. */
function dice(failing: number, low: number): Script {
  return (id, attempt) => ({
    outcome: (attempt + id.charCodeAt(1)) % 7 === failing ? 'failed' : 'ended',
    score: (attempt + id.charCodeAt(1)) % 7 === low ? 40 : 95,
    stage: `${id} ${attempt}`,
  })
}

/** Holds a walk against the laws; returns it. */
function judge(host: Host): Walk {
  const { status, flow, facts, state } = host
  const walk = new Walk(host)
  expect(walk.broken).toEqual([])
  if (status === 'DONE') expect(walk.missed(host)).toEqual([])
  if (status === 'BLOCKED' || status === 'WAITING') {
    const stops = stopsOf({ flow, facts, state, waiting: host.open })
    expect([host.findings.length > 0, stops.length > 0]).toEqual([true, true])
    for (const { next } of stops) expect(next).not.toEqual([])
  }
  host.verify()
  return walk
}

it('hold in every round', { timeout: 180_000 }, () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(walkableFlow, fc.nat(6), fc.nat(6), (parts, failing, low) => {
      const host = new Host(parts, dice(failing, low)).start().run()
      const walk = judge(host)
      expect(wrongEnds(host)).toEqual([])
      seen.set(host.status, (seen.get(host.status) ?? 0) + 1)
      if (walk.returns > 0) seen.set('again', (seen.get('again') ?? 0) + 1)
    }),
    { numRuns: runs(300) },
  )
  // The dice reached all of them.
  for (const word of ['DONE', 'BLOCKED', 'WAITING', 'again'])
    expect([word, seen.get(word) ?? 0]).not.toEqual([word, 0])
})

/**
 * Phases that end twice without an entry in between, and reviews by a called CHECK of work whose phase had
 * ended; those that were under way when their caller was left behind do not count.
 */
function wrongEnds({ facts, flow }: Host): readonly string[] {
  const phases = new Map(flow.nodes.map(({ nodeId, document }) => [nodeId, document.phase_id]))
  const statuses = new Map<string, string>()
  const ended = new Set<string>()
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1') return []
    if (payload.kind === 'status') statuses.set(payload.node_id, payload.status)
    if (payload.kind === 'entered') ended.delete(phases.get(payload.node_id) ?? '')
    if (payload.kind === 'reviewed' && payload.check_id === 'k') {
      const isLate = ended.has(phases.get(payload.node_id) ?? '')
      const isLeft = statuses.get(payload.node_id) === 'rejected'
      return isLate && !isLeft ? [`k judges ${payload.node_id} after its phase`] : []
    }
    if (payload.kind !== 'phase_ended') return []
    const isAgain = ended.has(payload.phase_id)
    ended.add(payload.phase_id)
    return isAgain ? [`${payload.phase_id} ends again`] : []
  })
}

it('phases end once with calls and maps, after called checks', { timeout: 180_000 }, () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(callingFlow, fc.nat(6), fc.nat(6), (parts, failing, low) => {
      const { violations } = checkFlow(parts)
      fc.pre(!violations.some(({ code }) => code === 'flow.map' || code === 'flow.call'))
      const host = new Host(parts, dice(failing, low)).start().run()
      host.verify()
      expect(wrongEnds(host)).toEqual([])
      const isMapped = parts.nodes.some(({ map }) => map !== undefined)
      for (const word of [host.status, ...(isMapped ? ['mapped'] : [])])
        seen.set(word, (seen.get(word) ?? 0) + 1)
    }),
    { numRuns: runs(300) },
  )
  for (const word of ['DONE', 'BLOCKED', 'WAITING', 'mapped'])
    expect([word, seen.get(word) ?? 0]).not.toEqual([word, 0])
})
