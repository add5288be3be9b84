/** Names in a test that the flow does not have, each with the nearest one that it has. */
import { at, nearest, showName } from '../../base/index.ts'
import {
  BUILT_IN_INVARIANTS,
  type FlowTest,
  type FlowTestCase,
  HOST_FIELDS,
} from '../../contracts/index.ts'
import type { FlowProblem } from '../check/problem.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'

interface KnownNames {
  readonly node: readonly string[]
  readonly edge: readonly string[]
  readonly 'node or edge': readonly string[]
  readonly policy: readonly string[]
  readonly invariant: readonly string[]
  readonly phase: readonly string[]
  readonly 'sub-phase': readonly string[]
  readonly 'state field': readonly string[]
}

type NameKind = keyof KnownNames

interface NamedPlace {
  readonly kind: NameKind
  readonly name: string
  readonly path: string
  /** Says what attempts at the node do. */
  readonly isScript?: true
}

export function unknownNames({ document, ...flow }: CompiledFlow, test: FlowTest): FlowProblem[] {
  const node = document.nodes.map(({ node_id }) => node_id)
  const edge = document.edges.map(({ edge_id }) => edge_id)
  const known: KnownNames = {
    node,
    edge,
    'node or edge': [...node, ...edge],
    policy: [...(document.policies ?? []), ...(document.text_policies ?? [])].map(
      ({ policy_id }) => policy_id,
    ),
    invariant: [
      ...BUILT_IN_INVARIANTS,
      ...(document.invariants ?? []).map(({ invariant_id }) => invariant_id),
    ],
    phase: flow.phases.map(({ name }) => name),
    'sub-phase': flow.subphases.map(({ name }) => name),
    'state field': [...HOST_FIELDS, ...Object.keys(document.state?.fields ?? {})],
  }
  const items = new ItemNames({ document, ...flow })
  return test.cases
    .flatMap((one, index) => [...namesIn(one, `/cases/${index}`)])
    .flatMap(({ kind, name, path, isScript }) => {
      const mapped = items.mappedBy(name, isScript === true)
      if (mapped !== null) return [itemProblem(name, path, mapped)]
      if (known[kind].includes(name) || (kind.includes('node') && items.isItem(name))) return []
      return [problemOf(kind, name, path, known[kind])]
    })
}

/** Returns the scripted nodes that a run does not have after its lists were read: items beyond their ends. */
export function absentItems(flow: CompiledFlow, { nodes = {} }: FlowTestCase): readonly string[] {
  const items = new ItemNames(flow)
  return Object.keys(nodes).filter((name) => !flow.nodeIndex.has(name) && !items.isItem(name))
}

const EACH = /\/each(?=\/|$)/g
/** The same in the ids of edges that lead to an item, end it, or lie in it. */
const EACH_OF_EDGE = /(?<=[/>])each(?=[/>]|$)/g

/** Nodes in the places of mapped nodes. Items of a list that only a run reads are named by their index. */
export class ItemNames {
  readonly #flow: Pick<CompiledFlow, 'document' | 'base' | 'maps'>
  /** `X/each` and the nodes below it, which a run replaces by `X/1`, `X/2`, … before it comes to them. */
  readonly #placeholders: readonly string[]

  constructor(flow: Pick<CompiledFlow, 'document' | 'base' | 'maps'>) {
    this.#flow = flow
    const written = new Set(flow.base.nodes.map(({ node_id }) => node_id))
    this.#placeholders = flow.document.nodes
      .map(({ node_id }) => node_id)
      .filter((name) => name.search(EACH) !== -1 && !written.has(name))
  }

  isItem(name: string): boolean {
    return this.templatesOf(name).length > 0
  }

  /** The nodes of the flow in whose place a run has a node of this name. */
  templatesOf(name: string): readonly string[] {
    return this.#placeholders.filter((one) => isInPlace(one.split(EACH), '/[1-9]\\d*', name))
  }

  /** The same for edges. */
  edgeTemplatesOf(name: string): readonly string[] {
    const written = new Set(this.#flow.base.edges.map(({ edge_id }) => edge_id))
    return this.#flow.document.edges.flatMap(({ edge_id }) => {
      const parts = edge_id.split(EACH_OF_EDGE)
      if (parts.length === 1 || written.has(edge_id)) return []
      return isInPlace(parts, '[1-9]\\d*', name) ? [edge_id] : []
    })
  }

  /** The name without the item, where no attempt is made at the node itself; null where one may be. */
  mappedBy(name: string, isScript: boolean): string | null {
    if (this.#placeholders.includes(name)) return name.replace(EACH, '')
    if (!isScript) return null
    const { maps, document } = this.#flow
    const idAt = (index: number): string => document.nodes[index]?.node_id ?? ''
    const found = maps.find(({ begin, join, followers }) =>
      [begin, join, ...followers].some((index) => idAt(index) === name),
    )
    if (found === undefined) return null
    return name === idAt(found.begin) ? found.nodeId : name
  }
}

function itemProblem(name: string, path: string, mapped: string): FlowProblem {
  const message = `no attempt is made at ${showName(name)}: it is in the place of all items of a list`
  const hint = `name an item by its index, such as ${showName(`${mapped}/1`)}`
  return { code: 'flow.unknown_ref', path, message, hint }
}

function problemOf(kind: NameKind, name: string, path: string, known: readonly string[]) {
  const near = nearest(name, known)
  const message = `the flow has no ${kind} ${showName(name)}`
  const problem: FlowProblem = { code: 'flow.unknown_ref', path, message }
  return near === null ? problem : { ...problem, hint: `did you mean ${showName(near)}?` }
}

function* namesIn(one: FlowTestCase, place: string): Iterable<NamedPlace> {
  const { nodes = {}, events = [], expect } = one
  for (const name of Object.keys(nodes))
    yield { kind: 'node', name, path: at(`${place}/nodes`, name), isScript: true }
  for (const [index, event] of events.entries()) {
    const path = `${place}/events/${index}`
    if ('answer' in event) yield { kind: 'node', name: event.node, path: `${path}/node` }
    if ('skip' in event) yield { kind: 'node', name: event.skip, path: `${path}/skip` }
    if ('resume' in event)
      yield* listed('sub-phase', event.resume.changed, `${path}/resume/changed`)
  }
  const wanted = `${place}/expect`
  yield* listed('node', expect.nodes, `${wanted}/nodes`)
  yield* listed('edge', expect.edges, `${wanted}/edges`)
  yield* listed('node or edge', expect.passes, `${wanted}/passes`)
  yield* listed('node or edge', expect.avoids, `${wanted}/avoids`)
  yield* listed('node', expect.waits_at, `${wanted}/waits_at`)
  yield* listed('phase', expect.logged, `${wanted}/logged`)
  for (const what of ['won', 'lost', 'triggered'] as const)
    yield* listed('policy', expect.policies?.[what], `${wanted}/policies/${what}`)
  yield* keys('node', expect.attempts, `${wanted}/attempts`)
  yield* keys('state field', expect.state, `${wanted}/state`)
  for (const [index, finding] of (expect.findings ?? []).entries()) {
    if (typeof finding === 'string') continue
    const path = `${wanted}/findings/${index}`
    const { node, edge, invariant } = finding
    if (node !== undefined) yield { kind: 'node', name: node, path: `${path}/node` }
    if (edge !== undefined) yield { kind: 'edge', name: edge, path: `${path}/edge` }
    if (invariant !== undefined)
      yield { kind: 'invariant', name: invariant, path: `${path}/invariant` }
  }
  for (const [index, { node }] of (expect.refused ?? []).entries())
    yield { kind: 'node', name: node, path: `${wanted}/refused/${index}/node` }
}

function* listed(
  kind: NameKind,
  names: readonly string[] | undefined,
  place: string,
): Iterable<NamedPlace> {
  for (const [index, name] of (names ?? []).entries())
    yield { kind, name, path: `${place}/${index}` }
}

function* keys(
  kind: NameKind,
  table: Readonly<Record<string, unknown>> | undefined,
  place: string,
): Iterable<NamedPlace> {
  for (const name of Object.keys(table ?? {})) yield { kind, name, path: at(place, name) }
}

/** Whether a name is made of these parts with an index between them. */
function isInPlace(parts: readonly string[], index: string, name: string): boolean {
  const escaped = parts.map((part) => part.replace(/[^\w/]/g, '\\$&'))
  return new RegExp(`^${escaped.join(index)}$`).test(name)
}
