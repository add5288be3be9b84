/**
 * Maps (X-3a): a node that runs once for each item of a list. The flow that is walked has a node for each item
 * in the place of the mapped one, so that attempts, reviews, stages and what people say are of one item.
 *
 * `X` becomes `X/begin`, which reads the list; `X/1`, `X/2`, …, one for each item, with the nodes of its
 * sub-flow below; and `X` itself, which waits for all of them. A CHECK `C` of `X` becomes `C/1`, `C/2`,
 * …, and `C`, which follows `X`. Before the list is known there is `X/each` in the place of the items.
 */
import type { Flow, FlowEdge, FlowNode, ListFault, NodeMap } from '../../contracts/index.ts'
import { listFault } from '../../contracts/index.ts'
import { ItemOutputs } from './item-outputs.ts'
import { hasPlaceholder, ItemWords, labelOf, type MapItem, unfilled } from './placeholders.ts'

/** The items that a list has had, by place; those after `count` are of an earlier and longer list. */
export interface KnownList {
  readonly count: number
  readonly items: readonly unknown[]
}

/** By mapped node. */
export type KnownLists = ReadonlyMap<string, KnownList>

export const NO_LISTS: KnownLists = new Map()

/** The parts of a map in the flow that is walked, by name. */
interface MapPlan {
  readonly nodeId: string
  readonly begin: string
  readonly map: NodeMap
  /** Null until the list is known. */
  readonly count: number | null
  readonly items: readonly ItemPlan[]
  /** What follows the node in the places of its CHECK nodes. */
  readonly followers: readonly string[]
}

interface ItemPlan {
  /** The edge from `X/begin`, and the node that ends the item. */
  readonly edge: string
  readonly last: string
  readonly nodes: readonly string[]
}

export interface LaidFlow {
  readonly document: Flow
  readonly maps: readonly MapPlan[]
  /** By node. */
  readonly items: ReadonlyMap<string, MapItem>
  /** The first item that the texts of its node cannot be filled with. */
  readonly fault: LaidFault | null
  /** The first two items that would write the same file. */
  readonly collision: LaidFault | null
}

interface LaidFault {
  readonly nodeId: string
  readonly fault: ListFault
}

/** More nodes than this are refused: lists inside lists multiply. */
const LAID_NODES_MAX = 20_000

export function layOut(base: Flow, lists: KnownLists, rules: number): LaidFlow {
  const laid = new Layout(base, rules)
  for (let node = laid.nextMapped(); node !== undefined; node = laid.nextMapped()) {
    laid.spread(node, lists.get(node.node_id) ?? literalList(node.map))
    if (laid.document.nodes.length > LAID_NODES_MAX) {
      const message = `the flow would have more than ${LAID_NODES_MAX} nodes`
      laid.fault ??= { nodeId: node.node_id, fault: { problem: 'too_many', index: null, message } }
      break
    }
  }
  return laid
}

function literalList({ items }: NodeMap): KnownList | null {
  if (items === undefined) return null
  return listFault(items) === null ? { count: items.length, items } : { count: 0, items: [] }
}

type MappedNode = FlowNode & { readonly map: NodeMap }

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])

class Layout implements LaidFlow {
  document: Flow
  readonly maps: MapPlan[] = []
  readonly items = new Map<string, MapItem>()
  fault: LaidFault | null = null
  collision: LaidFault | null = null
  readonly #outputs = new ItemOutputs()

  readonly #rules: number

  constructor(base: Flow, rules: number) {
    this.document = base
    this.#rules = rules
  }

  nextMapped(): MappedNode | undefined {
    const { nodes } = this.document
    const mapped = nodes.filter((node): node is MappedNode => node.map !== undefined)
    // A map inside another one is laid out with the items of that one.
    return mapped.find(
      ({ node_id }) => !mapped.some((other) => node_id.startsWith(`${other.node_id}/`)),
    )
  }

  spread(node: MappedNode, list: KnownList | null): void {
    const parts = new MapParts(this.document, node, this.#rules)
    const keys = list === null ? [EACH] : list.items.map((_, place) => String(place + 1))
    const copies = keys.map((key, place) =>
      this.#copy(
        parts,
        key,
        list === null ? null : itemAt(list, place, this.items.get(node.node_id)),
      ),
    )
    const { nodes, edges, claims } = this.document
    const inPlace = (id: string): readonly FlowNode[] => copies.flatMap((copy) => copy.of(id))
    this.document = {
      ...this.document,
      nodes: nodes.flatMap((one) => {
        if (one.node_id === node.node_id)
          return [parts.begin(), ...copies.flatMap((copy) => copy.inner), joinOf(one)]
        if (parts.judges.has(one.node_id)) return [...inPlace(one.node_id), joinOf(one)]
        return parts.isInside(one.node_id) ? [] : [one]
      }),
      edges: [
        ...edges.flatMap((edge) => parts.keptEdge(edge)),
        ...copies.flatMap((copy) => copy.edges),
        ...parts.joins(keys, list),
      ],
      ...(claims === undefined
        ? {}
        : { claims: claims.flatMap((claim) => parts.claimCopies(claim, keys)) }),
    }
    this.maps.push({
      nodeId: node.node_id,
      begin: parts.beginId,
      map: node.map,
      count: list?.count ?? null,
      followers: [...parts.judges],
      items: keys.map((key, place) => ({
        edge: parts.entryEdge(key),
        last: parts.rename(key)(node.node_id),
        nodes: copies[place]?.ids ?? [],
      })),
    })
  }

  #copy(parts: MapParts, key: string, item: MapItem | null) {
    const rename = parts.rename(key)
    const filling = item === null ? null : new ItemWords(item)
    const made = parts.region.map((one) => ({
      from: one.node_id,
      source: one,
      node: copyNode(one, parts, rename, filling, item),
    }))
    const { node_id: nodeId } = parts.node
    for (const { source, node } of made) {
      if (item === null) continue
      this.items.set(node.node_id, item)
      this.#outputs.add(nodeId, item, source, node)
    }
    if (filling?.fault) this.fault ??= { nodeId, fault: filling.fault }
    const { fault } = this.#outputs
    if (fault !== null) this.collision ??= { nodeId, fault }
    return {
      ids: made.map(({ node }) => node.node_id),
      inner: made.flatMap(({ from, node }) => (parts.judges.has(from) ? [] : [node])),
      of: (id: string) => made.flatMap(({ from, node }) => (from === id ? [node] : [])),
      edges: parts.innerEdges.map((edge) => copyEdge(edge, key, rename)),
    }
  }
}

const EACH = 'each'

function itemAt({ count, items }: KnownList, place: number, outer: MapItem | undefined): MapItem {
  const item = { index: place + 1, count, item: items[place] }
  return outer === undefined ? item : { ...item, outer }
}

/** What of a flow belongs to one map. */
class MapParts {
  readonly node: MappedNode
  readonly judges: ReadonlySet<string>
  /** The nodes that each item has a copy of. */
  readonly region: readonly FlowNode[]
  readonly innerEdges: readonly FlowEdge[]
  readonly #prefix: string
  readonly #hasFlow: boolean
  readonly #innerMaps: readonly string[]
  readonly #rules: number

  constructor({ nodes, edges }: Flow, node: MappedNode, rules: number) {
    this.node = node
    this.#rules = rules
    this.#prefix = `${node.node_id}/`
    this.#hasFlow = nodes.some(({ node_id }) => node_id === this.beginId)
    const judging = nodes.filter(({ target }) => target === node.node_id)
    this.judges = new Set(judging.map(({ node_id }) => node_id))
    this.region = nodes.filter(
      ({ node_id }) =>
        node_id === node.node_id || this.judges.has(node_id) || this.isInside(node_id),
    )
    this.innerEdges = edges.filter((edge) => this.#isOfItem(edge))
    this.#innerMaps = this.region.flatMap(({ node_id, map }) =>
      map === undefined || node_id === node.node_id ? [] : [node_id],
    )
  }

  isOfInnerMap({ node_id, target }: FlowNode): boolean {
    return this.#innerMaps.some(
      (id) => node_id === id || target === id || node_id.startsWith(`${id}/`),
    )
  }

  get beginId(): string {
    return `${this.#prefix}begin`
  }

  /** Of the sub-flow of the node. */
  isInside(id: string): boolean {
    return id.startsWith(this.#prefix)
  }

  rename(key: string): (id: string) => string {
    const { node_id } = this.node
    return (id) => {
      if (id === node_id || this.judges.has(id)) return `${id}/${key}`
      return this.isInside(id) ? `${this.#prefix}${key}/${id.slice(this.#prefix.length)}` : id
    }
  }

  begin(): FlowNode {
    const { title, phase_id, subphase_id, actor, max_attempts } = this.node
    // A sub-flow has taken over what its node waits for.
    const { after, signal } =
      this.region.find(({ node_id }) => node_id === this.beginId) ?? this.node
    return {
      node_id: this.beginId,
      kind: 'WORK',
      title: unfilled(title),
      phase_id,
      actor,
      max_attempts,
      ...(subphase_id === undefined ? {} : { subphase_id }),
      ...(after === undefined ? {} : { after }),
      ...(signal === undefined ? {} : { signal }),
    }
  }

  entryEdge(key: string): string {
    return `${this.beginId}>${key}`
  }

  #isOfRegion(id: string): boolean {
    return id === this.node.node_id || this.judges.has(id) || this.isInside(id)
  }

  /** Within the item, or from its CHECK back or out of a failure. */
  #isOfItem({ source, target, class: sort }: FlowEdge): boolean {
    if (sort === 'Meta' || !this.#isOfRegion(source)) return false
    if (this.#isOfRegion(target)) return true
    return this.judges.has(source) && !ON.has(sort)
  }

  /** The edge between what is there once, from and to outside; from the node on to its CHECK nodes. */
  keptEdge(edge: FlowEdge): readonly FlowEdge[] {
    const { source, target, class: sort } = edge
    if (sort === 'Meta') return this.isInside(source) || this.isInside(target) ? [] : [edge]
    if (!this.#isOfItem(edge))
      return target === this.node.node_id ? [{ ...edge, target: this.beginId }] : [edge]
    const isReview = !this.isInside(source) && this.judges.has(target) && ON.has(sort)
    // After all items are approved, the way back of their CHECK goes once.
    const isBack = (sort === 'Loop' || sort === 'Rollback') && !this.#isOfRegion(target)
    if (!isReview) return isBack && this.#rules >= 6 ? [edge] : []
    const { guard_expr: _, guard_evidence_source: __, ...plain } = edge
    return [{ ...plain, class: 'Progress' }]
  }

  /** From the beginning to each item, and from each item of the present list to the node. */
  joins(keys: readonly string[], list: KnownList | null): readonly FlowEdge[] {
    const { node_id } = this.node
    const present = list === null ? keys : keys.slice(0, list.count)
    const entry = (key: string): string => this.rename(key)(this.#hasFlow ? this.beginId : node_id)
    const into = keys.map((key) => ({
      edge_id: this.entryEdge(key),
      source: this.beginId,
      target: entry(key),
      class: 'Progress' as const,
    }))
    const out = present.map((key) => ({
      edge_id: `${node_id}/${key}>end`,
      source: this.rename(key)(node_id),
      target: node_id,
      class: 'Sync' as const,
      join: 'AND' as const,
    }))
    if (present.length > 0) return [...into, ...out]
    const past = { edge_id: `${this.beginId}>end`, source: this.beginId, target: node_id }
    return [...into, { ...past, class: 'Progress' }]
  }

  claimCopies(claim: NonNullable<Flow['claims']>[number], keys: readonly string[]) {
    if (!this.isInside(claim.node_id)) return [claim]
    return keys.map((key) => ({
      ...claim,
      claim_id: `${claim.claim_id}/${key}`,
      node_id: this.rename(key)(claim.node_id),
    }))
  }
}

/** What stays of a node that waits for the items, or follows that one. */
function joinOf({
  node_id,
  kind,
  title,
  phase_id,
  subphase_id,
  actor,
  max_attempts,
}: FlowNode): FlowNode {
  return {
    node_id,
    kind: kind === 'GOAL' ? 'GOAL' : 'WORK',
    title: unfilled(title),
    phase_id,
    actor,
    max_attempts,
    ...(subphase_id === undefined ? {} : { subphase_id }),
  }
}

function copyNode(
  node: FlowNode,
  parts: MapParts,
  rename: (id: string) => string,
  filling: ItemWords | null,
  item: MapItem | null,
): FlowNode {
  const { node_id, target, inputs, phase_id, subphase_id, title } = node
  const isInner = parts.isInside(node_id)
  const { map: _map, after: _after, signal: _signal, ...rest } = node
  const inner = node_id === parts.node.node_id || node_id === parts.beginId ? rest : node
  const copy: FlowNode = {
    ...inner,
    node_id: rename(node_id),
    kind: node.kind === 'GOAL' && !isInner ? 'WORK' : node.kind,
    phase_id: parts.isInside(phase_id) ? rename(phase_id) : phase_id,
    ...(subphase_id !== undefined && parts.isInside(subphase_id)
      ? { subphase_id: rename(subphase_id) }
      : {}),
    ...(target === undefined ? {} : { target: rename(target) }),
    ...(inputs === undefined
      ? {}
      : { inputs: inputs.map((input) => ({ ...input, from: rename(input.from) })) }),
  }
  if (filling === null || item === null) return copy
  const label = labelOf(item)
  const place = `${item.index}/${item.count}${label === '' ? '' : `: ${label}`}`
  // What belongs to a map inside this one is filled with the items of that one.
  if (parts.isOfInnerMap(node))
    return copy.map?.from === undefined
      ? copy
      : { ...copy, map: { ...copy.map, from: filling.path(copy.map.from) } }
  const named = isInner || hasPlaceholder(title)
  const filled = named ? filling.text(title) : `${title} ${place}`
  return { ...copy, title: filled, ...filledParts(copy, filling) }
}

function filledParts(node: FlowNode, filling: ItemWords): Partial<FlowNode> {
  const { description, instructions, criteria, writes, required_files, inputs } = node
  return {
    ...(description === undefined ? {} : { description: filling.text(description) }),
    ...(instructions === undefined ? {} : { instructions: filling.text(instructions) }),
    ...(criteria === undefined ? {} : { criteria: criteria.map((one) => filling.text(one)) }),
    ...(writes === undefined ? {} : { writes: writes.map((one) => filling.path(one)) }),
    ...(required_files === undefined
      ? {}
      : { required_files: required_files.map((one) => filling.path(one)) }),
    ...(inputs === undefined
      ? {}
      : {
          inputs: inputs.map((input) =>
            input.file === undefined ? input : { ...input, file: filling.path(input.file) },
          ),
        }),
  }
}

function copyEdge(edge: FlowEdge, key: string, rename: (id: string) => string): FlowEdge {
  const { group_id, edge_id, source, target } = edge
  return {
    ...edge,
    edge_id: `${edge_id}/${key}`,
    source: rename(source),
    target: rename(target),
    ...(group_id === undefined ? {} : { group_id: `${group_id}/${key}` }),
  }
}
