/** The answer of `flow run`, `resume` and `status`: one object for programs, some lines for people. */
import {
  type FlowCommand,
  limitsOf,
  nodesOf,
  nodeTitle,
  ownIdOf,
  phasesOf,
  type RunStop,
  STOP_WORDS,
  stateView,
  type ToldFinding,
  toldFindings,
} from '../../flow/index.ts'
import type { MissingOutput, TakenBack, WalkedRun } from '../../runs/index.ts'
import { EXIT, type Exit } from '../call/command.ts'
import type { Paint, Terminal } from '../call/terminal.ts'
import { plain, table } from '../history/text.ts'

/** What a person has to do before a run can go on. */
interface WaitingNode {
  readonly node_id: string
  readonly why: string
  readonly needs: readonly unknown[]
}

export function runAnswer(run: WalkedRun, stops: readonly RunStop[]) {
  const { runId, flow, state, facts, range, status } = run
  return {
    run_id: runId,
    flow_id: flow.document.flow_id,
    status,
    state: stateView(flow, facts, state),
    findings: toldFindings(flow, facts),
    facts: range,
    ...(run.waiting.length === 0 ? {} : { waiting: run.waiting.map(waitingOf) }),
    ...(stops.length === 0 ? {} : { stops }),
  }
}

function waitingOf(command: FlowCommand): WaitingNode {
  switch (command.type) {
    case 'ask_human':
      return { node_id: command.node_id, why: command.why, needs: command.needs }
    case 'promote':
      return { node_id: command.node_id, why: 'approval', needs: [] }
    case 'run_participant':
    case 'ask_again':
      return { node_id: command.node_id, why: 'participant', needs: [] }
    // Commands that the host carries out without a person.
    default:
      return { node_id: '', why: command.type, needs: [] }
  }
}

export function statusExit(status: WalkedRun['status']): Exit {
  if (status === 'DONE') return EXIT.yes
  return status === 'WAITING' || status === 'RUNNING' ? EXIT.waiting : EXIT.no
}

export function statusWord(status: string, paint: Paint): string {
  if (status === 'DONE' || status === 'done' || status === 'ended') return paint.good(status)
  if (status === 'CANCELLED') return paint.bad(status)
  if (status === 'FAILED' || status === 'BLOCKED' || status === 'failed' || status === 'blocked')
    return paint.bad(status)
  return paint.accent(status)
}

/** More nodes are counted, and only those are listed at which something happens. */
const NODES_LISTED = 40
const AT_REST: ReadonlySet<string> = new Set(['idle', 'done', 'abandoned'])

/** Why it stopped, phases with their time against the floor, nodes with their attempts, findings. */
export function runText(
  run: WalkedRun,
  terminal: Terminal,
  stops: readonly RunStop[],
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): string {
  const { runId, flow, status, facts } = run
  const { paint } = terminal
  const findings = toldFindings(flow, facts).slice(-FINDINGS_SHOWN)
  return [
    `${statusWord(status, paint)}  ${plain(flow.document.title || flow.document.flow_id)}  ${paint.dim(runId)}\n`,
    budgetLine(run),
    status === 'RUNNING' ? '' : stopsText(stops, paint),
    '\n',
    phaseTable(run, terminal),
    '\n',
    nodeTable(run, terminal, stops),
    findings.length === 0 ? '' : `\n${paint.strong('findings')}\n`,
    ...findings.map((finding) => findingLine(finding, run, paint)),
    status === 'WAITING' && !isElsewhere
      ? paint.dim(`\nafter an answer: writ flow resume ${runId}\n`)
      : '',
  ].join('')
}

const seconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} s`

function phaseTable({ flow, state }: WalkedRun, terminal: Terminal): string {
  const all = phasesOf(flow, state)
  const shown = all.length > NODES_LISTED ? all.filter(({ status }) => isUnderWay(status)) : all
  const rows = shown.map((phase) => [
    plain(phase.phase_id),
    phase.status,
    seconds(phase.cumulative_duration),
    phase.minimum_duration === 0 ? '' : seconds(phase.minimum_duration),
    String(phase.attempts),
    String(phase.tool_calls),
    String(phase.rejections),
  ])
  const heads = ['phase', 'status', 'time', 'floor', 'attempts', 'tools', 'rejected']
  return `${countLine('phase', all)}${rows.length === 0 ? '' : table(terminal, heads, rows)}`
}

function isUnderWay(status: string): boolean {
  return status === 'open' || status === 'blocked'
}

function nodeTable(
  { flow, state }: WalkedRun,
  terminal: Terminal,
  stops: readonly RunStop[],
): string {
  const all = nodesOf(flow, state, stops)
  const shown = all.length > NODES_LISTED ? all.filter(({ status }) => !AT_REST.has(status)) : all
  const rows = shown.map((node) => [
    plain(nodeTitle(flow, node.node_id)),
    plain(ownIdOf(flow, node.node_id) ?? node.node_id),
    node.kind,
    plain(node.phase_id),
    node.status,
    String(node.attempts),
    node.score === null ? '' : String(node.score),
  ])
  const heads = ['title', 'node', 'kind', 'phase', 'status', 'attempts', 'score']
  return `${countLine('node', all)}${rows.length === 0 ? '' : table(terminal, heads, rows)}`
}

/** How many there are of each status, where not all of them are listed. */
function countLine(noun: string, all: readonly { readonly status: string }[]): string {
  if (all.length <= NODES_LISTED) return ''
  const counts = new Map<string, number>()
  for (const { status } of all) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = [...counts].map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`)
  return `${all.length} ${noun}s: ${parts.join(', ')}\n`
}

const FINDINGS_SHOWN = 10

function findingLine(
  { code, action, node_id, edge_id, says }: ToldFinding,
  { flow }: WalkedRun,
  paint: Paint,
): string {
  const place = node_id === undefined ? edge_id : nodeTitle(flow, node_id)
  // What is about the run as a whole names its subject itself.
  return `  ${place === undefined ? '' : `${plain(place)}: `}${plain(says)} ${paint.dim(`${code} ${action}`)}\n`
}

/** Each reason with the commands that help. */
export function stopsText(stops: readonly RunStop[], paint: Paint): string {
  return stops.map((stop) => `\n${stopText(stop, paint)}`).join('')
}

function stopText({ kind, node_id, title, code, says, next }: RunStop, paint: Paint): string {
  const name = node_id === undefined || node_id === title ? title : `${title} (${node_id})`
  const word = STOP_WORDS[kind]
  const mark =
    kind === 'blocked' || kind === 'refused' || kind === 'failed' ? paint.bad : paint.accent
  const after = code === undefined ? '' : ` ${paint.dim(code)}`
  return [
    `${mark(word)}  ${paint.strong(plain(name))}: ${plain(says)}${after}\n`,
    ...next.map((command) => `  ${plain(command)}\n`),
  ].join('')
}

function budgetLine({ flow, state }: WalkedRun): string {
  const budgets = limitsOf(flow, state)
  const { attempts, seconds: spent, tokens } = state.totals
  const part = (name: string, used: string, limit: number | undefined): string =>
    `${name} ${used}${limit === undefined ? '' : ` of ${limit}`}`
  return `${[
    part('attempts', String(attempts), budgets.attempts),
    part('time', spent.toFixed(1), budgets.seconds),
    part('tokens', String(tokens), budgets.tokens),
  ].join(', ')}\n`
}

/** What was promoted and is not there any more, because a person took it back. */
export function takenBackText(taken: readonly TakenBack[], { paint }: Terminal): string {
  if (taken.length === 0) return ''
  return [
    `\n${paint.strong('taken back')}\n`,
    ...taken.map(
      ({ node_id, action_id, at, by }) =>
        `  ${plain(node_id)}: ${plain(by)} took its act ${action_id} back at ${at}\n`,
    ),
  ].join('')
}

const MISSING_SHOWN = 10

/** What was said in the run and dropped since; nothing when everything is kept. */
export function missingText(missing: readonly MissingOutput[], { paint }: Terminal): string {
  if (missing.length === 0) return ''
  const more = missing.length - MISSING_SHOWN
  return [
    `\n${paint.strong('no longer kept')}\n`,
    ...missing
      .slice(0, MISSING_SHOWN)
      .map(
        ({ node_id, what, bytes }) =>
          `  ${plain(node_id)}: ${MISSING_WORDS[what]}, ${bytes} bytes\n`,
      ),
    more > 0 ? `  and ${more} more\n` : '',
  ].join('')
}

const MISSING_WORDS = { raw: 'what was said', artifact: 'the contents of what it made' } as const
