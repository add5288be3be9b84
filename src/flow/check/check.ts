/**
 * Checks a flow before it is walked: its contract, every expression, and then the graph as a whole.
 * Pure and total: any JSON value in, an answer out. Linear in the size of the flow.
 *
 * The graph is looked at when the structure holds; ids that are used twice, or that lead nowhere, do
 * not hide what else is wrong.
 */

import { canonicalJson, nearest, showName } from '../../base/index.ts'
import {
  type Flow,
  type FlowNode,
  field,
  flowContract,
  type JsonObject,
  type Participant,
  parseGlob,
  type Violation,
  validate,
} from '../../contracts/index.ts'
import { checkAmounts } from './amounts.ts'
import { branchesOf } from './branches.ts'
import { checkCalls } from './calls.ts'
import { checkDecisions } from './decisions.ts'
import { checkFiring } from './firing.ts'
import { edgeAt, type Graph, graphOf, listAt, nodeAt } from './graph.ts'
import { checkGuards, compileGuards } from './guards.ts'
import { checkMaps } from './maps.ts'
import { type FlowCheck, FlowProblems } from './problem.ts'
import { reachOf } from './reach.ts'
import { checkShape } from './shape.ts'

export interface FlowCheckOptions {
  /** Problems of the shape of the graph are warnings, as for tables. */
  readonly isLenient?: boolean
}

export function checkFlow(document: unknown, { isLenient }: FlowCheckOptions = {}): FlowCheck {
  const { violations } = validate(flowContract, document)
  const problems = new FlowProblems(isLenient ?? field(document, 'table') !== undefined)
  problems.add(violations)
  if (isStructural(violations)) {
    compileReadable(document, violations, problems)
    return problems.finish()
  }
  // What is wrong, if anything, is not the structure.
  const flow = document as Flow
  const graph = graphOf(flow)
  const guards = compileGuards(flow, problems)
  checkGuards(flow, graph, guards, problems)
  const reach = reachOf(graph)
  const branches = branchesOf(graph)
  checkShape(graph, reach, branches, problems)
  checkFiring(flow, graph, reach, guards, problems)
  checkCalls(graph, reach, branches, problems)
  checkMaps(flow, problems)
  checkDecisions(graph, guards, problems)
  checkPeople(flow, graph, problems)
  checkAmounts(flow, graph, problems)
  return problems.finish()
}

/** Codes that the contract gives to documents of sound structure. */
const SEMANTIC: ReadonlySet<string> = new Set([
  'flow.duplicate_id',
  'flow.unknown_ref',
  'flow.target',
  'flow.join_mixed',
  'flow.policy_tie',
  'flow.policy_cycle',
  'flow.invariant_weaker',
  'flow.reserved_field',
  'flow.field_name',
])

function isStructural(violations: readonly Violation[]): boolean {
  return violations.some(({ code }) => !SEMANTIC.has(code))
}

/** The expressions of a broken document, where they are texts and the state can be read. */
function compileReadable(
  document: unknown,
  violations: readonly Violation[],
  problems: FlowProblems,
): void {
  if (
    violations.some(({ path, code }) => path.startsWith('/state') || code.startsWith('document.'))
  )
    return
  const state = field(document, 'state')
  const parts = {
    edges: list(document, 'edges', 'guard_expr'),
    policies: list(document, 'policies', 'policy_expr'),
    invariants: list(document, 'invariants', 'invariant_expr'),
  }
  // Only the expressions and the declared state are read.
  compileGuards(
    { ...(state === undefined ? {} : { state }), ...parts } as unknown as Flow,
    problems,
  )
}

/** Each element with nothing but its expression; what is no text has none. */
function list(document: unknown, name: string, key: string): readonly JsonObject[] {
  const items = field(document, name)
  if (!Array.isArray(items)) return []
  return items.map((item: unknown) => {
    const source = field(item, key)
    return typeof source === 'string' && source !== '' ? { [key]: source } : {}
  })
}

/**
 * Checks participants, CHECK nodes and access rules (F-4, F-5). The host controls all that a local
 * command reads and writes. For a remote participant or a person it controls only what it sends.
 */
function checkPeople(flow: Flow, graph: Graph, problems: FlowProblems): void {
  for (let index = 0; index < flow.nodes.length; index++) {
    const node = nodeAt(graph, index)
    checkRunner(node, index, problems)
    checkBare(node, index, problems)
    if (node.flow !== undefined) refuseUnread(node, index, problems)
    checkJudge(graph, index, problems)
    if (node.writes !== undefined) checkGlobs(node, index, problems)
  }
  checkAccess(flow, problems)
}

/** A node that says what to make has no participant that makes it: likely a mistake. */
function checkBare(node: FlowNode, index: number, problems: FlowProblems): void {
  const { kind, executor, node_id, required_files = [], writes = [] } = node
  if (kind !== 'WORK' || executor !== undefined || required_files.length + writes.length === 0)
    return
  const message = `no participant works at ${showName(node_id)}: it is done as soon as the run comes there and its required files exist`
  const hint = 'name an executor, or let a person put the files there'
  problems.warn('flow.participant_missing', `/nodes/${index}/executor`, message, hint)
}

/** The command line puts sub-flows in before a flow is checked; one that is left has not been read. */
function refuseUnread({ node_id, flow }: FlowNode, index: number, problems: FlowProblems): void {
  const message = `the sub-flow ${showName(flow ?? '')} of ${showName(node_id)} was not read`
  const hint = 'name the flow as a file, so that its sub-flows are found next to it'
  problems.refuse('flow.subflow', `/nodes/${index}/flow`, message, hint)
}

function checkRunner(node: FlowNode, index: number, problems: FlowProblems): void {
  if (node.kind === 'WORK' && node.reviewer === undefined) return
  const path = `/nodes/${index}`
  const id = showName(node.node_id)
  if (node.kind === 'CHECK' && node.reviewer === undefined) {
    const message = `no participant judges at the CHECK ${id}`
    problems.refuse('flow.participant_missing', `${path}/reviewer`, message, 'name a reviewer')
  }
  const unused: readonly ('executor' | 'reviewer')[] =
    node.kind === 'WORK'
      ? ['reviewer']
      : node.kind === 'CHECK'
        ? ['executor']
        : ['executor', 'reviewer']
  for (const role of unused) {
    if (node[role] === undefined) continue
    const message = `a ${node.kind} node has no ${role}, so no participant of that name runs at ${id}`
    problems.warn('flow.participant_unused', `${path}/${role}`, message)
  }
}

function checkJudge(graph: Graph, index: number, problems: FlowProblems): void {
  const node = nodeAt(graph, index)
  // A CHECK that is called judges its caller.
  if (node.kind === 'CHECK' && node.target === undefined && node.call !== true) {
    const message = `the CHECK ${showName(node.node_id)} does not say which node it judges`
    problems.warn('flow.check_untargeted', `/nodes/${index}/target`, message)
  }
  const judged = node.kind === 'CHECK' ? (graph.judged[index] ?? -1) : -1
  if (judged !== -1) checkOther(nodeAt(graph, judged), node, index, problems)
  if (node.kind !== 'WORK' || node.executor === undefined) return
  if (listAt(graph.checks, index).length > 0 || callsCheck(graph, index)) return
  const message = `no CHECK judges ${showName(node.node_id)}, so what it does is promoted without approval`
  problems.warn('flow.unchecked_work', `/nodes/${index}/node_id`, message)
}

/** Returns whether the node always calls a CHECK: a closed Gate holds its work, a Progress edge may go past. */
function callsCheck(graph: Graph, index: number): boolean {
  return [...listAt(graph.outgoing, index)].some((edge) => {
    const { call, kind, target } = nodeAt(graph, graph.target[edge] ?? 0)
    if (call !== true || kind !== 'CHECK' || target !== undefined) return false
    const { class: sort, guard_expr } = edgeAt(graph, edge)
    return sort === 'Gate' || (sort === 'Progress' && guard_expr === undefined)
  })
}

/** Warns about work that its own executor judges. `human: true` is any person, so maybe another one. */
function checkOther(
  { executor, node_id }: FlowNode,
  { reviewer }: FlowNode,
  index: number,
  problems: FlowProblems,
): void {
  if (executor === undefined || reviewer === undefined) return
  if ('human' in reviewer && reviewer.human === true) return
  if (canonicalJson(executor) !== canonicalJson(reviewer)) return
  const message = `the reviewer of ${showName(node_id)} is the participant that does the work, so it judges itself`
  const hint = 'name another participant as the reviewer'
  problems.warn('flow.same_participant', `/nodes/${index}/reviewer`, message, hint)
}

function checkGlobs({ writes }: FlowNode, index: number, problems: FlowProblems): void {
  for (const [place, pattern] of (writes ?? []).entries()) {
    if (parseGlob(`/${pattern}`) !== null) continue
    const message = `${showName(pattern)} is no pattern of paths: \`**\` has to be alone between slashes, and no name is empty, \`.\` or too long`
    problems.refuse('flow.glob', `/nodes/${index}/writes/${place}`, message)
  }
}

function checkAccess(flow: Flow, problems: FlowProblems): void {
  const rules = flow.access_rules ?? []
  if (rules.length === 0) return
  const remote = remoteActors(flow)
  const actors = new Set(flow.nodes.map(({ actor }) => actor))
  for (const [index, rule] of rules.entries()) {
    const path = `/access_rules/${index}`
    if (!actors.has(rule.actor)) {
      const message = `no node has the actor ${showName(rule.actor)}, so the rule binds no participant`
      const near = nearest(rule.actor, actors)
      const hint = near === null ? null : `did you mean ${showName(near)}?`
      problems.warn('flow.unknown_actor', `${path}/actor`, message, hint)
    }
    if (parseGlob(`/${rule.resource_path}`) === null) {
      const effect = rule.access_allowed ? 'allows nothing' : 'forbids everything'
      const message = `${showName(rule.resource_path)} is no pattern of paths under the workspace, so the rule ${effect}`
      problems.warn('flow.glob', `${path}/resource_path`, message)
    }
    const kind = remote.get(rule.actor)
    if (kind === undefined || rule.access_allowed || rule.access_mode === 'read') continue
    const message = `${showName(rule.actor)} is ${kind}: the host decides what is sent there, and cannot forbid it to ${rule.access_mode}`
    const hint = 'let a command do this work, or forbid it to read'
    problems.refuse('flow.access_unenforceable', `${path}/access_mode`, message, hint)
  }
}

/** Returns the actors with a participant that is no local command, each with its kind in words. */
function remoteActors(flow: Flow): ReadonlyMap<string, string> {
  const remote = new Map<string, string>()
  for (const { kind, actor, executor, reviewer } of flow.nodes) {
    const runner = kind === 'CHECK' ? reviewer : kind === 'WORK' ? executor : undefined
    const what = runner === undefined ? null : elsewhere(runner)
    if (what !== null && !remote.has(actor)) remote.set(actor, what)
  }
  return remote
}

function elsewhere(participant: Participant): string | null {
  if ('command' in participant) return null
  if ('http' in participant) return 'an HTTP endpoint'
  if ('mcp' in participant) return 'a tool of an MCP server'
  return 'chat' in participant ? 'a model behind a chat endpoint' : 'a person'
}
