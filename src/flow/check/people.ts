/**
 * Checks participants, CHECK nodes and access rules (F-4, F-5). The host controls all that a local
 * command reads and writes. For a remote participant or a person it controls only what it sends.
 */
import { nearest, showName } from '../../base/index.ts'
import { type Flow, type FlowNode, type Participant, parseGlob } from '../../contracts/index.ts'
import { type Graph, listAt, nodeAt } from './graph.ts'
import type { FlowProblems } from './problem.ts'

export function checkPeople(flow: Flow, graph: Graph, problems: FlowProblems): void {
  for (let index = 0; index < flow.nodes.length; index++) {
    const node = nodeAt(graph, index)
    checkRunner(node, index, problems)
    checkJudge(graph, index, problems)
    if (node.writes !== undefined) checkGlobs(node, index, problems)
  }
  checkAccess(flow, problems)
}

function checkRunner(node: FlowNode, index: number, problems: FlowProblems): void {
  if (node.kind === 'WORK' && node.reviewer === undefined) return
  const path = `/nodes/${index}`
  const id = showName(node.node_id)
  if (node.kind === 'CHECK' && node.reviewer === undefined) {
    const message = `nobody judges at the CHECK ${id}`
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
    const message = `a ${node.kind} node has no ${role}, so nobody of that name runs at ${id}`
    problems.warn('flow.participant_unused', `${path}/${role}`, message)
  }
}

function checkJudge(graph: Graph, index: number, problems: FlowProblems): void {
  const node = nodeAt(graph, index)
  if (node.kind === 'CHECK' && node.target === undefined) {
    const message = `the CHECK ${showName(node.node_id)} does not say which node it judges`
    problems.warn('flow.check_untargeted', `/nodes/${index}/target`, message)
  }
  if (node.kind !== 'WORK' || node.executor === undefined) return
  if (listAt(graph.checks, index).length > 0) return
  const message = `no CHECK judges ${showName(node.node_id)}, so what it does is promoted without approval`
  problems.warn('flow.unchecked_work', `/nodes/${index}/node_id`, message)
}

function checkGlobs({ writes }: FlowNode, index: number, problems: FlowProblems): void {
  for (const [place, pattern] of (writes ?? []).entries()) {
    if (parseGlob(`/${pattern}`) !== null) continue
    const message = `${showName(pattern)} is no pattern of paths: \`**\` stands alone between slashes, and no name is empty, \`.\` or too long`
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
      const message = `no node has the actor ${showName(rule.actor)}, so the rule binds nobody`
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
