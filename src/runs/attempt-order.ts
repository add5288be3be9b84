/**
 * One attempt at a node: what the gate opens for it, what it left staged, and what is said about it to the
 * gate, in events, when it has failed, and when its time is up.
 */
import { randomUUID } from 'node:crypto'
import { relative, resolve } from 'node:path'
import type { Participant, RunMark } from '../contracts/index.ts'
import { type CompiledNode, elementAt, principalOf } from '../flow/index.ts'
import { parsePrincipal } from '../ledger/index.ts'
import type { AttemptOrder, HeldAttempt, SealedPaths } from '../service/index.ts'
import { boundPaths } from './access-paths.ts'
import { sealedArtifacts } from './files/sealed-artifacts.ts'
import { isObject, type Said } from './participant/participant-request.ts'
import { type Secrets, secretsOf } from './participant/secrets.ts'
import type { RunCommand } from './participant-input.ts'
import { runsHere } from './programs/participant-command.ts'
import { LOG_FILE } from './programs/workspace-files.ts'
import type { FlowRun } from './run.ts'

export function attemptOrder(
  run: FlowRun,
  node: CompiledNode,
  command: RunCommand,
  abort: AbortSignal,
): AttemptOrder {
  const { workspace } = run.options
  const { artifacts } = run.state
  const { document } = node
  const staged = command.stands_on.flatMap((base) => run.stages.find(base)?.paths ?? [])
  const { hidden, readOnly } = boundPaths(workspace, command.access, staged, artifacts)
  const { egress = [] } = command.participant ?? {}
  const { writes, required_files: required = [] } = document
  const own = `${artifacts}/${document.node_id}/${command.attempt}/**`
  const declared = [...(writes ?? []), ...required, own]
  return {
    actionId: randomUUID(),
    intent: intentOf(node, command),
    workspace,
    writes: [...(writes ?? ['**']), own],
    bases: run.stages.bases(command.stands_on),
    hidden,
    readOnly: [...readOnly, `${workspace}/${LOG_FILE}`],
    sealed: [
      run.programs.sealed(),
      ...sealedSources(run),
      ...run.programs.loadedAnywhere(declared),
      ...run.programs.foundByName(declared),
      ...run.programs.dataOnly({
        folder: artifacts,
        nodeId: document.node_id,
        attempt: command.attempt,
      }),
      ...artifactsOfOthers(run, command),
    ],
    egress,
    secrets: secretsFor(run, command.participant),
    limits: { seconds: secondsOfAttempt(run, command), memoryMb: null, diskMb: null },
    isTraced: document.trace === 'refused',
    isElsewhere: !runsHere(command.participant),
    // A reviewer may start the work that it judges: the work must not reach the answer.
    hasClosedOutput: command.review !== null,
    abort,
  }
}

/** Names the attempt in what the gate records, and whose acts its acts are; `person` answered there. */
export function runMark(
  run_id: string,
  node: CompiledNode,
  { node_id, attempt }: RunCommand,
  person: string | undefined,
): RunMark {
  const actor = parsePrincipal(person ?? '')?.id ?? `actor:${node.document.actor}`
  return { run_id, node_id, attempt, participant: person ?? principalOf(node), actor }
}

/** The files that began the run: a later `flow run` would take what a participant left there. */
function sealedSources({
  facts: [first],
  options: { workspace },
}: FlowRun): readonly SealedPaths[] {
  const source = first?.type === 'flow_started_v1' ? first.payload.origin?.source : undefined
  const patterns = [source?.file, source?.participants, source?.side].flatMap((file) => {
    const path = file === undefined ? '' : relative(workspace, resolve(workspace, file))
    return path === '' || path.startsWith('..') || path.includes('*') ? [] : [path]
  })
  return [{ code: 'flow.program_touched', patterns, places: [] }]
}

function artifactsOfOthers(
  { flow, state, options: { workspace } }: FlowRun,
  { node_id: nodeId, attempt }: RunCommand,
): readonly SealedPaths[] {
  const nodes = flow.nodes.map(({ index, document }) => ({
    nodeId: document.node_id,
    entries: elementAt(state.nodes, index).entries,
  }))
  return sealedArtifacts({ workspace, folder: state.artifacts, nodeId, attempt, nodes })
}

export function secretsFor(run: FlowRun, participant: Participant | null): Secrets {
  const { environment } = run.options.host
  return participant === null ? {} : secretsOf(participant, environment)
}

/** Of the budget, where there is one; the meter ends the attempt before, where others work too. */
export function secondsLeft({ meter }: FlowRun): number | null {
  const left = meter.secondsLeft()
  return left === null ? null : Math.max(1, Math.ceil(left))
}

/** Null when nothing would change: there is nothing to promote then. */
export function stageOf({ manifest, actionId, result, paths }: HeldAttempt, workspace: string) {
  if (result === null) return null
  const { counts } = result.diff
  if (counts.added + counts.modified + counts.deleted === 0) return null
  const inside = paths
    .filter((path) => path.startsWith(`${workspace}/`))
    .map((path) => path.slice(workspace.length + 1))
  return { manifest, action_id: actionId, paths: inside }
}

/** Most paths and operations that an event names; the record of the act has all of them. */
const ABOUT_MAX = 10
const WORDS_MAX = 200

/** Why the gate does not let pass what an attempt did, with the paths that it is about. */
export function blockOf({ decision, result }: HeldAttempt) {
  const all = decision?.codes ?? []
  // A node declares all that it may do: what it did not do is at fault only where nothing else is.
  const others = all.filter((code) => code !== 'effect.not_observed')
  const codes = others.length === 0 ? all : others
  const found = (result?.findings ?? []).filter(({ code }) => codes.includes(code))
  const about = found.flatMap(({ path, detail }) =>
    path === undefined ? (detail === undefined ? [] : [detail]) : [path],
  )
  return { decision: 'BLOCK' as const, codes, about: [...new Set(about)].slice(0, ABOUT_MAX) }
}

/** An operation in a few words: its type, and the path, address or command that it names. */
export function operationWords(operation: unknown): string {
  if (!isObject(operation)) return 'an operation that is no JSON object'
  const { type, path, argv, url } = operation
  const what = path ?? url ?? (Array.isArray(argv) ? argv.join(' ') : '')
  return `${String(type ?? 'an operation without a type')} ${String(what)}`
    .trim()
    .slice(0, WORDS_MAX)
}

/** An attempt that a budget ended has failed, for that reason and no other. */
export function outOf(what: string, said: Said): Said {
  return { ...said, outcome: 'failed', why: `the ${what} of the run is used up` }
}

/** What runs on could be the work, which can write to the answer until the last moment. */
export function leftText(count: number): string {
  const running = count === 1 ? '1 process was' : `${count} processes were`
  return `${running} still running when the reviewer had ended: end everything that you start, then print the review`
}

function intentOf({ document }: CompiledNode, { attempt, review }: RunCommand): string {
  const what = review === null ? 'Work' : 'Review'
  return `${what} at the node ${document.node_id} of a flow, attempt ${attempt}: ${document.title}.`
}

/** Returns the seconds of the node, or what is left of the budget if that is less; null without both. */
export function secondsFor(
  { timeout_seconds: timeout }: RunCommand,
  left: number | null,
): number | null {
  if (timeout === undefined) return left
  return left === null ? Math.ceil(timeout) : Math.min(Math.ceil(timeout), left)
}

/** The line to an MCP server holds the time of the node, which progress begins again: the attempt does not. */
function secondsOfAttempt(run: FlowRun, command: RunCommand): number | null {
  const left = secondsLeft(run)
  return isToolCall(command) ? left : secondsFor(command, left)
}

function isToolCall({ participant }: RunCommand): boolean {
  return participant !== null && 'mcp' in participant
}

/** A participant whose time was up has failed, also where the line only looks broken. */
export function withTimeout(command: RunCommand, seconds: number, said: Said): Said {
  const { timeout_seconds: timeout } = command
  if (timeout === undefined || said.outcome === 'ended' || seconds < timeout) return said
  // Progress may have begun the time again: only the line knows whether it was up.
  if (isToolCall(command) && said.why?.startsWith('no answer within ') !== true) return said
  const why = `no answer within ${timeout} seconds`
  return { ...said, outcome: 'failed', cause: 'timeout', why }
}
