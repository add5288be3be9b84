/**
 * Reads an edge table (seed 004 §4, F-1d) and its side file as one flow. Findings have places in the
 * user's files. `originOf` returns the place of any part of the flow, for problems that later checks
 * find.
 *
 * What a side file adds to the edges of a table: nodes, guards, state, policies, invariants, access,
 * claims. The side file wins over the table. The singular `access_rule` and
 * `claim_verification` are read too.
 */
import { at, GRAPH_LIMITS, nearest, pointerSteps, showName, utf8Length } from '../../base/index.ts'
import {
  EDGE_CLASSES,
  type EdgeClass,
  type Flow,
  type FlowEdge,
  type FlowNode,
  type FlowSide,
  flowSideContract,
  validate,
} from '../../contracts/index.ts'
import { classOf } from './columns.ts'
import { readCsv } from './csv.ts'
import { type ImportFinding, ImportReport } from './report.ts'
import { type ParsedTable, readTable } from './table.ts'

export interface ImportOptions {
  /** When the side file does not say. */
  readonly flowId: string
  readonly title: string
}

/** The place of a part of a flow in the user's files. */
export type Origin =
  | { readonly file: 'edges'; readonly line: number; readonly column: number }
  | { readonly file: 'side'; readonly path: string }

export interface TableImport {
  /** Null when there is no table that could be read. */
  readonly flow: Flow | null
  readonly findings: readonly ImportFinding[]
  readonly originOf: (pointer: string) => Origin | null
  /** What the side file said, as far as it was sound. */
  readonly side: FlowSide
}

/** The `max_attempts` of a node for which the side file gives none. */
const ATTEMPTS_USUAL = 3

/** Imports a table. Reports and ignores a `side` that breaks its contract. */
export function importTable(text: string, side: unknown, options: ImportOptions): TableImport {
  const report = new ImportReport()
  if (utf8Length(text) > GRAPH_LIMITS.bytesMax) {
    const message = `the text is longer than ${GRAPH_LIMITS.bytesMax} bytes`
    report.refuse('document.too_large', { line: 1, column: 1 }, message)
    return { flow: null, findings: report.findings, originOf: () => null, side: {} }
  }
  const reading = readTable(readCsv(text), report)
  const said = soundSide(side, report)
  if (reading === null)
    return { flow: null, findings: report.findings, originOf: () => null, side: said }
  const edges = withSide(reading.edges, said, report)
  tellUnknownNodes(edges, said, report)
  const nodes = nodesOf(edges, said)
  const flow: Flow = {
    type: 'flow_v1',
    flow_id: said.flow_id ?? options.flowId,
    title: said.title ?? options.title,
    nodes,
    edges: [...edges],
    ...partsOf(said, edges, nodes, report),
    table: reading.table,
  }
  const origins = new Origins(flow, reading, said)
  const originOf = (pointer: string): Origin | null => origins.find(pointer)
  return { flow, findings: report.findings, originOf, side: said }
}

/** Counts the edges of each class; classes without edges count 0. */
export function classCounts(edges: readonly FlowEdge[]): Readonly<Record<EdgeClass, number>> {
  // The entries are all classes, and nothing else.
  const counts = Object.fromEntries(EDGE_CLASSES.map((name) => [name, 0])) as Record<
    EdgeClass,
    number
  >
  for (const edge of edges) counts[edge.class]++
  return counts
}

function soundSide(side: unknown, report: ImportReport): FlowSide {
  if (side === undefined || side === null) return {}
  const { valid, violations } = validate(flowSideContract, side)
  for (const { code, path, message, hint } of violations)
    report.tellSide('error', code, path, message, hint)
  // The contract has judged it.
  return valid ? (side as FlowSide) : {}
}

class Origins {
  readonly #flow: Flow
  readonly #reading: ParsedTable
  readonly #side: FlowSide
  readonly #columns: ReadonlyMap<string, number>
  #sideEdges: ReadonlyMap<string, number> | null = null
  #sideNodes: ReadonlyMap<string, number> | null = null
  #firstEdge: ReadonlyMap<string, number> | null = null

  constructor(flow: Flow, reading: ParsedTable, side: FlowSide) {
    this.#flow = flow
    this.#reading = reading
    this.#side = side
    this.#columns = new Map(reading.keys.map((key, index) => [key, index]))
  }

  find(pointer: string): Origin | null {
    const [list = '', place = '', field = '', ...rest] = pointerSteps(pointer)
    if (list === 'edges') return this.#ofEdge(Number(place), field, rest)
    if (list === 'nodes') return this.#ofNode(Number(place), field, rest)
    if (list === 'access_rules') return this.#ofSplit('access_rules', 'access_rule', pointer)
    if (list === 'claims') return this.#ofSplit('claims', 'claim_verification', pointer)
    return Object.hasOwn(this.#side, list) ? { file: 'side', path: pointer } : null
  }

  #ofEdge(index: number, field: string, rest: readonly string[]): Origin | null {
    const edge = this.#flow.edges[index]
    const row = this.#reading.rows[index]
    if (edge === undefined || row === undefined) return null
    this.#sideEdges ??= placesOf(this.#side.edges, 'affected_edge')
    const said = this.#sideEdges.get(edge.edge_id)
    const document = said === undefined ? undefined : this.#side.edges?.[said]
    if (document !== undefined && field !== '' && Object.hasOwn(document, field)) {
      return { file: 'side', path: [field, ...rest].reduce(at, `/edges/${said}`) }
    }
    const column = this.#columns.get(field === 'class' ? 'v2_primary_class' : field) ?? -1
    const { line, column: place } = row.cells[column] ?? { line: row.line, column: 1 }
    return { file: 'edges', line, column: place }
  }

  #ofNode(index: number, field: string, rest: readonly string[]): Origin | null {
    const node = this.#flow.nodes[index]
    if (node === undefined) return null
    this.#sideNodes ??= placesOf(this.#side.nodes, 'node_id')
    const said = this.#sideNodes.get(node.node_id)
    if (said !== undefined) {
      return {
        file: 'side',
        path: [field, ...rest].filter((step) => step !== '').reduce(at, `/nodes/${said}`),
      }
    }
    this.#firstEdge ??= firstEdges(this.#flow.edges)
    const edge = this.#firstEdge.get(node.node_id) ?? -1
    const isSource = this.#flow.edges[edge]?.source === node.node_id
    return this.#ofEdge(edge, isSource ? 'source' : 'target', [])
  }

  /** The list of a flow was made of two parts of the side file. */
  #ofSplit(
    list: 'access_rules' | 'claims',
    singular: 'access_rule' | 'claim_verification',
    pointer: string,
  ): Origin | null {
    const [, place = '', ...rest] = pointerSteps(pointer)
    const index = Number(place)
    const count = this.#side[list]?.length ?? 0
    if (index < count) return { file: 'side', path: pointer }
    const base = Array.isArray(this.#side[singular])
      ? `/${singular}/${index - count}`
      : `/${singular}`
    return { file: 'side', path: rest.reduce(at, base) }
  }
}

function placesOf<K extends string>(
  list: readonly { readonly [P in K]: string }[] | undefined,
  key: K,
): ReadonlyMap<string, number> {
  return new Map((list ?? []).map((item, index) => [item[key], index]))
}

function firstEdges(edges: readonly FlowEdge[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>()
  for (const [index, { source, target }] of edges.entries()) {
    for (const name of [source, target]) if (!first.has(name)) first.set(name, index)
  }
  return first
}

/** Shorter names are all near one another. */
const NEAR_LENGTH_MIN = 3

/** A node of the side file alone begins at once; where a name of the table is near, it is misspelt. */
function tellUnknownNodes(
  edges: readonly FlowEdge[],
  { nodes = [] }: FlowSide,
  report: ImportReport,
): void {
  const named = new Set(edges.flatMap(({ source, target }) => [source, target]))
  const described = new Set(nodes.map(({ node_id }) => node_id))
  const open = [...named].filter((name) => !described.has(name))
  for (const [place, { node_id }] of nodes.entries()) {
    if (named.has(node_id)) continue
    const near = node_id.length < NEAR_LENGTH_MIN ? null : nearest(node_id, open)
    const message = `no edge of the table leads to ${showName(node_id)} or from it, so it would begin at once`
    const hint =
      near === null
        ? 'write the edges that lead to it, or take it out of the side file'
        : `did you mean ${showName(near)}?`
    const level = near === null ? 'warning' : 'error'
    report.tellSide(level, 'flow.table_node', `/nodes/${place}/node_id`, message, hint)
  }
}

/** Nodes in the order in which the table names them, then those of the side file alone. */
function nodesOf(edges: readonly FlowEdge[], side: FlowSide): FlowNode[] {
  const said = new Map((side.nodes ?? []).map((node) => [node.node_id, node]))
  const names = new Set(edges.flatMap(({ source, target }) => [source, target]))
  for (const name of said.keys()) names.add(name)
  return [...names].map((name) => ({
    node_id: name,
    kind: 'WORK' as const,
    title: name,
    phase_id: name,
    actor: name,
    max_attempts: ATTEMPTS_USUAL,
    ...said.get(name),
  }))
}

/** Applies what the side file says about edges over the edges of the table. */
function withSide(
  edges: readonly FlowEdge[],
  side: FlowSide,
  report: ImportReport,
): readonly FlowEdge[] {
  const byId = new Map(edges.map(({ edge_id }, index) => [edge_id, index]))
  const joined = [...edges]
  for (const [place, { affected_edge, v2_primary_class, ...guard }] of (
    side.edges ?? []
  ).entries()) {
    const index = byId.get(affected_edge)
    const edge = index === undefined ? undefined : joined[index]
    if (index === undefined || edge === undefined) {
      const message = `the table has no edge ${showName(affected_edge)}, so what is said of it is lost`
      report.tellSide('error', 'flow.table_edge', `/edges/${place}/affected_edge`, message)
      continue
    }
    const kind = v2_primary_class === undefined ? null : classOf(v2_primary_class)
    joined[index] = { ...edge, ...guard, ...(kind === null ? {} : { class: kind }) }
  }
  return joined
}

/** The parts of a flow that are not its graph. */
function partsOf(
  side: FlowSide,
  edges: readonly FlowEdge[],
  nodes: readonly FlowNode[],
  report: ImportReport,
): Partial<Flow> {
  const fields = side.state?.fields
  const rules = [...(side.access_rules ?? []), ...several(side.access_rule)]
  const claims = placed(side, edges, nodes, report)
  return {
    ...(side.goal === undefined ? {} : { goal: side.goal }),
    ...(side.constraints === undefined ? {} : { constraints: side.constraints }),
    ...(fields === undefined ? {} : { state: { fields } }),
    ...(side.policies === undefined ? {} : { policies: side.policies }),
    ...(side.text_policies === undefined ? {} : { text_policies: side.text_policies }),
    ...(rules.length === 0 ? {} : { access_rules: rules }),
    ...(claims.length === 0 ? {} : { claims }),
    ...(side.invariants === undefined ? {} : { invariants: side.invariants }),
    ...(side.budgets === undefined ? {} : { budgets: side.budgets }),
  }
}

function several<T>(one: T | T[] | undefined): readonly T[] {
  if (one === undefined) return []
  return Array.isArray(one) ? one : [one]
}

type SideClaim = NonNullable<FlowSide['claims']>[number]

/**
 * A claim belongs to a node. One that names none belongs to the node whose leaving asks for
 * verification, and when there is no such node, or several, to the first of the table.
 */
function placed(
  side: FlowSide,
  edges: readonly FlowEdge[],
  nodes: readonly FlowNode[],
  report: ImportReport,
): NonNullable<Flow['claims']> {
  const asking = new Set(
    edges
      .filter(({ trust_requirement }) => trust_requirement === 'independent_verification_required')
      .map(({ source }) => source),
  )
  const [only] = asking.size === 1 ? asking : [nodes[0]?.node_id]
  const place = (claim: SideClaim, path: string) => {
    const { node_id = only ?? 'unknown', actor = 'unknown' } = claim
    if (claim.node_id === undefined) {
      const message = `the claim ${showName(claim.claim_id)} names no node, so it is one of ${showName(node_id)}`
      report.tellSide('warning', 'flow.claim_unplaced', path, message, 'say `node_id` and `actor`')
    }
    return { ...claim, node_id, actor }
  }
  const singular = side.claim_verification
  return [
    ...(side.claims ?? []).map((claim, index) => place(claim, `/claims/${index}`)),
    ...several(singular).map((claim, index) =>
      place(
        claim,
        Array.isArray(singular) ? `/claim_verification/${index}` : '/claim_verification',
      ),
    ),
  ]
}
