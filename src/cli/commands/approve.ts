/**
 * `writ approve` and `writ deny`: a human says yes to the effects of one rehearsal, or of several that
 * are alike, and they are promoted; or no. On a terminal the effects are shown first.
 *
 * Several questions that are answered together are each shown; one yes and one proof count for all, and
 * each gets a confirmation of its own, bound to its own proposal and result (I4). Only questions of one
 * shape go together, so that a person does not overlook a deletion between two additions.
 */

import { faultError, showName } from '../../base/index.ts'
import { shortId } from '../../history/index.ts'
import { principalText } from '../../ledger/index.ts'
import {
  type Answered,
  answeredElsewhere,
  type Confirm,
  type GateAnswer,
} from '../../service/index.ts'
import { failureText, resultText, visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { proveAhead, refuseOthers } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { whyLines } from '../effects/question-head.ts'
import { readAnswer, shortDigest } from '../effects/question-text.ts'
import { askWord } from '../gate/answer-line.ts'
import { answerLines, exitOf, printAnswer } from '../gate/answer-text.ts'
import {
  askAboutPart,
  askAtTerminal,
  assure,
  assureAhead,
  refuseAhead,
  settleChangedInputs,
} from '../gate/confirm.ts'
import {
  type FoundQuestion,
  findLost,
  findQuestion,
  type LostQuestion,
  namedId,
} from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { partNamed } from '../gate/part.ts'
import { showEffects } from '../gate/show-question.ts'
import { approveUndo, denyUndo, findUndo } from '../gate/undo-question.ts'
import { noteLook } from '../session/look.ts'

export async function approve(call: CommandCall): Promise<Exit> {
  const like = call.options.text('like')
  const isMany = like !== null || call.arguments.length > 1
  if (like !== null && call.arguments.length > 0) {
    throw usageError('`--like` names the question itself')
  }
  if (isMany && call.options.texts('only').length > 0) {
    throw usageError('`--only` takes a part of one question')
  }
  const id = isMany ? '' : namedId(call)
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'approving')
    const [first] = sessions
    if (first !== undefined) await proveAhead(first.session, call, 'approving')
    if (isMany) return approveBatch(call, await findBatch(sessions, call.arguments, like))
    const undo = await findUndo(sessions, id)
    if (undo !== null) return approveUndo(call, undo)
    const found = await findQuestion(sessions, id)
    const { gate } = found.session
    refuseElsewhere([found])
    refuseRepeated([found])
    noteLook(found.session, found.question.actionId)
    const names = call.options.texts('only')
    const answered = names.length === 0 ? await approval(found) : await approvalOfPart(found, names)
    // An answer other than yes is no denial: `writ deny` is a call of its own.
    if (answered.kind !== 'yes') return stillWaits(call, id)
    const outcome = await gate.answer(found.question.actionId, answered)
    if (!asksFirst(call)) return printAnswer(call, outcome)
    const again: Confirm = async (question) => {
      const asked = await askAtTerminal(found.session, question, 'approve')
      return asked.kind === 'yes' ? asked : { kind: 'wait' }
    }
    return printAnswer(call, await settleChangedInputs(gate, outcome, again))
  })
}

function stillWaits({ terminal }: CommandCall, id: string): Exit {
  terminal.err(`not approved; it still waits: writ deny ${visibleName(id)} ends it\n`)
  return EXIT.waiting
}

function asksFirst({ options }: CommandCall): boolean {
  return canAsk() && !options.isOn('yes') && !options.isOn('json')
}

/** With `--yes`, or with a passphrase that is handed over, the call itself is the yes. */
async function approval({ session, question }: FoundQuestion): Promise<Answered> {
  if (asksFirst(session.call)) return askAtTerminal(session, question, 'approve')
  const failure = failureText(question.result)
  if (failure !== null) session.call.terminal.err(`${failure}\n`)
  refuseAhead(session, question)
  const assured = await assureAhead(session, question, 'approving')
  return { kind: 'yes', ...assured(question), ...(failure === null ? {} : { toldFailure: true }) }
}

/** The same for the part that `--only` names. */
async function approvalOfPart(
  { session, question }: FoundQuestion,
  names: readonly string[],
): Promise<Answered> {
  const part = await partNamed(question, names)
  if (asksFirst(session.call)) return askAboutPart(session, part, 'approve')
  const answered = await approval({ session, question: part })
  return answered.kind === 'yes' ? { ...answered, part: part.resultDigest } : answered
}

/** The questions that a call names: one by one, or all that are like one. */
async function findBatch(
  sessions: readonly GateSession[],
  ids: readonly string[],
  like: string | null,
): Promise<readonly FoundQuestion[]> {
  const found: FoundQuestion[] = []
  for (const id of like === null ? ids : [like]) found.push(await findQuestion(sessions, id))
  const [first] = found
  if (first === undefined) return found
  if (like !== null) {
    const alike = [first, ...(await othersLike(sessions, first))]
    const open = alike.filter((one) => !isApprovedBefore(one))
    return open.length === 0 ? alike : open
  }
  const once = found.filter(
    (one, index) => found.findIndex((other) => sameAction(one, other)) === index,
  )
  const unlike = once.find(({ question }) => question.shape !== first.question.shape)
  if (unlike === undefined) return once
  const names = [first, unlike].map(({ question }) => showName(question.actionId)).join(' and ')
  const message = `${names} are not of one kind, reason and need`
  const hint = 'answer them one by one, or all that are like one: `writ approve --like ID`'
  throw faultError('confirm.unlike', '', message, hint)
}

/** The caller approved it, and others have to as well. */
function isApprovedBefore({ session, question }: FoundQuestion): boolean {
  const by = principalText(session.session.caller.principal)
  return question.approvals?.given.some((one) => one.by === by) === true
}

/** Before anything is asked: a yes is carried out where the rehearsed files lie. */
function refuseElsewhere(batch: readonly FoundQuestion[]): void {
  const { question } = batch.find((one) => one.question.machine !== null) ?? {}
  if (question !== undefined) throw answeredElsewhere(question.actionId, question.machine ?? '')
}

/** Before anything is asked: nothing of a batch is answered when one of it cannot be. */
function refuseRepeated(batch: readonly FoundQuestion[]): void {
  const repeated = batch.find(isApprovedBefore)
  if (repeated === undefined) return
  const { session, question } = repeated
  const name = showName(principalText(session.session.caller.principal))
  const message = `${name} approved ${showName(question.actionId)} before`
  const hint = 'another human has to approve it'
  throw faultError('confirm.repeated', question.actionId, message, hint)
}

function sameAction(one: FoundQuestion, other: FoundQuestion): boolean {
  return one.question.actionId === other.question.actionId
}

async function othersLike(
  sessions: readonly GateSession[],
  first: FoundQuestion,
): Promise<readonly FoundQuestion[]> {
  const found: FoundQuestion[] = []
  for (const session of sessions) {
    for (const { action_id, shape } of await session.gate.pending()) {
      if (shape !== first.question.shape || action_id === first.question.actionId) continue
      const question = await session.gate.question(action_id)
      if (question !== null && question.shape === shape) found.push({ session, question })
    }
  }
  return found
}

/** Shows all, asks once, and answers each for itself. Nothing is denied by not approving. */
async function approveBatch(call: CommandCall, batch: readonly FoundQuestion[]): Promise<Exit> {
  const [first] = batch
  if (first === undefined) return EXIT.yes
  refuseElsewhere(batch)
  refuseRepeated(batch)
  const isAsked = canAsk() && !call.options.isOn('yes') && !call.options.isOn('json')
  if (isAsked && !(await isAgreed(call, batch))) {
    call.terminal.err(`not approved; ${batch.length} questions still wait\n`)
    return EXIT.waiting
  }
  for (const { session, question } of isAsked ? [] : batch) {
    refuseAhead(session, question)
  }
  // They have one shape, and so one need: the proof is asked for once.
  const proven = isAsked ? assure : assureAhead
  const assured = await proven(first.session, first.question, `approving ${batch.length} acts`)
  const answers: GateAnswer[] = []
  const together = batch.flatMap(({ question }) => question.changes.map(({ path }) => path))
  for (const { session, question } of batch) {
    const failure = failureText(question.result)
    const yes: Answered = {
      kind: 'yes',
      ...assured(question),
      together,
      ...(failure === null ? {} : { toldFailure: true }),
    }
    answers.push(await session.gate.answer(question.actionId, yes))
  }
  return tell(call, answers)
}

async function isAgreed(
  { terminal }: CommandCall,
  batch: readonly FoundQuestion[],
): Promise<boolean> {
  const { paintError: paint } = terminal
  for (const [index, { question }] of batch.entries()) {
    terminal.err(`\n${paint.strong(`${index + 1} of ${batch.length}`)}  ${question.actionId}\n`)
    await showEffects(terminal, question)
    for (const line of whyLines(question, paint)) terminal.err(`${line}\n`)
    const failure = failureText(question.result)
    if (failure !== null) terminal.err(`${paint.bad(failure)}\n`)
    const words = `${resultText(question.result)}, result ${shortDigest(question.resultDigest)}`
    terminal.err(`${words}\n`)
  }
  const choices = '[y, N: leave them waiting] '
  const prompt = `\n${paint.strong(`promote all ${batch.length}?`)} ${choices}`
  const answer = await askWord(prompt, (line) => {
    const word = readAnswer(line)
    return word === 'all' ? null : word
  })
  return answer === 'yes'
}

async function tell(
  { options, terminal }: CommandCall,
  answers: readonly GateAnswer[],
): Promise<Exit> {
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ answers })}\n`
      : `${answers.flatMap((answer) => answerLines(answer, terminal.paint, false)).join('\n')}\n`,
  )
  const exits = answers.map((answer) => exitOf(answer, false))
  if (exits.every((exit) => exit === EXIT.yes)) return EXIT.yes
  return exits.includes(EXIT.no) ? EXIT.no : EXIT.waiting
}

async function waiting(sessions: readonly GateSession[], id: string) {
  const { session, question } = await findQuestion(sessions, id)
  return { session, named: question.actionId }
}

function lostOne({ session, id }: LostQuestion) {
  return { session, named: id }
}

/** `writ deny`: a human says no to a question; nothing of that rehearsal is promoted. */
export async function deny(call: CommandCall): Promise<Exit> {
  const id = namedId(call)
  const reason = call.options.text('reason')
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'denying')
    const undo = await findUndo(sessions, id)
    if (undo !== null) return denyUndo(call, undo, reason)
    const no = { kind: 'no', ...(reason === null ? {} : { reason }) } as const
    const lost = await findLost(sessions, id)
    const { session, named } = lost === null ? await waiting(sessions, id) : lostOne(lost)
    const answer = await session.gate.answer(named, no)
    return reply(
      call,
      answer,
      (paint) => `${paint.bad('denied')}  ${shortId(answer.action_id)}  nothing was changed\n`,
    )
  })
}
