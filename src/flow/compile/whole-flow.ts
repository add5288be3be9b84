/**
 * A compiled flow as one object. Every step reads it many times: it is a class because an object that
 * has getters of its own is kept as a table of names by the engine, and each reading of it looked up.
 */
import type { Digest } from '../../base/index.ts'
import type { Flow } from '../../contracts/index.ts'
import type {
  CalledNode,
  CompiledEdge,
  CompiledFlow,
  CompiledInvariant,
  CompiledNode,
  CompiledSpan,
} from './compiled-flow.ts'
import type { NodeNames, NodesRead } from './node-places.ts'

export class WholeFlow implements CompiledFlow {
  readonly document: Flow
  readonly digest: Digest
  readonly nodes: readonly CompiledNode[]
  readonly edges: readonly CompiledEdge[]
  readonly phaseIndex: ReadonlyMap<string, number>
  readonly subphaseIndex: ReadonlyMap<string, number>
  readonly phases: readonly CompiledSpan[]
  readonly subphases: readonly CompiledSpan[]
  readonly minimumDuration: number
  readonly invariants: readonly CompiledInvariant[]
  readonly periodic: readonly CompiledInvariant[]
  readonly starts: readonly number[]
  readonly callNodes: readonly CalledNode[]
  readonly #names: NodeNames
  #edgeById: ReadonlyMap<string, CompiledEdge> | null = null

  constructor(
    document: Flow,
    digest: Digest,
    { names, phases, subphases }: NodesRead,
    nodes: readonly CompiledNode[],
    edges: readonly CompiledEdge[],
    invariants: readonly CompiledInvariant[],
    starts: readonly number[],
    callNodes: readonly CalledNode[],
  ) {
    this.document = document
    this.digest = digest
    this.nodes = nodes
    this.edges = edges
    this.phaseIndex = indexByName(phases)
    this.subphaseIndex = indexByName(subphases)
    this.phases = phases
    this.subphases = subphases
    this.minimumDuration = phases.reduce((sum, { minimumDuration }) => sum + minimumDuration, 0)
    this.invariants = invariants
    this.periodic = invariants.filter(
      ({ isNamed, document: { check_timing } }) => !isNamed && check_timing === 'periodic',
    )
    this.starts = starts
    this.callNodes = callNodes
    this.#names = names
  }

  /** Built on first use, as `edgeById` is: steps use indexes, and only events and facts hold names. */
  get nodeIndex(): ReadonlyMap<string, number> {
    return this.#names.index
  }

  get edgeById(): ReadonlyMap<string, CompiledEdge> {
    this.#edgeById ??= new Map(this.edges.map((edge) => [edge.edgeId, edge]))
    return this.#edgeById
  }
}

function indexByName(spans: readonly CompiledSpan[]): ReadonlyMap<string, number> {
  return new Map(spans.map(({ name, index }) => [name, index]))
}
