/**
 * What follows when the sandbox of `writ exec` is on its way: the proposal, the command live at the
 * terminal, the question, the answer. Loaded while the sandbox starts.
 */

import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { CODES } from '../../base/index.ts'
import { shortId } from '../../history/index.ts'
import { stateRoot } from '../../home/index.ts'
import type { Confirm, GateAnswer } from '../../service/index.ts'
import { countsText } from '../../words/index.ts'
import { type CommandCall, type OwnStatus, ownStatus } from '../call/command.ts'
import { surroundings, type Terminal } from '../call/terminal.ts'
import { tellForeignGroups } from '../effects/foreign-groups.ts'
import { answerLines, findingLines, setAsideLines } from '../gate/answer-text.ts'
import { execConfirm, settleChangedInputs } from '../gate/confirm.ts'
import { finishedText } from '../gate/interrupted.ts'
import { LOST_PART, losesPart } from '../gate/lost-part.ts'
import { type Begun, type GateSession, withGate } from '../gate/open.ts'
import {
  capText,
  type ExecRequest,
  execProposal,
  isDeclaredByApproval,
  withinCeilings,
} from './exec-proposal.ts'
import { HomeQuestion } from './home-choice.ts'
import { Live } from './live.ts'
import { releaseBefore } from './release.ts'
import { prepareReport, type ReportGround, writeReport } from './report-file.ts'
import { FailureNote, HiddenNote, scopeAdvice } from './run-advice.ts'

const REFUSED = 125
const WAITING = 75
const SIGNAL_BASE = 128

export async function carryOut(
  call: CommandCall,
  request: ExecRequest,
  begun: Begun,
): Promise<OwnStatus> {
  const work = async (session: GateSession) => {
    const { ceilings } = session.gate
    const resources = withinCeilings(request.resources, ceilings, call.options)
    const ground = reportGround(session, request)
    prepareReport(call.options, ground)
    const { answer, prompts, home } = await runLive(session, { ...request, resources })
    const { droppedVariables: dropped_variables } = session.gate
    writeReport(call.options, ground, { ...answer, prompts, dropped_variables })
    const { status, code } = execEnd(answer)
    const advice = home.wasAsked ? home.advice(answer) : adviceLines(session, request, answer)
    await tellFinished(session)
    const cap = capOf(answer, resources, ceilings)
    if (code !== null)
      explain(call, answer, code, { cap, advice: [...lostLine(call, answer), ...advice] })
    else {
      if (!home.wasAsked) tellLeft(call.terminal, answer, advice)
      tellDone(call, answer)
      tellLaws(session, answer)
    }
    return status
  }
  return withGate(call, work, begun)
}

/** Returns where the report of this caller may lie. */
function reportGround({ session }: GateSession, { cwd, scope }: ExecRequest): ReportGround {
  const places = [session.home.directory, stateRoot(surroundings())]
  const isPerson = session.caller.principal.kind === 'human'
  return { cwd, places, scope, isPersons: isPerson }
}

async function runLive(session: GateSession, request: ExecRequest) {
  const proposal = execProposal(request)
  tellForeignGroups(session.call.terminal, request.scope)
  // Before anything runs, and while the terminal is still ours.
  if (request.hosts.length > 0) await releaseBefore(session, proposal, request.send)
  const live = new Live()
  const failure = new FailureNote()
  const hidden = new HiddenNote({ ...request, home: surroundings().userDirectory })
  const prompts = new PromptCount()
  const home = new HomeQuestion(session, live)
  const tell = (text: string): void => session.call.terminal.err(text)
  const confirm = home.confirming(prompts.counting(execConfirm(session, live)))
  try {
    const first = await session.gate.propose(proposal, {
      door: 'exec',
      declaredByApproval: isDeclaredByApproval(request),
      dryRun: false,
      confirm,
      live: home.asking(hidden.watching(failure.watching(live.run()), tell)),
      abort: live.abort.signal,
    })
    const answer = await settleChangedInputs(session.gate, first, confirm)
    const note = failure.text(answer.result)
    if (note !== null) session.call.terminal.err(`${note}\n`)
    return { answer, prompts: prompts.asked, home }
  } finally {
    live.close()
  }
}

/** What would include what the run changed outside its scope. */
function adviceLines(
  { session, isBelowAgent }: GateSession,
  { cwd, scope }: ExecRequest,
  { result }: GateAnswer,
): readonly string[] {
  const isPerson = session.caller.principal.kind === 'human' && !isBelowAgent
  const run = { cwd, scope, home: surroundings().userDirectory, isPerson }
  const advice = scopeAdvice(result?.findings ?? [], run)
  const isLeftOut = result?.findings.some(({ code }) => code === 'effect.left_out') ?? false
  return [...(advice === null ? [] : [advice]), ...(isPerson && isLeftOut ? [AT_TERMINAL] : [])]
}

const AT_TERMINAL =
  'or run it at a terminal without --yes and answer `all`, which keeps the changes to your home too'

/** Why a yes that was given before the run was not enough. */
function lostLine({ options }: CommandCall, { pending, result }: GateAnswer): readonly string[] {
  if (!options.isOn('yes') || pending === undefined || result === null) return []
  return losesPart(result, surroundings().userDirectory) ? [LOST_PART] : []
}

function capOf(
  { result }: GateAnswer,
  resources: ExecRequest['resources'],
  ceilings: ExecRequest['resources'],
): string | null {
  const cap = result?.execution.killed_by
  if (result === null || cap === undefined) return null
  // A disk that is full ends a run as its cap does, long before that.
  const isDiskFull = cap === 'disk' && result.resources.disk_mb < resources.max_disk_mb / 2
  return isDiskFull ? FULL_DISK : capText(cap, resources, ceilings)
}

const FULL_DISK =
  'the run was ended: no space was left on the disk of the scope, where its changes are kept until they are promoted; make room there (`writ gc` removes leftovers of writ), then run the command again'

/** On standard error, which is ours as soon as the status is; the last line is the code alone. */
function explain(
  { terminal }: CommandCall,
  answer: GateAnswer,
  code: string,
  { cap, advice }: { readonly cap: string | null; readonly advice: readonly string[] },
): void {
  const lines = answerLines(answer, terminal.paintError, false, cap)
  const wasAsked = answer.decision.decision === 'CONFIRM' && answer.pending === undefined
  // A person who was asked has just seen everything.
  if (wasAsked) lines.splice(1)
  const isNo = wasAsked && answer.expired !== true && answer.superseded_by === undefined
  if (isNo) lines.unshift('Declined. Nothing was changed.')
  terminal.err(`${[...lines, ...advice].join('\n')}\nwrit: ${code}\n`)
}

/** Findings about what stays as it was although the command changed it. */
const LEFT: ReadonlySet<string> = new Set([
  'effect.left_out',
  'effect.not_taken',
  'effect.writ_kept',
])

/** Says what of a promoted run was not kept, at a terminal or not: the files are not there. */
function tellLeft(terminal: Terminal, answer: GateAnswer, advice: readonly string[]): void {
  const { result } = answer
  const findings = (result?.findings ?? []).filter(({ code }) => LEFT.has(code))
  if (result === null || findings.length === 0) return
  const lines = findingLines({ ...answer, result: { ...result, findings } }, terminal.paintError)
  const text = ['writ exec: not everything that the command changed is kept', ...lines, ...advice]
  terminal.err(`${text.join('\n')}\n`)
}

/** Says which interrupted acts this command ended before its own. */
async function tellFinished({ call: { terminal }, gate }: GateSession): Promise<void> {
  for (const one of await gate.finished()) {
    terminal.err(finishedText(one, { paint: terminal.paintError }))
  }
}

const UNACCEPTED = 'laws.unaccepted'
const LAWS_GONE =
  'the law file `.writ/laws.yaml` is gone; the accepted laws stay in force until you put it back or run `writ laws accept`, which leaves the default laws alone in force'

/** Says, at a terminal or not, that other laws hold than those of the file, or that one was set aside. */
function tellLaws({ call: { terminal }, session }: GateSession, answer: GateAnswer): void {
  for (const line of setAsideLines(answer)) terminal.err(`writ exec: ${line.trimStart()}\n`)
  if (!answer.decision.codes.includes(UNACCEPTED)) return
  const isGone = !existsSync(join(session.home.directory, 'laws.yaml'))
  terminal.err(`writ exec: ${isGone ? LAWS_GONE : CODES[UNACCEPTED].says} (${UNACCEPTED})\n`)
}

/**
 * Says in one line what was promoted and how to take it back, to a person at a terminal. Anywhere else
 * standard error is the command's own.
 */
function tellDone(call: CommandCall, answer: GateAnswer): void {
  const { terminal, options } = call
  const { promoted, result, action_id } = answer
  if (!promoted || result === null || !terminal.isErrorTty || options.isOn('quiet')) return
  const { counts } = result.diff
  if (counts.added + counts.modified + counts.deleted === 0) return
  const id = shortId(action_id)
  const paint = terminal.paintError
  const words = `${countsText(counts)} (${id}); take it back with \`writ undo\``
  terminal.err(`${paint.good('promoted')}  ${paint.dim(words)}\n`)
}

/**
 * How often a human had to be asked about one act: what an approval costs, counted where it is asked.
 */
class PromptCount {
  #asked = 0

  /** Counts every question, independent of its answer. */
  counting(confirm: Confirm): Confirm {
    return (question) => {
      this.#asked++
      return confirm(question)
    }
  }

  get asked(): number {
    return this.#asked
  }
}

interface ExecEnd {
  readonly status: OwnStatus
  /** The last line of standard error; null when the status is the command's own and all is done. */
  readonly code: string | null
}

/**
 * The status with which `writ exec` ends: the command's own when its effects were promoted or there
 * were none; 125 when writ did not let it (blocked, denied, fault); 75 when its effects wait for a
 * human.
 */
export function execEnd({ decision, result, promoted, pending }: GateAnswer): ExecEnd {
  const execution = result?.execution
  const own = execution === undefined ? null : commandStatus(execution)
  const isDone = promoted || (decision.decision === 'PROMOTE' && !hasEffects(result))
  if (isDone && own !== null) return { status: own, code: null }
  // There is nothing to promote of a failure without effects, and nothing to say about it.
  const hasOnlyFailed = decision.code === 'result.failed' && !hasEffects(result)
  if (hasOnlyFailed && own !== null) return { status: own, code: null }
  if (pending !== undefined) return { status: ownStatus(WAITING), code: decision.code }
  return { status: ownStatus(REFUSED), code: decision.code }
}

function hasEffects(result: GateAnswer['result']): boolean {
  if (result === null) return false
  const { added, modified, deleted } = result.diff.counts
  return added + modified + deleted > 0
}

/** As a shell tells it: the exit code, or 128 and the number of the signal. */
function commandStatus(execution: {
  readonly exit_code: number | null
  readonly signal: string | null
}): OwnStatus | null {
  if (execution.exit_code !== null) return ownStatus(execution.exit_code)
  const signal = Object.entries(constants.signals).find(([name]) => name === execution.signal)
  return signal === undefined ? null : ownStatus(SIGNAL_BASE + signal[1])
}
