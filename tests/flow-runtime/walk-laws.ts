/** Laws of walks, read off the facts of a run by other means than the runtime's own. */
import { expect } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { type EventPayload, type FlowEvent, stopsOf } from '../../src/flow/index.ts'
import type { Host, Script } from './host.ts'

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])
const OPEN: ReadonlySet<string> = new Set([
  'running',
  'submitted',
  'waiting',
  'promoting',
  'rolling_back',
  'resting',
])
const BACK: ReadonlySet<string> = new Set(['Loop', 'Rollback'])

/** Returns whether an edge without a guard may be closed all the same. */
function namesControls({ policy_refs, audit_invariant_refs, trust_requirement }: FlowEdge) {
  return (policy_refs ?? audit_invariant_refs ?? trust_requirement) !== undefined
}

/** What the facts say of a walk, one after another. */
export class Walk {
  readonly broken: string[] = []
  returns = 0
  readonly #edges: ReadonlyMap<string, FlowEdge>
  readonly #from = new Map<string, FlowEdge[]>()
  readonly #checks = new Map<string, string[]>()
  /** Nodes that are called, and what a call may come to. */
  readonly #called: ReadonlySet<string>
  readonly #judging: ReadonlySet<string>
  readonly #regions: ReadonlySet<string>
  readonly #goals: ReadonlySet<string>
  readonly #statuses = new Map<string, string>()
  /** Edges that have fired since their sources were entered. */
  readonly #fired = new Set<string>()
  /** Calls that have not returned, by their edges. */
  readonly #calls = new Set<string>()
  /** Nodes that a later round has not come to yet. */
  readonly #behind = new Set<string>()
  /** CHECK nodes that have approved what a node made since it was entered. */
  readonly #approvals = new Map<string, Set<string>>()
  /** Promoted acts that are in place, by node. */
  readonly #acts = new Map<string, Set<string>>()
  /** By the target of a Rollback edge that has fired: the nodes whose acts have to be undone first. */
  readonly #undone = new Map<string, readonly string[]>()
  /** By the node whose act is undone: the target of the Rollback. */
  readonly #backTo = new Map<string, string>()
  /** By the target of a way back that has fired: what is left behind when the target runs. */
  readonly #leaving = new Map<string, readonly string[]>()

  constructor(host: Host) {
    const { nodes, edges } = host.flow.document
    this.#edges = new Map(edges.map((one) => [one.edge_id, one]))
    this.#called = new Set(nodes.flatMap(({ node_id, call }) => (call === true ? [node_id] : [])))
    this.#judging = new Set(
      nodes.flatMap(({ node_id, kind }) => (kind === 'CHECK' ? [node_id] : [])),
    )
    this.#goals = new Set(nodes.flatMap(({ node_id, kind }) => (kind === 'GOAL' ? [node_id] : [])))
    const idOf = (index: number): string => nodes[index]?.node_id ?? ''
    this.#regions = new Set(host.flow.callNodes.flatMap(({ region }) => region.map(idOf)))
    for (const { node_id } of nodes)
      this.#from.set(
        node_id,
        edges.filter(({ source }) => source === node_id),
      )
    for (const { node_id, target } of nodes)
      if (target !== undefined)
        this.#checks.set(target, [...(this.#checks.get(target) ?? []), node_id])
    for (const { type, payload } of host.facts) if (type === 'flow_event_v1') this.#read(payload)
  }

  #read(payload: EventPayload): void {
    switch (payload.kind) {
      case 'entered':
        return this.#enter(payload.node_id)
      case 'status':
        this.#statuses.set(payload.node_id, payload.status)
        if (payload.status === 'waiting') this.#rejoin(payload.node_id)
        return
      case 'joined':
        return this.#rejoin(payload.node_id)
      case 'fired':
        return this.#fire(payload.edge_id)
      case 'called':
        this.#calls.add(payload.edge_id)
        return
      case 'returned':
        this.#calls.delete(payload.edge_id)
        return
      case 'voided':
        this.#approvals.delete(payload.node_id)
        return
      case 'reviewed':
        return this.#review(payload.node_id, payload.check_id, payload.verdict === 'APPROVE')
      case 'event':
        return this.#act(payload.event)
      case 'commanded':
        if (payload.command.type === 'promote') this.#promote(payload.command.node_id)
        if (payload.command.type === 'roll_back') {
          this.#acts.get(payload.command.node_id)?.delete(payload.command.action_id)
          this.#backTo.set(payload.command.node_id, payload.command.back_to)
        }
        return
      default:
        return
    }
  }

  #enter(id: string): void {
    for (const one of this.#undone.get(id) ?? [])
      if ((this.#acts.get(one)?.size ?? 0) > 0)
        this.broken.push(`${id} runs after a Rollback, and an act of ${one} is in place`)
    this.#undone.delete(id)
    this.#leaving.delete(id)
    if (this.#statuses.has(id)) {
      this.returns += 1
      for (const one of this.#led(id)) {
        if (one !== id && this.#statuses.get(one) === 'running')
          this.broken.push(`${one} goes on, though ${id}, which it followed, runs again`)
        if (OPEN.has(this.#statuses.get(one) ?? '')) continue
        if (this.#statuses.get(one) === 'done') this.#behind.add(one)
        for (const { edge_id } of this.#from.get(one) ?? []) this.#fired.delete(edge_id)
      }
    }
    for (const { edge_id } of this.#from.get(id) ?? []) this.#fired.delete(edge_id)
    this.#approvals.delete(id)
    this.#behind.delete(id)
    this.#statuses.set(id, 'running')
  }

  #fire(id: string): void {
    const way = this.#edges.get(id)
    if (way === undefined) return
    const { source, target, class: sort, guard_expr } = way
    if (this.#behind.has(source))
      this.broken.push(`${id} fires from ${source}, which is left behind`)
    const others = (this.#from.get(source) ?? []).filter((one) => ON.has(one.class))
    if (BACK.has(sort) && guard_expr === undefined && this.#statuses.get(source) === 'done') {
      const open = others.filter(
        (one) =>
          !this.#called.has(one.target) &&
          !namesControls(one) &&
          (this.#fired.has(one.edge_id) || (one.guard_expr === undefined && !one.group_id)),
      )
      if (open.length > 0) this.broken.push(`${id} fires, and ${open[0]?.edge_id} is open`)
    }
    if (this.#decides(way)) {
      const second = others.find((one) => this.#decides(one) && this.#fired.has(one.edge_id))
      if (second !== undefined) this.broken.push(`${id} fires after ${second.edge_id}`)
    }
    this.#fired.add(id)
    if (sort === 'Rollback' && !this.#regions.has(target))
      this.#undone.set(
        target,
        [...this.#led(target)].filter((one) => !this.#regions.has(one)),
      )
    if (BACK.has(sort)) this.#leave(target)
  }

  /** A way to a CHECK of the same work is its review, and one to an alternative is a choice of its own. */
  #decides({ source, target, class: sort, group_id }: FlowEdge): boolean {
    const isReview = [...this.#checks].some(
      ([work, checks]) => checks.includes(target) && [work, ...checks].includes(source),
    )
    return sort === 'Decision' && group_id === undefined && !isReview
  }

  /** From a way back on, and before its target runs, nothing takes a way that the target had led to. */
  #leave(target: string): void {
    const left = [...this.#led(target)].filter(
      (one) => this.#statuses.get(one) === 'done' && !this.#behind.has(one),
    )
    for (const one of left) this.#behind.add(one)
    this.#leaving.set(target, left)
  }

  /** The target of a way back does not run: a person is asked first, and what it had led to goes on till then. */
  #rejoin(target: string): void {
    for (const one of this.#leaving.get(target) ?? []) this.#behind.delete(one)
    this.#leaving.delete(target)
  }

  #review(id: string, check: string, isApproved: boolean): void {
    const known = this.#approvals.get(id) ?? new Set()
    if (isApproved) known.add(check)
    else known.delete(check)
    this.#approvals.set(id, known)
  }

  /** Nothing is promoted without the word of every CHECK that judges it, by name or by a call. */
  #promote(id: string): void {
    const calls = (this.#from.get(id) ?? []).filter(
      ({ edge_id, target }) => this.#called.has(target) && this.#fired.has(edge_id),
    )
    const asked = calls.flatMap(({ target }) => (this.#judging.has(target) ? [target] : []))
    for (const check of [...(this.#checks.get(id) ?? []), ...asked])
      if (this.#approvals.get(id)?.has(check) !== true)
        this.broken.push(`${id} is promoted, and ${check} has not approved it`)
  }

  #act(event: FlowEvent): void {
    // A Rollback that fails stays at a finding; other ways to its target are not kept by it.
    if (event.type === 'rolled_back' && !event.is_restored)
      this.#undone.delete(this.#backTo.get(event.node_id) ?? '')
    if (event.type !== 'promoted' || event.action_id === null) return
    const known = this.#acts.get(event.node_id) ?? new Set()
    this.#acts.set(event.node_id, known.add(event.action_id))
  }

  /** What a node has led to since it was entered; a call that has returned is over. */
  #led(from: string): ReadonlySet<string> {
    return this.#reach([from], ({ edge_id, target }) =>
      this.#called.has(target) ? this.#calls.has(edge_id) : this.#fired.has(edge_id),
    )
  }

  #reach(from: readonly string[], isTaken: (edge: FlowEdge) => boolean): ReadonlySet<string> {
    const seen = new Set(from)
    for (const one of seen) {
      for (const check of this.#checks.get(one) ?? []) seen.add(check)
      for (const way of this.#from.get(one) ?? [])
        if (!BACK.has(way.class) && !this.#serves(way) && isTaken(way)) seen.add(way.target)
    }
    return seen
  }

  /** A goal is reached through its alternatives: it does not lead to them. */
  #serves({ source, group_id, class: sort }: FlowEdge): boolean {
    return sort === 'Decision' && group_id !== undefined && this.#goals.has(source)
  }

  /**
   * Goals on the ways taken, and on the ways from where none was taken, that are not done. An alternative
   * that another one won over is abandoned (F-12): it is missed only if none of the goals that it leads to is
   * done.
   */
  missed(host: Host): readonly string[] {
    const { nodes } = host.flow.document
    const starts = host.flow.starts.map((index) => nodes[index]?.node_id ?? '')
    const isLeft = (id: string): boolean =>
      (this.#from.get(id) ?? []).some(({ edge_id }) => this.#fired.has(edge_id))
    const goals = this.#goals
    const isDone = (id: string): boolean =>
      this.#statuses.get(id) === 'done' && !this.#behind.has(id)
    // Work that left by a way out, its own or that of a CHECK, and came to a goal there, is not led on.
    const isOut = (work: string): boolean =>
      [work, ...(this.#checks.get(work) ?? [])]
        .flatMap((one) => this.#from.get(one) ?? [])
        .some(
          ({ edge_id, target, class: sort }) =>
            sort === 'Exception' &&
            this.#fired.has(edge_id) &&
            [...this.#reach([target], (way) => this.#fired.has(way.edge_id))].some(
              (one) => goals.has(one) && isDone(one),
            ),
        )
    const works = new Map(nodes.map(({ node_id, target }) => [node_id, target ?? '']))
    const reached = this.#reach(starts, ({ edge_id, source, class: sort }) => {
      if (this.#statuses.get(source) === 'abandoned') return false
      if (!this.#fired.has(edge_id) && isOut(works.get(source) ?? '')) return false
      const judges = this.#checks.get(source) ?? []
      if (isLeft(source) || judges.some(isLeft)) return this.#fired.has(edge_id)
      return ON.has(sort)
    })
    const isWonOver = (id: string): boolean =>
      this.#statuses.get(id) === 'abandoned' &&
      [...this.#reach([id], (way) => ON.has(way.class))].some(
        (one) => goals.has(one) && isDone(one),
      )
    return [...goals].filter((id) => reached.has(id) && !isDone(id) && !isWonOver(id) && !isOut(id))
  }
}

/** What participants do: some attempts fail, and some reviews reject. */
export function dice(failing: number, low: number): Script {
  return (id, attempt) => ({
    outcome: (attempt + id.charCodeAt(1)) % 7 === failing ? 'failed' : 'ended',
    score: (attempt + id.charCodeAt(1)) % 7 === low ? 40 : 95,
    stage: `${id} ${attempt}`,
  })
}

/** Holds a walk against the laws; returns it. */
export function judge(host: Host): Walk {
  const { status, flow, facts, state } = host
  const walk = new Walk(host)
  expect(walk.broken).toEqual([])
  expect(wrongEnds(host)).toEqual([])
  if (status === 'DONE') expect(walk.missed(host)).toEqual([])
  if (status === 'BLOCKED' || status === 'WAITING') {
    const stops = stopsOf({ flow, facts, state, waiting: host.open })
    expect([host.findings.length > 0, stops.length > 0]).toEqual([true, true])
    for (const { next } of stops) expect(next).not.toEqual([])
  }
  host.verify()
  return walk
}

/**
 * Phases that end twice without an entry in between, and reviews by a called CHECK of work whose phase had
 * ended.
 */
function wrongEnds({ facts, flow }: Host): readonly string[] {
  const phases = new Map(flow.nodes.map(({ nodeId, document }) => [nodeId, document.phase_id]))
  const ended = new Set<string>()
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1') return []
    if (payload.kind === 'entered') ended.delete(phases.get(payload.node_id) ?? '')
    if (payload.kind === 'reviewed' && payload.check_id === 'k')
      return ended.has(phases.get(payload.node_id) ?? '')
        ? [`k judges ${payload.node_id} after its phase`]
        : []
    if (payload.kind !== 'phase_ended') return []
    const isAgain = ended.has(payload.phase_id)
    ended.add(payload.phase_id)
    return isAgain ? [`${payload.phase_id} ends again`] : []
  })
}
