/**
 * Where the edges of a flow begin and end, and what there is among the edges at each node. Noted while
 * the edges are compiled, because a large flow does not fit in the processor's caches and going
 * through its edges once more costs.
 */
import type { CompiledEdge } from './compiled-flow.ts'
import { NONE } from './parts.ts'

/** What may be found among the edges at a node. */
export const MARK = {
  /** Leads out of the phase. */
  LEAVING: 1,
  /** A Decision among the ways. */
  DECISION: 2,
  /** An edge to one of several alternatives. */
  CHOICE: 4,
  /** Its guard goes by a file of evidence. */
  EVIDENCE: 8,
  /** Is not tried when its source is done, or leads out of the phase. */
  NOT_WITHIN: 16,
  /** Leads from another node on to this one, or out of a failure. */
  LED_TO: 32,
  /** One edge that any of is enough. */
  ONE: 64,
  /** More of these, or edges that are waited for together. */
  GATHERED: 128,
} as const

export class EdgeEnds {
  readonly sources: Int32Array
  readonly targets: Int32Array
  readonly #out: Uint8Array
  readonly #in: Uint8Array

  constructor(nodes: number, edges: number) {
    this.sources = new Int32Array(edges)
    this.targets = new Int32Array(edges)
    this.#out = new Uint8Array(nodes)
    this.#in = new Uint8Array(nodes)
  }

  add(edge: CompiledEdge): void {
    const { source, target, index } = edge
    const marks = marksOf(edge)
    const isFurther = edge.arrival === 'other' && ((this.#in[target] ?? 0) & MARK.ONE) !== 0
    this.sources[index] = source
    this.targets[index] = target
    this.#out[source] = (this.#out[source] ?? 0) | marks
    this.#in[target] = (this.#in[target] ?? 0) | marks | (isFurther ? MARK.GATHERED : 0)
  }

  /** Whether some edge from this node has one of these marks. */
  leavesBy(node: number, marks: number): boolean {
    return ((this.#out[node] ?? 0) & marks) !== 0
  }

  isReachedBy(node: number, marks: number): boolean {
    return ((this.#in[node] ?? 0) & marks) !== 0
  }
}

function marksOf(edge: CompiledEdge): number {
  const { document, source, target, arrival, isLeaving } = edge
  const isWay = isTried(edge)
  const isLeadingOn = source !== target && (edge.isForward || document.class === 'Exception')
  return (
    (isLeaving ? MARK.LEAVING : 0) |
    (isWay && document.class === 'Decision' ? MARK.DECISION : 0) |
    (isChoice(edge) ? MARK.CHOICE : 0) |
    (document.guard_evidence_source === undefined ? 0 : MARK.EVIDENCE) |
    (isWay && !isLeaving && !edge.isCall ? 0 : MARK.NOT_WITHIN) |
    (isLeadingOn ? MARK.LED_TO : 0) |
    (arrival === null ? 0 : arrival === 'other' ? MARK.ONE : MARK.GATHERED)
  )
}

/** Whether an edge is tried when its source is done. */
export function isTried(edge: CompiledEdge): boolean {
  const { class: sort } = edge.document
  return sort !== 'Exception' && sort !== 'Meta' && !edge.isReview && !isChoice(edge)
}

function isChoice({ document }: CompiledEdge): boolean {
  return document.class === 'Decision' && document.group_id !== undefined
}

/** The edges of each node, by source or by target, in the order of the document. Sorts on first use. */
export class EdgesByNode {
  readonly #count: number
  readonly #edges: readonly CompiledEdge[]
  readonly #ends: Int32Array
  #sorted: SortedEdges | null = null

  constructor(count: number, edges: readonly CompiledEdge[], ends: Int32Array) {
    this.#count = count
    this.#edges = edges
    this.#ends = ends
  }

  of(node: number): readonly CompiledEdge[] {
    this.#sorted ??= sortEdges(this.#count, this.#edges, this.#ends)
    const { edges, begins } = this.#sorted
    const begin = begins[node] ?? 0
    const end = begins[node + 1] ?? 0
    return begin === end ? NONE : edges.slice(begin, end)
  }
}

interface SortedEdges {
  readonly edges: readonly CompiledEdge[]
  /** By node, and one more: where its edges begin. */
  readonly begins: Int32Array
}

function sortEdges(count: number, edges: readonly CompiledEdge[], ends: Int32Array): SortedEdges {
  const begins = new Int32Array(count + 1)
  let isSorted = true
  let last = 0
  for (const node of ends) {
    begins[node] = (begins[node] ?? 0) + 1
    if (node < last) isSorted = false
    last = node
  }
  // Turns the counts into the end of each node's range. The loop below fills each range backwards,
  // so that each end becomes a beginning.
  let sum = 0
  for (let node = 0; node <= count; node++) {
    sum += begins[node] ?? 0
    begins[node] = sum
  }
  const sorted = isSorted ? null : edges.slice()
  for (let index = edges.length - 1; index >= 0; index--) {
    const node = ends[index] ?? 0
    const place = (begins[node] ?? 0) - 1
    begins[node] = place
    // `index` counts down within `edges`.
    if (sorted !== null) sorted[place] = edges[index] as CompiledEdge
  }
  return { edges: sorted ?? edges, begins }
}
