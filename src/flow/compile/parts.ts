/**
 * The nodes and edges of a compiled flow, kept small: a large flow has many, walking it reads all of
 * them, and what does not fit in the processor's caches is what that costs. What parts that are alike
 * have in common is kept once, as their sort.
 */
import type { Digest } from '../../base/index.ts'
import type { FlowEdge, FlowNode } from '../../contracts/index.ts'
import type { Expression } from '../../expression/index.ts'
import type { Policy } from '../../policy/index.ts'
import type {
  Arrival,
  Awaited,
  CompiledEdge,
  CompiledInvariant,
  CompiledNode,
} from './compiled-flow.ts'
import type { EdgesByNode } from './edge-ends.ts'

/** One list for all that have none: most nodes and edges of a large flow have few of anything. */
export const NONE: readonly never[] = Object.freeze([])

/** What is judged at an edge; edges that name nothing of their own have the same. */
export interface EdgeRules {
  readonly policies: readonly Policy[]
  readonly invariants: readonly CompiledInvariant[]
}

/** All of an edge but its name and its ends; edges that are alike share one. */
type EdgeSort = EdgeRules & Omit<CompiledEdge, 'index' | 'edgeId' | 'document' | End>
type End = 'source' | 'target'

export class EdgePart implements CompiledEdge {
  readonly document: FlowEdge
  readonly edgeId: string
  readonly index: number
  readonly source: number
  readonly target: number
  readonly #sort: EdgeSort

  constructor(index: number, document: FlowEdge, source: number, target: number, sort: EdgeSort) {
    this.document = document
    this.edgeId = document.edge_id
    this.index = index
    this.source = source
    this.target = target
    this.#sort = sort
  }

  get guard(): Expression | null {
    return this.#sort.guard
  }

  get isGuardPlain(): boolean {
    return this.#sort.isGuardPlain
  }

  get isFree(): boolean {
    return this.#sort.isFree
  }

  get policies(): readonly Policy[] {
    return this.#sort.policies
  }

  get invariants(): readonly CompiledInvariant[] {
    return this.#sort.invariants
  }

  get isLeaving(): boolean {
    return this.#sort.isLeaving
  }

  get isReview(): boolean {
    return this.#sort.isReview
  }

  get isForward(): boolean {
    return this.#sort.isForward
  }

  get isBack(): boolean {
    return this.#sort.isBack
  }

  get isCall(): boolean {
    return this.#sort.isCall
  }

  get arrival(): Arrival | null {
    return this.#sort.arrival
  }
}

/** Keeps one of those that are alike, of as many as are worth looking through. */
export class Sorts<T> {
  readonly #isAlike: (one: T, other: T) => boolean
  readonly #known: T[] = []

  constructor(isAlike: (one: T, other: T) => boolean) {
    this.#isAlike = isAlike
  }

  /** One that is like this one, or this one. */
  of(sort: T): T {
    for (const known of this.#known) if (this.#isAlike(known, sort)) return known
    if (this.#known.length < SORTS_KEPT) this.#known.push(sort)
    return sort
  }
}

const SORTS_KEPT = 16

export function areEdgesAlike(one: EdgeSort, other: EdgeSort): boolean {
  return (
    one.guard === other.guard &&
    one.isGuardPlain === other.isGuardPlain &&
    one.isFree === other.isFree &&
    one.policies === other.policies &&
    one.invariants === other.invariants &&
    one.isLeaving === other.isLeaving &&
    one.isReview === other.isReview &&
    one.isForward === other.isForward &&
    one.isBack === other.isBack &&
    one.isCall === other.isCall &&
    one.arrival === other.arrival
  )
}

export function areNodesAlike(one: NodeSort, other: NodeSort): boolean {
  return (
    one.phase === other.phase &&
    one.subphase === other.subphase &&
    one.target === other.target &&
    one.awaits === other.awaits &&
    one.checks === other.checks &&
    one.firstChecks === other.firstChecks &&
    one.isStandIn === other.isStandIn &&
    one.participant === other.participant &&
    one.ways === other.ways &&
    one.isBare === other.isBare &&
    one.isAtBorder === other.isAtBorder &&
    one.hasDecision === other.hasDecision &&
    one.isJudgedLate === other.isJudgedLate &&
    one.hasChoice === other.hasChoice &&
    one.isCandidate === other.isCandidate &&
    one.readsEvidence === other.readsEvidence
  )
}

/** All of a node but its name and where it leads; nodes that are alike share one. */
export interface NodeSort
  extends Omit<CompiledNode, 'index' | 'nodeId' | 'document' | 'outgoing' | 'incoming' | Ways> {
  /** Null when all outgoing edges are ways within the phase. */
  readonly ways: Pick<CompiledNode, Ways> | null
  readonly arriving: EdgesByNode
}
type Ways = 'waysWithin' | 'waysOut' | 'calls' | 'callsLate'

export class NodePart implements CompiledNode {
  readonly document: FlowNode
  readonly nodeId: string
  readonly index: number
  readonly outgoing: readonly CompiledEdge[]
  readonly #sort: NodeSort

  constructor(
    index: number,
    document: FlowNode,
    outgoing: readonly CompiledEdge[],
    sort: NodeSort,
  ) {
    this.document = document
    this.nodeId = document.node_id
    this.index = index
    this.outgoing = outgoing
    this.#sort = sort
  }

  /** Slices the sorted edges on each call: only nodes with a participant or alternatives need it. */
  get incoming(): readonly CompiledEdge[] {
    return this.#sort.arriving.of(this.index)
  }

  get waysWithin(): readonly CompiledEdge[] {
    return this.#sort.ways === null ? this.outgoing : this.#sort.ways.waysWithin
  }

  get waysOut(): readonly CompiledEdge[] {
    return this.#sort.ways === null ? NONE : this.#sort.ways.waysOut
  }

  get calls(): readonly CompiledEdge[] {
    return this.#sort.ways === null ? NONE : this.#sort.ways.calls
  }

  get callsLate(): boolean {
    return this.#sort.ways?.callsLate === true
  }

  get phase(): number {
    return this.#sort.phase
  }

  get subphase(): number {
    return this.#sort.subphase
  }

  get firstChecks(): readonly number[] {
    return this.#sort.firstChecks
  }

  get isStandIn(): boolean {
    return this.#sort.isStandIn
  }

  get target(): number {
    return this.#sort.target
  }

  get awaits(): Awaited {
    return this.#sort.awaits
  }

  get checks(): readonly number[] {
    return this.#sort.checks
  }

  get participant(): Digest | null {
    return this.#sort.participant
  }

  get isBare(): boolean {
    return this.#sort.isBare
  }

  get isAtBorder(): boolean {
    return this.#sort.isAtBorder
  }

  get hasDecision(): boolean {
    return this.#sort.hasDecision
  }

  get isJudgedLate(): boolean {
    return this.#sort.isJudgedLate
  }

  get hasChoice(): boolean {
    return this.#sort.hasChoice
  }

  get isCandidate(): boolean {
    return this.#sort.isCandidate
  }

  get readsEvidence(): boolean {
    return this.#sort.readsEvidence
  }
}
