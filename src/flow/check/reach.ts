/**
 * Which nodes a run can come to. `reached` asks only whether some way leads there; `entered` also
 * waits, as a run does, for every Sync source and every joined way, and takes all guards for open.
 * Linear: each node is entered once, each edge counted once.
 */
import {
  eachAt,
  edgeAt,
  type Graph,
  isChoice,
  isReview,
  leadsBack,
  leadsOn,
  listAt,
  nodeAt,
  someAt,
} from './graph.ts'

export interface Reach {
  /** Nodes that a run begins with. */
  readonly starts: readonly number[]
  /** By node: 1 when some way from a start leads there. */
  readonly reached: Uint8Array
  /** By node: 1 when it can be reached without a failure on the way. */
  readonly unfailing: Uint8Array
  /** By node: 1 when all that it waits for can come. */
  readonly entered: Uint8Array
  /** By node: how many ways have come to it. */
  readonly arrived: Int32Array
}

export function reachOf(graph: Graph): Reach {
  const starts = startsOf(graph)
  const seeds = [...starts, ...openChoices(graph)]
  const waiting = new WaitCounts(graph)
  return {
    starts,
    reached: flood(graph, seeds, true),
    unfailing: flood(graph, seeds, false),
    entered: waiting.run(seeds),
    arrived: waiting.arrived,
  }
}

/** Nothing leads there but ways back and remarks; the first node when there is no such node. */
function startsOf(graph: Graph): readonly number[] {
  const starts: number[] = []
  let hasChoice = false
  for (let node = 0; node < graph.nodes.length; node++) {
    if (isGoalWithChoice(graph, node)) hasChoice = true
    if (graph.judged[node] === -1 && !someAt(graph.incoming, node, comesFirst)) starts.push(node)
  }
  if (starts.length === 0 && graph.nodes.length > 0 && !hasChoice) return [0]
  return starts

  function comesFirst(edge: number): boolean {
    const document = edgeAt(graph, edge)
    if (graph.source[edge] === graph.target[edge]) return false
    return leadsOn(document) || document.class === 'Exception'
  }
}

function isGoalWithChoice(graph: Graph, node: number): boolean {
  if (nodeAt(graph, node).kind !== 'GOAL') return false
  return someAt(graph.outgoing, node, (edge) => isChoice(edgeAt(graph, edge)))
}

/** A goal is reached through its alternatives, so they cannot wait for it. */
function openChoices(graph: Graph): readonly number[] {
  const candidates: number[] = []
  for (let node = 0; node < graph.nodes.length; node++) {
    if (!isGoalWithChoice(graph, node)) continue
    for (const edge of listAt(graph.outgoing, node)) {
      if (isChoice(edgeAt(graph, edge))) candidates.push(graph.target[edge] ?? 0)
    }
  }
  return candidates
}

function flood(graph: Graph, seeds: readonly number[], withFailures: boolean): Uint8Array {
  const seen = new Uint8Array(graph.nodes.length)
  const open: number[] = []
  const visit = (node: number): void => {
    if (seen[node] === 1) return
    seen[node] = 1
    open.push(node)
  }
  const follow = (edge: number): void => {
    const { class: kind } = edgeAt(graph, edge)
    if (kind === 'Meta' || (kind === 'Exception' && !withFailures)) return
    visit(graph.target[edge] ?? 0)
  }
  for (const seed of seeds) visit(seed)
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    eachAt(graph.checks, node, visit)
    eachAt(graph.outgoing, node, follow)
  }
  return seen
}

/** What every node still waits for, as the runtime counts it. */
class WaitCounts {
  readonly arrived: Int32Array
  readonly #graph: Graph
  readonly #entered: Uint8Array
  readonly #open: number[] = []
  /** By node: Sync edges and joined edges that have not come yet; ways of which one is enough. */
  readonly #syncs: Int32Array
  readonly #joins: Int32Array
  readonly #others: Int32Array
  readonly #hasReached: Uint8Array
  readonly #hasJoins: Uint8Array

  constructor(graph: Graph) {
    const count = graph.nodes.length
    this.#graph = graph
    this.#entered = new Uint8Array(count)
    this.arrived = new Int32Array(count)
    this.#syncs = new Int32Array(count)
    this.#joins = new Int32Array(count)
    this.#others = new Int32Array(count)
    this.#hasReached = new Uint8Array(count)
    this.#hasJoins = new Uint8Array(count)
    for (let node = 0; node < count; node++) this.#count(node)
  }

  #count(node: number): void {
    let syncs = 0
    let isAny = false
    for (const edge of listAt(this.#graph.incoming, node)) {
      const document = edgeAt(this.#graph, edge)
      const sort = sortOf(this.#graph, edge)
      if (sort === 'sync') {
        syncs++
        isAny ||= document.join === 'OR'
      }
      if (sort === 'join') {
        this.#joins[node] = (this.#joins[node] ?? 0) + 1
        this.#hasJoins[node] = 1
      }
      if (sort === 'other' && document.class !== 'Exception')
        this.#others[node] = (this.#others[node] ?? 0) + 1
    }
    this.#syncs[node] = isAny ? Math.min(syncs, 1) : syncs
  }

  run(seeds: readonly number[]): Uint8Array {
    for (const seed of seeds) this.#enter(seed)
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) {
      eachAt(this.#graph.checks, node, (check) => this.#enterCheck(check))
      eachAt(this.#graph.outgoing, node, (edge) => this.#follow(edge))
    }
    return this.#entered
  }

  #enter(node: number): void {
    if (this.#entered[node] === 1) return
    this.#entered[node] = 1
    this.#open.push(node)
  }

  /** A CHECK that nothing else leads to is entered with what it judges. */
  #enterCheck(check: number): void {
    const isLate = someAt(
      this.#graph.incoming,
      check,
      (edge) => leadsOn(edgeAt(this.#graph, edge)) && !isReview(this.#graph, edge),
    )
    if (!isLate) this.#enter(check)
  }

  #follow(edge: number): void {
    const node = this.#graph.target[edge] ?? 0
    const document = edgeAt(this.#graph, edge)
    if (leadsBack(document) || isChoice(document)) return this.#enter(node)
    const sort = sortOf(this.#graph, edge)
    if (sort === null) return
    this.arrived[node] = (this.arrived[node] ?? 0) + 1
    if (sort === 'sync') this.#syncs[node] = (this.#syncs[node] ?? 0) - 1
    if (sort === 'join') this.#joins[node] = (this.#joins[node] ?? 0) - 1
    if (sort === 'other') this.#hasReached[node] = 1
    if (document.class === 'Exception') return this.#enter(node)
    if (this.#isReady(node)) this.#enter(node)
  }

  #isReady(node: number): boolean {
    if ((this.#syncs[node] ?? 0) > 0) return false
    if (this.#hasReached[node] === 1) return true
    if (this.#hasJoins[node] === 0) return (this.#others[node] ?? 0) === 0
    return (this.#joins[node] ?? 0) === 0
  }
}

/** How an edge counts among those that its target waits for. */
function sortOf(graph: Graph, edge: number): 'sync' | 'join' | 'other' | null {
  const document = edgeAt(graph, edge)
  if (document.class === 'Sync') return 'sync'
  if (document.class === 'Exception') return 'other'
  if (!leadsOn(document)) return null
  return document.join === 'AND' ? 'join' : 'other'
}
