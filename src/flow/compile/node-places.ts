/**
 * The nodes of a flow by name, with the phase, the sub-phase and the target of each. One walk over the
 * nodes finds all of it: a large flow does not fit in the processor's caches, so each walk is slow.
 */
import type { FlowNode } from '../../contracts/index.ts'
import type { CompiledSpan } from './compiled-flow.ts'

/** By node; -1 for none. */
export interface NodePlaces {
  readonly phases: Int32Array
  readonly subphases: Int32Array
  /** The node that is named as a target, and the same for CHECK nodes alone. */
  readonly targets: Int32Array
  readonly judged: Int32Array
}

export interface NodesRead {
  readonly names: NodeNames
  readonly phases: readonly CompiledSpan[]
  readonly subphases: readonly CompiledSpan[]
  readonly places: NodePlaces
}

export function readNodes(nodes: readonly FlowNode[]): NodesRead {
  const names = new NodeNames(nodes)
  const [phases, subphases] = [new Spans(nodes.length), new Spans(nodes.length)]
  const aiming: number[] = []
  nodes.forEach((node, index) => {
    phases.add(node.phase_id, index, node)
    if (node.subphase_id !== undefined) subphases.add(node.subphase_id, index, node)
    if (node.target !== undefined) aiming.push(index)
  })
  const targets = new Int32Array(nodes.length).fill(-1)
  const judged = new Int32Array(nodes.length).fill(-1)
  for (const index of aiming) {
    // `aiming` holds indexes of `nodes`.
    const { target = '', kind } = nodes[index] as FlowNode
    const place = names.index.get(target) ?? -1
    targets[index] = place
    if (kind === 'CHECK') judged[index] = place
  }
  const places = { phases: phases.places, subphases: subphases.places, targets, judged }
  return { names, phases: phases.spans, subphases: subphases.spans, places }
}

/** Nodes by name. Builds the index on first use: most flows name nodes in order and need none. */
export class NodeNames {
  readonly #nodes: readonly FlowNode[]
  #index: Map<string, number> | null = null

  constructor(nodes: readonly FlowNode[]) {
    this.#nodes = nodes
  }

  get index(): ReadonlyMap<string, number> {
    this.#index ??= new Map(this.#nodes.map(({ node_id }, index) => [node_id, index]))
    return this.#index
  }

  /** Returns the index of a node. Tries the node at `last` and the one after it first. */
  near(name: string, last: number): number {
    const nodes = this.#nodes
    if (nodes[last]?.node_id === name) return last
    if (nodes[last + 1]?.node_id === name) return last + 1
    return this.index.get(name) ?? 0
  }
}

/** A span that nodes are still added to. */
interface OpenSpan {
  readonly index: number
  readonly name: string
  readonly nodes: number[]
  minimumDuration: number
}

/** Phases or sub-phases, in the order in which they are first named. */
class Spans {
  readonly spans: OpenSpan[] = []
  readonly places: Int32Array
  readonly #known = new Map<string, OpenSpan>()
  /** Nodes of one span most often stand together. */
  #last: OpenSpan = NO_SPAN

  constructor(count: number) {
    this.places = new Int32Array(count).fill(-1)
  }

  add(name: string, node: number, { minimum_duration }: FlowNode): void {
    if (this.#last.name !== name || this.#last === NO_SPAN) this.#last = this.#spanOf(name)
    this.#last.nodes.push(node)
    this.#last.minimumDuration += minimum_duration ?? 0
    this.places[node] = this.#last.index
  }

  #spanOf(name: string): OpenSpan {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const index = this.spans.length
    const span: OpenSpan = { index, name, nodes: [], minimumDuration: 0 }
    this.#known.set(name, span)
    this.spans.push(span)
    return span
  }
}

const NO_SPAN: OpenSpan = { index: -1, name: '', nodes: [], minimumDuration: 0 }
