/**
 * Compiles and checks the expressions of a flow: whether each compiles, whether a guard is constant,
 * which values it allows, and whether it fits its declared type. Equal sources are compiled once.
 */
import { showName } from '../../base/index.ts'
import { type Flow, type FlowEdge, HOST_FIELDS } from '../../contracts/index.ts'
import {
  type Compilation,
  compileExpression,
  type Environment,
  type Expression,
  evaluate,
} from '../../expression/index.ts'
import { flowEnvironment } from '../../policy/index.ts'
import { type Domain, domainOf } from './domain.ts'
import { edgeAt, type Graph } from './graph.ts'
import type { FlowProblems } from './problem.ts'

type Tree = Expression['tree']

/** Answers questions about guards by the index of their edge. */
export interface Guards {
  /** The value of a constant guard, else null. An edge without a guard is open, except a Gate. */
  constant(edge: number): boolean | null
  /** The syntax tree as text, equal for equal guards; null if the edge has no sound guard. */
  form(edge: number): string | null
  domain(edge: number): Domain | null
}

class Sources {
  readonly #known = new Map<string, Compilation>()
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  compile(source: string): Compilation {
    const known = this.#known.get(source)
    if (known !== undefined) return known
    const compilation = compileExpression(source, this.#environment)
    this.#known.set(source, compilation)
    return compilation
  }
}

/** Compiles the guards, and refuses every expression of the flow that does not compile. */
export function compileGuards(flow: Flow, problems: FlowProblems): Guards {
  const sources = new Sources(flowEnvironment(flow))
  const compiled: (Expression | null)[] = []
  for (let index = 0; index < flow.edges.length; index++) {
    const source = flow.edges[index]?.guard_expr
    const isSaid = source !== undefined
    compiled.push(isSaid ? load(sources, source, `/edges/${index}/guard_expr`, problems) : null)
  }
  for (const [index, { policy_expr }] of (flow.policies ?? []).entries())
    load(sources, policy_expr, `/policies/${index}/policy_expr`, problems)
  for (const [index, { invariant_expr }] of (flow.invariants ?? []).entries())
    load(sources, invariant_expr, `/invariants/${index}/invariant_expr`, problems)
  const isBare = (edge: number): boolean =>
    flow.edges[edge]?.guard_expr === undefined && flow.edges[edge]?.class !== 'Gate'
  return {
    constant: (edge) => (isBare(edge) ? true : constantOf(compiled[edge] ?? null)),
    form: (edge) => {
      const expression = compiled[edge] ?? null
      return expression === null ? null : formOf(expression.tree)
    },
    domain: (edge) => {
      const expression = compiled[edge] ?? null
      return expression === null ? null : domainOf(expression.tree)
    },
  }
}

function load(
  sources: Sources,
  source: string | undefined,
  path: string,
  problems: FlowProblems,
): Expression | null {
  if (source === undefined) return null
  const compilation = sources.compile(source)
  if (compilation.ok) return compilation.expression
  for (const { code, message, hint, line, column, offset } of compilation.faults) {
    const place = line === 1 ? `at character ${column}` : `at line ${line}, character ${column}`
    problems.refuse(code, path, `${message} (${place} of the expression)`, hint, offset)
  }
  return null
}

/** Returns the value of an expression that reads no names; null for any other. */
function constantOf(expression: Expression | null): boolean | null {
  if (expression === null || expression.names.size > 0) return null
  const { value } = evaluate(expression, {})
  return value === 'undetermined' ? false : value
}

/** Writes the syntax tree as JSON without source positions. */
function formOf(tree: Tree): string {
  return JSON.stringify(tree, (key, value) =>
    key === 'at' ? undefined : typeof value === 'bigint' ? `${value}n` : value,
  )
}

export function checkGuards(
  flow: Flow,
  graph: Graph,
  guards: Guards,
  problems: FlowProblems,
): void {
  const fields = new Set<string>([...HOST_FIELDS, ...Object.keys(flow.state?.fields ?? {})])
  const hasException = exceptionsOf(graph)
  for (let index = 0; index < flow.edges.length; index++) {
    const edge = edgeAt(graph, index)
    checkReroute(graph, index, hasException, problems)
    if (edge.guard_evidence_source !== undefined)
      checkEvidence(edge, `/edges/${index}`, fields, problems)
    if (edge.guard_type !== undefined)
      checkType(edge, `/edges/${index}`, guards.form(index), problems)
    if (edge.guard_expr === undefined) continue
    checkUse(edge, `/edges/${index}`, problems)
    checkConstant(edge, `/edges/${index}`, guards.constant(index), problems)
  }
}

const SHOWS = {
  numeric: /"operator":"(?:<|<=|>|>=|\+|-|\*|\/|%)"|"type":"(?:int|double)"/,
  boolean: /"kind":"(?:logic|not|implies|choice|name|select)"|"type":"bool"/,
  enum_match: /"operator":"(?:==|!=|in)"/,
  set_membership: /"operator":"in"|"name":"(?:exists|all)"/,
} as const

/** Warns if no operator of the declared type occurs in the guard. The match is loose. */
function checkType(
  edge: FlowEdge,
  path: string,
  form: string | null,
  problems: FlowProblems,
): void {
  const { guard_type } = edge
  if (guard_type === undefined) return
  if (edge.guard_expr === undefined) {
    const message = 'the edge says of which type its guard is, and has none'
    problems.warn('flow.guard_unused', `${path}/guard_type`, message)
    return
  }
  if (form === null || SHOWS[guard_type].test(form)) return
  const message = `the guard has no operator of the type ${showName(guard_type)}`
  problems.warn('flow.guard_type', `${path}/guard_type`, message)
}

function checkUse(edge: FlowEdge, path: string, problems: FlowProblems): void {
  if (edge.class !== 'Meta' || edge.guard_expr === undefined) return
  const message = 'a Meta edge never fires, so its guard is never asked'
  problems.warn('flow.guard_unused', `${path}/guard_expr`, message)
}

function checkConstant(
  edge: FlowEdge,
  path: string,
  constant: boolean | null,
  problems: FlowProblems,
): void {
  if (edge.guard_expr === undefined || constant === null) return
  const message = constant ? 'the guard is always true' : 'the guard is never true'
  problems.warn('flow.guard_constant', `${path}/guard_expr`, message)
}

function checkEvidence(
  edge: FlowEdge,
  path: string,
  fields: ReadonlySet<string>,
  problems: FlowProblems,
): void {
  const source = edge.guard_evidence_source
  if (source === undefined) return
  const place = `${path}/guard_evidence_source`
  const colon = source.lastIndexOf(':')
  const [file, field] = [source.slice(0, colon), source.slice(colon + 1)]
  const name = field.slice(field.lastIndexOf('.') + 1)
  if (file.startsWith('/') || file.split('/').includes('..')) {
    const message = `the path ${showName(file)} does not stay under the workspace`
    problems.refuse('flow.outside_workspace', place, message)
  }
  const other = /\{(?!X\})[^{}]*\}/.exec(file)
  if (other !== null) {
    const message = `${showName(other[0])} is taken literally: only \`{X}\` is replaced, by the phase`
    problems.warn('flow.evidence_placeholder', place, message)
  }
  if (fields.has(name)) return
  const message = `the state has no field ${showName(name)}, so what the file says goes nowhere`
  problems.warn('flow.evidence_field', place, message, 'declare it under `state.fields`')
}

function checkReroute(
  graph: Graph,
  index: number,
  hasException: Uint8Array,
  problems: FlowProblems,
): void {
  const { on_guard_fail, source } = edgeAt(graph, index)
  const node = graph.source[index] ?? -1
  if (on_guard_fail !== 'reroute' || node === -1 || hasException[node] === 1) return
  const message = `no Exception edge leads out of ${showName(source)}, so a failed guard blocks`
  problems.warn('flow.reroute_nowhere', `/edges/${index}/on_guard_fail`, message)
}

/** By node: 1 when an Exception edge leads out of it. */
function exceptionsOf(graph: Graph): Uint8Array {
  const found = new Uint8Array(graph.nodes.length)
  for (let edge = 0; edge < graph.edges.length; edge++) {
    const source = graph.source[edge] ?? -1
    if (source !== -1 && edgeAt(graph, edge).class === 'Exception') found[source] = 1
  }
  return found
}
