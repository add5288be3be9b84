/** `writ inbox`: the questions that wait for a human, or everything about one of them. */

import { type RunStop, stopsOf } from '../../flow/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { type DamagedRun, runsElsewhere, stoppedRuns, type WalkedRun } from '../../runs/index.ts'
import type { InboxQuestion, Question } from '../../service/index.ts'
import { countsText, headJson, operationTitle, resultText, visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { nextStep } from '../call/next-step.ts'
import type { Paint, Terminal } from '../call/terminal.ts'
import {
  askerText,
  momentText,
  reasonTextLines,
  undoText,
  whyLines,
} from '../effects/question-head.ts'
import { shortDigest } from '../effects/question-text.ts'
import { stopsText } from '../flow/answer.ts'
import { passWhenOpen } from '../flow/passed.ts'
import { troublesIn, troublesText } from '../flow/schedule-trouble.ts'
import { withSentAnswers } from '../flow/sent-answers.ts'
import { approvalsText, fewHumansText, missingText } from '../gate/approvals-text.ts'
import { type DeliveryState, deliveryStates, undeliveredLines } from '../gate/delivery-text.ts'
import {
  finishedText,
  interruptionsOf,
  interruptionText,
  unfinishedText,
} from '../gate/interrupted.ts'
import { findQuestion, namedId } from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { effectsText, firstLines } from '../gate/show-question.ts'
import { findUndo, undoText as undoQuestionText, undosIn } from '../gate/undo-question.ts'
import { noteLook } from '../session/look.ts'

interface InboxEntry {
  readonly row: InboxQuestion
  /** Null where what it asks about is no longer kept. */
  readonly question: Question | null
  /** What became of messages about it. */
  readonly deliveries: readonly DeliveryState[]
}

export async function run(call: CommandCall): Promise<Exit> {
  return withGates(call, async (sessions) => {
    if (call.arguments.length > 0) return showOne(call, sessions)
    for (const session of sessions) await passWhenOpen(call, session)
    const waiting = await waitingIn(sessions)
    const schedules = await troublesIn(sessions)
    const flows = await flowQuestions(sessions)
    const undos = await undosIn(sessions)
    const interrupted = await interruptionsOf(sessions)
    const { terminal, options } = call
    if (options.isOn('json')) {
      const pending = waiting.map(jsonOf)
      const more = interrupted.length === 0 ? {} : { interrupted }
      const answer = {
        pending,
        ...(flows.length === 0 ? {} : { flows: flows.map(flowJson) }),
        ...(undos.length === 0 ? {} : { undo_requests: undos }),
        ...(schedules.length === 0 ? {} : { schedules }),
        ...more,
      }
      await terminal.out(`${JSON.stringify(answer)}\n`)
      return EXIT.yes
    }
    await terminal.out(lawsText(sessions))
    for (const { gate } of sessions) {
      for (const one of await gate.finished()) await terminal.out(finishedText(one, terminal))
    }
    const unfinished = await unfinishedText(sessions, terminal)
    await terminal.out(unfinished)
    const count = waiting.length + flows.length + schedules.length + undos.length
    const isEmpty = count === 0 && unfinished === ''
    if (isEmpty) await terminal.out('nothing waits\n')
    for (const one of waiting) await terminal.out(`${entryLines(one, terminal.paint).join('\n')}\n`)
    for (const one of undos) await terminal.out(undoQuestionText(one, terminal.paint))
    await terminal.out(flowText(flows, terminal))
    await terminal.out(troublesText(schedules, terminal.paint))
    for (const one of interrupted) await terminal.out(interruptionText(one, terminal))
    return EXIT.yes
  })
}

/** Empty while the laws are those that a human accepted. */
function lawsText(sessions: readonly GateSession[]): string {
  const { home } = sessions[0]?.session ?? {}
  // A session of the gate is opened over a home that is known.
  const { laws, registeredLaws } = (home ?? {}) as Partial<KnownHome>
  if (laws === registeredLaws) return ''
  return 'the laws file was changed and is not accepted yet: look with `writ laws check`, then `writ laws accept`\n'
}

async function waitingIn(sessions: readonly GateSession[]): Promise<readonly InboxEntry[]> {
  const found: InboxEntry[] = []
  for (const session of sessions) {
    const { gate } = session
    for (const row of await gate.pending()) {
      const question = await gate.question(row.action_id)
      const deliveries = question === null ? [] : await deliveryStates(session, question)
      found.push({ row, question, deliveries })
    }
  }
  return found
}

function jsonOf({ row, question, deliveries }: InboxEntry) {
  if (question === null) return row
  const { needs: _needs, ...head } = headJson(question)
  const { machine } = question
  const place = machine === null ? {} : { machine }
  return { ...row, ...head, ...place, ...(deliveries.length === 0 ? {} : { deliveries }) }
}

/** A few lines a question: enough to know which one to look at. */
function entryLines({ row, question, deliveries }: InboxEntry, paint: Paint): readonly string[] {
  const { id, approvals, problem } = row
  const effects = question === null ? countsText(row.effects) : resultText(question.result)
  const head = `${paint.strong(visible(id))}  ${effects}, result ${shortDigest(row.result_digest)}`
  const several =
    approvals === undefined ? [] : [`  ${approvalsText(approvals)}; ${missingText(approvals)}`]
  if (question === null) {
    const words = `${visible(row.kind)}: ${problem?.message ?? 'cannot be shown'}: writ deny ${visible(id)}`
    return [head, `  ${words}`, ...several]
  }
  const { asker, proposal } = question
  return [
    head,
    `  ${paint.strong(operationTitle(proposal))}`,
    `  ${askerText(asker)}, ${momentText(asker.at)}`,
    ...reasonTextLines(question, paint),
    ...several,
    ...(problem === undefined ? [] : [`  ${paint.bad(problem.message)}`]),
    ...undeliveredLines(deliveries).map((words) => `  ${paint.bad(visible(words))}`),
    `  ${paint.dim(`writ inbox ${id} shows it; ${answerText(id, question)}; until ${momentText(row.expires_at)}`)}`,
    '',
  ]
}

/** Where a person says yes, and where no. */
function answerText(id: string, { machine }: Question, how = ''): string {
  if (machine === null) return `writ approve ${id}${how}, or writ deny ${id}`
  const there = machine === '' ? 'another machine' : `the machine ${visible(machine)}`
  return `its files lie on ${there} of the home: writ approve ${id} there; or writ deny ${id} here`
}

/** A run that waits for a person or is blocked; yeses about effects are among the questions of the gate. */
interface FlowQuestion {
  readonly run_id: string
  readonly title: string
  readonly node_id: string
  readonly why: string
  readonly needs: readonly unknown[]
  readonly stop: RunStop
}

async function flowQuestions(sessions: readonly GateSession[]): Promise<readonly FlowQuestion[]> {
  const found: FlowQuestion[] = []
  for (const { session, stream } of sessions) {
    const { home, ledger } = session
    const others = await runsElsewhere(ledger, stream)
    const stopped = await stoppedRuns({ home, ledger, stream }, others)
    for (const run of stopped)
      found.push(...questionsOf('error' in run ? run : await withSentAnswers(ledger, run)))
  }
  return found
}

function damageOf({ runId, error: { fault } }: DamagedRun): FlowQuestion {
  const next = [fault.hint ?? nextStep(fault.code) ?? `writ flow status ${runId}`]
  const kind = 'failed' as const
  const stop = { kind, title: 'this run', code: fault.code, says: fault.message, next }
  return { run_id: runId, title: runId, node_id: '', why: kind, needs: [], stop }
}

function questionsOf(run: WalkedRun | DamagedRun): readonly FlowQuestion[] {
  if ('error' in run) return [damageOf(run)]
  const { runId, flow, waiting } = run
  const { title, flow_id } = flow.document
  return stopsOf(run).flatMap((stop) => {
    if (stop.kind === 'approval') return []
    const node_id = stop.node_id ?? ''
    const asked = waiting.find((one) => one.type === 'ask_human' && one.node_id === node_id)
    const needs = asked?.type === 'ask_human' ? asked.needs : []
    const why = stop.kind === 'decision' ? 'escalation' : stop.kind
    return [{ run_id: runId, title: title || flow_id, node_id, why, needs, stop }]
  })
}

function flowJson({ run_id, title, node_id, why, needs, stop }: FlowQuestion) {
  const { title: node_title, says, next, code } = stop
  const named = code === undefined ? {} : { code }
  return { run_id, title, node_id, node_title, why, ...named, says, needs, next }
}

function flowText(list: readonly FlowQuestion[], { paint }: Terminal): string {
  const runs = new Map<string, FlowQuestion[]>()
  for (const one of list) runs.set(one.run_id, [...(runs.get(one.run_id) ?? []), one])
  return [...runs]
    .map(([runId, of]) => {
      const head = `${paint.strong(visible(of[0]?.title ?? ''))}  ${paint.dim(runId)}\n`
      return `${head}${stopsText(
        of.map(({ stop }) => stop),
        paint,
      ).replace(/^\n/, '')}\n`
    })
    .join('')
}

/** Everything about one question, as it would be shown at the terminal. */
async function showOne(call: CommandCall, sessions: readonly GateSession[]): Promise<Exit> {
  const { terminal, options } = call
  const undo = await findUndo(sessions, namedId(call))
  if (undo !== null) {
    return reply(call, undo.question, (paint) => undoQuestionText(undo.question, paint))
  }
  const { session, question } = await findQuestion(sessions, namedId(call))
  noteLook(session, question.actionId)
  if (options.isOn('json')) {
    const { actionId: action_id, proposal, result, decision, expiresAt } = question
    const head = { action_id, ...headJson(question), proposal, result, decision }
    const { approvals } = question
    const several = approvals === null ? {} : { approvals }
    await terminal.out(`${JSON.stringify({ ...head, expires_at: expiresAt, ...several })}\n`)
    return EXIT.yes
  }
  // The tree may hold what is hidden from actors.
  const hidesContents = session.session.caller.principal.kind !== 'human'
  await showEffectsOf(terminal, question, { whole: options.isOn('all'), hidesContents })
  const { paint } = terminal
  const words = `${resultText(question.result)}, result ${shortDigest(question.resultDigest)}`
  const lines = [
    '',
    ...whyLines(question, paint),
    '',
    `${paint.strong(words)}; ${undoText(question)}`,
    ...approvalLines(question),
    needText(question),
  ]
  await terminal.out(`${lines.join('\n')}\n`)
  return EXIT.yes
}

async function showEffectsOf(
  terminal: Terminal,
  question: Question,
  shown: { readonly whole: boolean; readonly hidesContents: boolean },
) {
  const { whole } = shown
  const columns = terminal.isTty ? terminal.columns : null
  const all = effectsText(question, { paint: terminal.paint, columns, ...shown })
  const pieces = whole || terminal.isTty ? all : firstLines(all, question)
  for await (const piece of pieces) await terminal.out(piece)
}

function approvalLines({ approvals }: Question): readonly string[] {
  if (approvals === null) return []
  const few = fewHumansText(approvals)
  return [`${approvalsText(approvals)}; ${missingText(approvals)}`, ...(few === null ? [] : [few])]
}

function needText(question: Question): string {
  const id = shortDigest(question.resultDigest)
  const needs = {
    plain: question.countsAhead ? '' : ' at a terminal',
    passphrase: ' with the passphrase',
    passkey: ' with a passkey',
  }
  return `${answerText(id, question, needs[question.need])}; until ${momentText(question.expiresAt)}`
}
