/**
 * Several questions answered together: each is shown, one yes and one proof count for all, and each
 * gets a confirmation of its own, bound to its own proposal and result (I4). Only questions of one
 * shape go together, so that a person does not overlook a deletion between two additions.
 */
import { faultError, showName } from '../../base/index.ts'
import { principalText } from '../../ledger/index.ts'
import type { Answered, GateAnswer } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import { resultText } from '../effects/operation-text.ts'
import { whyLines } from '../effects/question-head.ts'
import { failureText, readAnswer, shortDigest } from '../effects/question-text.ts'
import { askWord } from './answer-line.ts'
import { answerLines, exitOf } from './answer-text.ts'
import { assure, assureAhead, refuseAhead } from './confirm.ts'
import { type FoundQuestion, findQuestion } from './named-question.ts'
import type { GateSession } from './open.ts'
import { showEffects } from './show-question.ts'

/** The questions that a call names: one by one, or all that are like one. */
export async function findBatch(
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

/** Before anything is asked: nothing of a batch is answered when one of it cannot be. */
export function refuseRepeated(batch: readonly FoundQuestion[]): void {
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
export async function approveBatch(
  call: CommandCall,
  batch: readonly FoundQuestion[],
): Promise<Exit> {
  const [first] = batch
  if (first === undefined) return EXIT.yes
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
