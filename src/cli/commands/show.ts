/**
 * `writ show ID`: everything the ledger says about a task, an action, a run or one fact. Looks in every
 * stream that the caller may know of; what lies in another does not exist.
 */
import { faultError, isUuid, showName } from '../../base/index.ts'
import type { Decision } from '../../contracts/index.ts'
import { stopsOf } from '../../flow/index.ts'
import type { Approvals } from '../../gate/index.ts'
import {
  allFacts,
  halfDone,
  markHalfDone,
  openFact,
  readAct,
  rollbacksOf,
  shownFact,
  treeErrors,
  wholeActionId,
} from '../../history/index.ts'
import {
  areContradictory,
  type DispatchView,
  dispatchView,
  type EvidencePack,
  evidencePack,
  type IntegrityReport,
  integrityReport,
  type OpenedFact,
  type Register,
  type TaskStatus,
  taskStatus,
} from '../../ledger/index.ts'
import { lookAtRun } from '../../runs/index.ts'
import type { LawWords } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { type ReadSession, streamsToRead, withHistory } from '../call/home.ts'
import { stopsText } from '../flow/answer.ts'
import { namedWork, tellQueued } from '../flow/queued.ts'
import { withSentAnswers } from '../flow/sent-answers.ts'
import { approvalsText } from '../gate/approvals-text.ts'
import { actLines } from '../history/act-text.ts'
import { DispatchReplay } from '../history/dispatch-replay.ts'
import { FACT_HEADS, factRow } from '../history/fact-row.ts'
import { lawWordsAmong } from '../history/past-decision.ts'
import { approvalsOf, shownApprovals } from '../history/promotion-replay.ts'
import { plainLines, table } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || others.length > 0) {
    const hint = 'writ show ID, where ID is a task, an action, a run, a fact or STREAM/SEQ'
    throw usageError('name one id', hint)
  }
  return withHistory(call, (session) => showId(session, call, id))
}

interface Found {
  readonly kind: 'task' | 'action' | 'run' | 'fact'
  readonly stream: string
  readonly facts: readonly OpenedFact[]
}

/** Also the whole of `writ task show`, which asks for a task and nothing else. */
export async function showId(
  session: ReadSession,
  call: CommandCall,
  id: string,
  kinds: readonly Found['kind'][] = ['task', 'action', 'run', 'fact'],
): Promise<Exit> {
  const streams = await streamsToRead(session, call)
  const whole = kinds.includes('action') ? await wholeActionId(session.ledger, streams, id) : id
  for (const stream of streams) {
    for (const kind of kinds) {
      const named = kind === 'action' ? whole : id
      const facts = await lookUp(session, stream, kind, named)
      if (facts.length > 0) return tell(session, call, named, { kind, stream, facts })
    }
  }
  const named = call.options.text('stream')
  // A run or a proposal that no worker has taken yet.
  const queued = kinds.includes('action')
    ? await namedWork(session, ['run', 'action'], named, id)
    : null
  if (queued !== null) return tellQueued(call, session, queued)
  throw faultError('history.unknown', id, `nothing here has the id ${showName(id)}`)
}

async function lookUp(
  { ledger }: ReadSession,
  stream: string,
  kind: Found['kind'],
  id: string,
): Promise<readonly OpenedFact[]> {
  if (kind !== 'fact') return allFacts(ledger, { stream, [kind]: id })
  if (isUuid(id)) return allFacts(ledger, { stream, factId: id })
  const place = /^([a-z0-9._-]+)\/(\d{1,15})$/.exec(id)
  if (place === null || place[1] !== stream) return []
  const seq = Number(place[2])
  const [stored] = await ledger.store.read(stream, seq, 1)
  return stored?.seq === seq ? [await openFact(ledger, stored.text)] : []
}

async function tell(
  session: ReadSession,
  call: CommandCall,
  id: string,
  found: Found,
): Promise<Exit> {
  const { kind, stream, facts } = found
  const act = kind === 'task' ? await actAnswer(session, id, found) : {}
  const { integrity_report: report } = act
  const approvals = kind === 'action' ? approvalsAmong(facts, session.register) : null
  const several = approvals === null ? {} : { approvals: shownApprovals(approvals) }
  const laws = kind === 'action' ? await lawWordsAmong(session.ledger, facts) : []
  const told = laws.length === 0 ? {} : { laws }
  const answer = { id, kind, stream, facts: facts.map(shownFact), ...act, ...several, ...told }
  const { terminal, options } = call
  if (options.isOn('json')) await terminal.out(`${JSON.stringify(answer)}\n`)
  else if (kind === 'action')
    await terminal.out(await actText(session, call, id, { ...found, laws }))
  else {
    if (kind === 'run') await terminal.out(await stopText(session, call, id, stream))
    await terminal.out(toText(call, found, report ?? null))
  }
  if (act.contradictory === true && !options.isOn('json')) {
    await terminal.out(
      `receipts   ${terminal.paint.bad('contradictory')}: one says executed, another one not_executed\n`,
    )
  }
  if (act.dispatch !== undefined && act.dispatch !== null && !options.isOn('json')) {
    await terminal.out(dispatchText(act.dispatch, id))
  }
  if (approvals !== null && !options.isOn('json')) {
    await terminal.out(`${approvalsText(approvals)}\n`)
  }
  return report === undefined || report.ok ? EXIT.yes : EXIT.no
}

/** Why a run waits or has stopped; nothing for a planning, which has answers and no flow. */
async function stopText(
  { home, ledger }: ReadSession,
  { terminal }: CommandCall,
  runId: string,
  stream: string,
): Promise<string> {
  if (!runId.startsWith('run-')) return ''
  const walked = await withSentAnswers(ledger, await lookAtRun({ home, ledger, stream }, runId))
  const stops = walked.status === 'RUNNING' ? [] : stopsOf(walked)
  return stops.length === 0 ? '' : `${stopsText(stops, terminal.paint).trimStart()}\n`
}

/** An act as its facts tell it; other facts of an action (tasks, runs) as a table. */
async function actText(
  { ledger, home }: ReadSession,
  call: CommandCall,
  id: string,
  found: Found & { readonly laws: readonly LawWords[] },
): Promise<string> {
  const act = await readAct(ledger, found.stream, id, await rollbacksOf(ledger, found.stream))
  if (act === null || act.decision === null) return toText(call, found, null)
  const texts = new Map(found.laws.map(({ policy_id, text }) => [policy_id, text]))
  const shown = markHalfDone(act, await halfDone(home))
  return `${actLines(shown, texts, call.terminal.paint).join('\n')}\n`
}

/** Returns the approvals of the last decision about an act; null if it asked one human or none. */
function approvalsAmong(facts: readonly OpenedFact[], register: Register): Approvals | null {
  const decided = facts.findLast(({ record }) => record.type === 'decision_v1')
  if (decided === undefined || decided.payload === null) return null
  const ofType = (type: string) => facts.filter(({ record }) => record.type === type)
  const [answers, evaluations] = [ofType('confirmation_v1'), ofType('evaluation_v1')]
  // The store judged the record by its contract before it was written.
  return approvalsOf(decided.payload as Decision, answers, evaluations, register)
}

interface ActAnswer {
  readonly evidence_pack?: EvidencePack
  readonly integrity_report?: IntegrityReport
  readonly status?: TaskStatus
  /** One receipt says executed, another one not_executed. */
  readonly contradictory?: boolean
  /** Where it is on its way to its device; null for a task that is for none. */
  readonly dispatch?: DispatchView | null
}

async function actAnswer({ ledger }: ReadSession, id: string, found: Found): Promise<ActAnswer> {
  const { stream, facts } = found
  const evidence_pack = evidencePack(id, facts)
  const breach = await new DispatchReplay(ledger).breachOf(stream, id)
  const errors = [
    ...(await treeErrors(ledger, stream, facts)),
    ...(breach === null ? [] : [{ code: 'replay.different', ...breach }]),
  ]
  return {
    evidence_pack,
    integrity_report: integrityReport(facts, errors),
    status: taskStatus(evidence_pack.receipts),
    contradictory: areContradictory(evidence_pack.receipts),
    dispatch: dispatchView(facts, Date.now()),
  }
}

/** What a person does next, where something is left to do. */
const NEXT: Readonly<Partial<Record<DispatchView['state'], string>>> = {
  offered: 'writ task withdraw ID takes it back',
  silent: 'the device was not heard; to try again, issue a new task',
  unknown:
    'it is not known whether it was carried out: look at the machine, then `writ receipt submit` what you found',
}

function dispatchText({ state, device, way, late }: DispatchView, id: string): string {
  const by = way === null ? '' : ` by ${way}`
  const next = NEXT[state]?.replace('ID', id)
  const more = `${late ? ', after it had been given up' : ''}${next === undefined ? '' : `: ${next}`}`
  return `dispatch   ${state}, for ${device}${by}${more}\n`
}

function toText(call: CommandCall, { kind, stream, facts }: Found, report: IntegrityReport | null) {
  const { terminal } = call
  const { paint } = terminal
  const lines = [
    `${paint.strong(kind)}  in stream ${stream}, ${facts.length === 1 ? '1 fact' : `${facts.length} facts`}`,
    table(terminal, FACT_HEADS, facts.map(factRow)),
  ]
  if (kind === 'fact' || kind === 'task') {
    for (const fact of facts) lines.push(payloadText(fact))
  }
  if (report !== null) {
    const word = report.ok ? paint.good('whole') : paint.bad('broken')
    lines.push(`integrity  ${word}, ${report.receipts_checked} receipts checked`)
    for (const { code, seq, message } of report.errors) {
      lines.push(`  ${seq === undefined ? '' : `seq ${seq}  `}${paint.dim(code)}  ${message}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function payloadText({ seq, payload, record }: OpenedFact): string {
  const text = plainLines(JSON.stringify(payload, null, 2))
  return `${seq}  ${record.type}\n${text}\n`
}
