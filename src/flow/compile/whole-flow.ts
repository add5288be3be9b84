/**
 * A compiled flow as one object. Every step reads it many times: it is a class because an object that
 * has getters of its own is kept as a table of names by the engine, and each reading of it looked up.
 */
import type { Digest } from '../../base/index.ts'
import type { Flow } from '../../contracts/index.ts'
import type { KnownLists, LaidFlow } from '../map/lay-out.ts'
import type { MapItem } from '../map/placeholders.ts'
import type {
  CalledNode,
  CompiledEdge,
  CompiledFlow,
  CompiledInvariant,
  CompiledMap,
  CompiledNode,
  CompiledSpan,
} from './compiled-flow.ts'
import type { NodeNames, NodesRead } from './node-places.ts'

/** What was compiled: the flow as written, with its digest, and as it is walked. */
interface WrittenFlow {
  readonly base: Flow
  readonly digest: Digest
  readonly lists: KnownLists
  readonly laid: LaidFlow
}

export class WholeFlow implements CompiledFlow {
  readonly document: Flow
  readonly base: Flow
  readonly lists: KnownLists
  readonly maps: readonly CompiledMap[]
  readonly items: ReadonlyMap<number, MapItem>
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
    { base, digest, lists, laid }: WrittenFlow,
    { names, phases, subphases }: NodesRead,
    nodes: readonly CompiledNode[],
    edges: readonly CompiledEdge[],
    invariants: readonly CompiledInvariant[],
    starts: readonly number[],
    callNodes: readonly CalledNode[],
  ) {
    this.document = laid.document
    this.base = base
    this.digest = digest
    this.lists = lists
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
    this.maps = laid.maps.length === 0 ? [] : mapsOf(laid, this)
    this.items = laid.maps.length === 0 ? NO_ITEMS : itemsOf(laid, this)
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

const NO_ITEMS: ReadonlyMap<number, MapItem> = new Map()

function mapsOf({ maps }: LaidFlow, flow: CompiledFlow): readonly CompiledMap[] {
  const at = (id: string): number => flow.nodeIndex.get(id) ?? -1
  return maps.map(({ nodeId, begin, map: document, count, items, followers }) => ({
    nodeId,
    begin: at(begin),
    join: at(nodeId),
    document,
    count,
    items: items.map(({ edge, last, nodes }) => ({
      edge: flow.edgeById.get(edge)?.index ?? -1,
      last: at(last),
      // A map inside the item has put others in the places of some.
      nodes: nodes.map(at).filter((node) => node !== -1),
    })),
    followers: followers.map(at),
  }))
}

function itemsOf({ items }: LaidFlow, { nodeIndex }: CompiledFlow): ReadonlyMap<number, MapItem> {
  return new Map([...items].map(([id, item]) => [nodeIndex.get(id) ?? -1, item]))
}

function indexByName(spans: readonly CompiledSpan[]): ReadonlyMap<string, number> {
  return new Map(spans.map(({ name, index }) => [name, index]))
}
