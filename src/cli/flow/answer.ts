/** The answer of `flow run`, `resume` and `status`: one object for programs, some lines for people. */
import { type FlowCommand, findingsOf, nodesOf, phasesOf, stateView } from '../../flow/index.ts'
import type { MissingOutput, WalkedRun } from '../../runs/index.ts'
import { EXIT, type Exit } from '../call/command.ts'
import type { Paint, Terminal } from '../call/terminal.ts'
import { plain, table } from '../history/text.ts'

/** What a person has to do before a run can go on. */
interface WaitingNode {
  readonly node_id: string
  readonly why: string
  readonly needs: readonly unknown[]
}

export function runAnswer(run: WalkedRun) {
  const { runId, flow, state, facts, range, status } = run
  return {
    run_id: runId,
    flow_id: flow.document.flow_id,
    status,
    state: stateView(flow, facts, state),
    findings: findingsOf(facts),
    facts: range,
    ...(run.waiting.length === 0 ? {} : { waiting: run.waiting.map(waitingOf) }),
  }
}

export function waitingOf(command: FlowCommand): WaitingNode {
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
  if (status === 'FAILED' || status === 'BLOCKED' || status === 'failed' || status === 'blocked')
    return paint.bad(status)
  return paint.accent(status)
}

const seconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} s`

/** Phases with their time against the floor, nodes with their attempts, budgets, what is waited for. */
export function runText(run: WalkedRun, terminal: Terminal): string {
  const { runId, flow, state, status, facts } = run
  const { paint } = terminal
  const phases = phasesOf(flow, state).map((phase) => [
    plain(phase.phase_id),
    phase.status,
    seconds(phase.cumulative_duration),
    phase.minimum_duration === 0 ? '' : seconds(phase.minimum_duration),
    String(phase.attempts),
    String(phase.tool_calls),
    String(phase.rejections),
  ])
  const nodes = nodesOf(flow, state).map((node) => [
    plain(node.node_id),
    plain(node.title === node.node_id ? '' : node.title),
    node.kind,
    plain(node.phase_id),
    node.status,
    String(node.attempts),
    node.score === null ? '' : String(node.score),
  ])
  const findings = findingsOf(facts).slice(-FINDINGS_SHOWN)
  return [
    `${statusWord(status, paint)}  ${runId}  ${plain(flow.document.title || flow.document.flow_id)}\n`,
    budgetLine(run),
    '\n',
    table(terminal, ['phase', 'status', 'time', 'floor', 'attempts', 'tools', 'rejected'], phases),
    '\n',
    table(terminal, ['node', 'title', 'kind', 'phase', 'status', 'attempts', 'score'], nodes),
    findings.length === 0 ? '' : '\n',
    ...findings.map(
      ({ code, action, node_id, edge_id, values }) =>
        `  ${paint.dim(code)} ${action} ${plain(node_id ?? '')} ${plain(edge_id ?? '')}`.trimEnd() +
        `${valuesText(values)}\n`,
    ),
    ...waitingLines(run, paint),
  ].join('')
}

const FINDINGS_SHOWN = 10
const VALUES_WIDTH = 160

/** What a finding rests on, as one line; all of it is in the report. */
function valuesText(values: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(values).map(
    ([name, value]) => `${plain(name)} ${plain(JSON.stringify(value) ?? '')}`,
  )
  if (parts.length === 0) return ''
  const text = parts.join(', ')
  return `  ${text.length > VALUES_WIDTH ? `${text.slice(0, VALUES_WIDTH)}…` : text}`
}

function budgetLine({ flow, state }: WalkedRun): string {
  const { budgets } = flow.document
  const { attempts, seconds: spent, tokens } = state.totals
  const part = (name: string, used: string, limit: number | undefined): string =>
    `${name} ${used}${limit === undefined ? '' : ` of ${limit}`}`
  return `${[
    part('attempts', String(attempts), budgets?.attempts),
    part('time', spent.toFixed(1), budgets?.seconds),
    part('tokens', String(tokens), budgets?.tokens),
  ].join(', ')}\n`
}

function waitingLines({ runId, waiting }: WalkedRun, paint: Paint): readonly string[] {
  if (waiting.length === 0) return []
  return [
    `\n${paint.strong('waiting for a human')}\n`,
    ...waiting.map((command) => `  ${waitingText(runId, command)}\n`),
    paint.dim(`then: writ flow resume ${runId}\n`),
  ]
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

/** One line: who waits, and what to call. */
export function waitingText(runId: string, command: FlowCommand): string {
  const { node_id, why } = waitingOf(command)
  const id = plain(node_id)
  switch (why) {
    case 'approval':
      return `${id}: its effects need a yes: writ inbox`
    case 'participant':
      return `${id}: answer as the participant: writ flow answer ${runId} ${id} --file ANSWER.json`
    case 'input':
      return `${id}: needs input: writ flow answer ${runId} ${id} provided|abandon`
    // A person decides about every other reason.
    default:
      return `${id}: decide: writ flow answer ${runId} ${id} retry|abandon`
  }
}
