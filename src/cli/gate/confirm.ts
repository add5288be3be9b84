/**
 * Asks a person about effects. The gate decides which answer it needs; this file decides who may answer,
 * and what proves who answered.
 *
 * INVARIANT (I1): only a human answers; a run of another caller, or below a known agent, only leaves its
 * question in the inbox.
 * INVARIANT (shown first): a question appears on a terminal only after the terminal was reset and every
 * effect was written to it.
 */
import { fstatSync } from 'node:fs'
import { FaultError, faultError, showName } from '../../base/index.ts'
import { GRANT_MS_MAX, GRANT_USES_MAX } from '../../contracts/index.ts'
import type { OfferedGrant } from '../../gate/index.ts'
import { signApproval } from '../../home/index.ts'
import { ownCredential, type Principal, principalText } from '../../ledger/index.ts'
import type {
  Answered,
  Confirm,
  GateAnswer,
  GateSurface,
  PartQuestion,
  Question,
} from '../../service/index.ts'
import type { LedgerKey } from '../../store/index.ts'
import { failureText, visibleName } from '../../words/index.ts'
import type { CommandCall, Options } from '../call/command.ts'
import { credentialOf, proveHuman, type Session } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { whyLines } from '../effects/question-head.ts'
import {
  approveWords,
  type QuestionCommand,
  questionId,
  questionText,
  readAnswer,
} from '../effects/question-text.ts'
import type { SeenOutput } from '../effects/reset.ts'
import { askWord } from './answer-line.ts'
import { approvalsText, missingText } from './approvals-text.ts'
import { losesPart } from './lost-part.ts'
import { partNamed, tellRest, typedPaths } from './part.ts'
import { pageEffects, showEffects } from './show-question.ts'

export interface ConfirmationContext {
  readonly call: CommandCall
  readonly session: Session
  /** A known agent is among the programs that started us. */
  readonly isBelowAgent: boolean
}

/** What `writ exec` asks with. `wasEnded`: a signal ended the run, so no question is asked here. */
export function execConfirm(
  asking: ConfirmationContext,
  live: { readonly end: () => void; readonly wasEnded: boolean; readonly seen?: SeenOutput },
): Confirm {
  return async (question) => {
    live.end()
    // The effects of an interrupted run stay in the inbox.
    if (live.wasEnded) return { kind: 'wait' }
    // A terminal below an agent is the agent's: no yes counts there, and no passphrase is safe.
    const isPersons = asking.session.caller.principal.kind === 'human' && !asking.isBelowAgent
    const mayAsk = isPersons && canAsk()
    const isEnough = question.need === 'plain' && question.countsAhead
    const isGiven = isPersons && asking.call.options.isOn('yes') && isEnough
    if (isGiven && !isForced(question)) return { kind: 'yes', ...AHEAD }
    if (!mayAsk) return { kind: 'wait' }
    const hasCredential = credentialOf(asking.session) !== null
    const why = whyNotHere(question, asking.call.options, hasCredential)
    if (why === null) return askAtTerminal(asking, question, 'exec', live.seen)
    asking.call.terminal.err(`not asked here: ${why}\n`)
    return { kind: 'wait' }
  }
}

/** Questions that no yes given before the run answers. */
const FORCED = ['cooldown', 'confirm.scope', 'confirm.blocked'] as const

/**
 * Returns whether `--yes` does not answer the question: a yes that was given before the run does not
 * know that the command failed or moved something out of the scope, and a command that was taken back,
 * or blocked for an actor, is asked about again.
 */
function isForced({ result, decision }: Question): boolean {
  const isAsked = FORCED.some((code) => decision.codes.includes(code))
  return isAsked || failureText(result) !== null || losesPart(result, surroundings().userDirectory)
}

/**
 * Shows the effects, asks, and lets a human prove who answered where a plain yes is not enough. Ctrl-C,
 * Ctrl-D and a terminal that goes away are no answer: the question waits.
 */
export async function askAtTerminal(
  asking: ConfirmationContext,
  question: Question,
  asker: QuestionCommand,
  seen: SeenOutput | null = null,
): Promise<Answered> {
  const { terminal } = asking.call
  await showEffects(terminal, question, seen)
  // No answer counts here, so none is asked for.
  if (lacksCredential(asking.session, question)) {
    const { message, hint } = credentialWords(question, 'approving')
    terminal.err(`\n${terminal.paintError.bad(message)}\n${hint}\n`)
    return { kind: 'wait' }
  }
  const { approvals } = question
  if (approvals !== null) {
    terminal.err(`\n${approvalsText(approvals)}; ${missingText(approvals)}\n`)
  }
  if (asker === 'approve' && losesPart(question.result, surroundings().userDirectory)) {
    terminal.err(`\n${terminal.paintError.bad(SCOPE_ONLY)}\n`)
  }
  const why = whyLines(question, terminal.paintError)
  const always = mayGrant(asking.session, question, asker) ? question.always : null
  const offer = always === null ? withoutAlways(question) : `(always: ${alwaysText(always)}) `
  const parts = question.part === null ? '' : '(part: take some paths only) '
  const prompt = `${questionText(question, asker, why, terminal.paintError)}${parts}${offer}`
  for (;;) {
    const answer = await askWord(prompt, readAnswer)
    const isAlways = answer === 'always' && always !== null && (await confirmGrant(always))
    if (isAlways && always !== null) return grantingYes(asking, question, always)
    if (answer === 'later') return { kind: 'wait' }
    if (answer === 'no') return { kind: 'no' }
    if (answer === 'always' && always === null) terminal.err(NO_ALWAYS)
    if (answer === 'all') await pageEffects(terminal, question)
    if (answer === 'part' && question.part !== null) {
      const taken = await askPart(asking, question, asker)
      if (taken !== null) return taken
    }
    if (answer !== 'yes') continue
    const assured = await assure(asking, question, 'approving')
    const toldFailure = failureText(question.result) !== null
    return { kind: 'yes', ...assured(question), ...(toldFailure ? { toldFailure } : {}) }
  }
}

const NO_ALWAYS =
  '`always` is no answer to this question: it is one where all changes lie in one directory, and nothing is deleted or would run later\n'

/** Asks for paths, and about the part that they name; null leads back to the whole question. */
async function askPart(
  asking: ConfirmationContext,
  question: Question,
  asker: QuestionCommand,
): Promise<Answered | null> {
  const { terminal } = asking.call
  const line = await askWord(PATHS_ASKED, (typed) => typed)
  const names = typedPaths(line)
  if (names.length === 0) return null
  try {
    const part = await partNamed(question, names)
    const answered = await askAboutPart(asking, part, asker)
    return answered.kind === 'yes' ? answered : null
  } catch (error) {
    if (!(error instanceof FaultError) || error.fault.code !== 'confirm.part') throw error
    terminal.err(`${error.fault.message}\n`)
    return null
  }
}

const PATHS_ASKED =
  'Paths or globs to take, from this directory, separated by spaces (nothing: back): '

/** Shows a part with what is left, and asks about it. */
export async function askAboutPart(
  asking: ConfirmationContext,
  part: PartQuestion,
  asker: QuestionCommand,
): Promise<Answered> {
  tellRest(asking.call.terminal, part)
  const answered = await askAtTerminal(asking, part, asker)
  return answered.kind === 'yes' ? { ...answered, part: part.resultDigest } : answered
}

/** Where a credential exists it has to prove the grant; no passphrase is asked for behind a command. */
function mayGrant(session: Session, question: Question, asker: QuestionCommand): boolean {
  if (question.approvals !== null) return false
  return asker === 'approve' || credentialOf(session) === null
}

/** Why an agent's question cannot be answered for later ones, where a person may look for it. */
function withoutAlways({ asker, result }: Question): string {
  const isAgents = asker.agent !== null && asker.session !== null
  return isAgents && result.diff.counts.deleted > 0 ? '(no `always`: it deletes) ' : ''
}

function alwaysText({ agent, glob }: OfferedGrant): string {
  return `${visibleName(agent)} may create and change ${visibleName(glob)}`
}

/** Shows what the grant lets pass before the yes to it. */
async function confirmGrant(offered: OfferedGrant): Promise<boolean> {
  const days = GRANT_MS_MAX / DAY_MS
  const text = [
    '',
    `From now on ${alwaysText(offered)} in this workspace without a question,`,
    `for ${days} days and at most ${GRANT_USES_MAX} acts. Deletions, files that run later by themselves and what`,
    'laws ask about stay questions. `writ grant list` shows it, `writ grant revoke ID` takes it back.',
    'Approve these effects and grant this? [y/N] ',
  ].join('\n')
  const answer = await askWord(text, (line) => (/^y(?:es)?$/i.test(line.trim()) ? 'yes' : 'no'))
  return answer === 'yes'
}

const DAY_MS = 24 * 60 * 60 * 1000

async function grantingYes(
  asking: ConfirmationContext,
  question: Question,
  always: OfferedGrant,
): Promise<Answered> {
  const hasCredential = credentialOf(asking.session) !== null
  const needed = hasCredential && question.need === 'plain' ? 'passphrase' : question.need
  const assured = await assure(asking, { ...question, need: needed }, 'granting')
  return { kind: 'yes', ...assured(question), always }
}

const SCOPE_ONLY =
  'A yes keeps only the scope: what the command wrote outside is lost, as listed above. To keep all, run the command again at a terminal and answer `all`.'

const INPUTS_CHANGED = 'promote.inputs_changed'
/** Files can go on changing; then the question waits in the inbox. */
const ASKED_AGAIN_MAX = 3

/** Asks once more if files of the scope changed while the person was asked (G-19d). */
export async function settleChangedInputs(
  gate: GateSurface,
  first: GateAnswer,
  confirm: Confirm,
): Promise<GateAnswer> {
  let answer = first
  for (let round = 0; round < ASKED_AGAIN_MAX; round++) {
    const { pending, decision } = answer
    if (pending === undefined || !decision.codes.includes(INPUTS_CHANGED)) return answer
    // This yes was taken, and others are waited for: what is asked once more begins without any.
    if ((pending.approvals?.given.length ?? 0) > 0) return answer
    const question = await gate.question(pending.id)
    const answered = question === null ? null : await confirm(question)
    if (question === null || answered === null || answered.kind === 'wait') return answer
    answer = await gate.answer(question.actionId, answered)
  }
  return answer
}

/** Returns the proof of a yes to one question. One passphrase serves several, each signed by itself. */
type Assured = (
  question: Question,
) => Pick<Extract<Answered, { kind: 'yes' }>, 'assurance' | 'proof' | 'isAhead'>

/** Of a plain yes that came with the call. */
const AHEAD = { assurance: 'terminal', isAhead: true } as const

/** Returns the proof of a yes that came with the call, where nothing is asked at a terminal. */
export async function assureAhead(
  asking: ConfirmationContext,
  question: Question,
  what: string,
): Promise<Assured> {
  const assured = await assure(asking, question, what)
  return (asked) => (assured(asked).assurance === 'terminal' ? AHEAD : assured(asked))
}

/** Returns the proof of a yes; fails if the caller cannot give the proof that the question needs. */
export async function assure(
  { call, session, isBelowAgent }: ConfirmationContext,
  question: Question,
  what: string,
): Promise<Assured> {
  if (question.need === 'plain') {
    if (!isBelowAgent) return plainProof(call, session, what)
    const message = 'a plain yes does not count below a known agent'
    throw faultError('credential.required', '', message, FROM_ELSEWHERE)
  }
  const { register, caller } = session
  const own = ownCredential(register.credentials, caller.principal)
  if (question.approvals !== null && own === null) throw ownNeeded(question, caller.principal)
  if (lacksCredential(session, question)) {
    const { message, hint } = credentialWords(question, what)
    throw faultError('credential.required', '', message, hint)
  }
  const key = await proveHuman(session, call, what)
  return (asked) => passphraseProof(key, asked)
}

/** Refuses to take this call for a yes that a person has to give after a look at the effects. */
export function refuseAhead(asking: ConfirmationContext, question: Question): void {
  refuseCooledDown(asking, question)
  refuseLost(asking, question)
  refuseUnseen(asking, question)
  refuseUngiven(asking, question)
}

/** Refuses where the yes would lose what the command wrote outside the scope. */
function refuseLost({ call }: ConfirmationContext, question: Question): void {
  if (!losesPart(question.result, surroundings().userDirectory)) return
  if (call.options.text('pass-fd') !== null && !call.options.isOn('yes')) return
  const id = questionId(question)
  const message =
    'a yes promotes only the scope, and what the command wrote outside would be lost: a person has to choose that at a terminal'
  const hint = `it still waits: \`writ inbox ${id}\` lists what would be lost; run ${approveWords(question)} at a terminal to keep only the scope, or run the command again there and answer \`all\``
  throw faultError('confirm.not_given', question.actionId, message, hint)
}

/**
 * Refuses to take this call for the yes to an act that was taken back a short time ago: a person has
 * to look at it again, so neither `--yes` nor a call without a terminal answers it.
 */
function refuseCooledDown({ call }: ConfirmationContext, question: Question): void {
  if (!question.decision.codes.includes('cooldown')) return
  if (call.options.text('pass-fd') !== null && !call.options.isOn('yes')) return
  const given = call.options.isOn('yes') ? '`--yes`' : 'a call without a terminal'
  const message = `the same act was taken back a short time ago, so ${given} does not answer this question`
  const hint = `it still waits: run ${approveWords(question)} at a terminal, look at the effects and answer there`
  throw faultError('cooldown', question.actionId, message, hint)
}

/** Refuses to take a call for a plain yes that was neither typed nor given with `--yes`. */
function refuseUngiven(
  { call, session, isBelowAgent }: ConfirmationContext,
  question: Question,
): void {
  if (question.need !== 'plain' || isBelowAgent || call.options.isOn('yes')) return
  if (call.options.text('pass-fd') !== null && credentialOf(session) !== null) return
  const id = questionId(question)
  const message = 'there is no terminal to ask at, and no `--yes`, so nothing was approved'
  const hint = `it still waits: look at it with \`writ inbox ${id}\`, then run ${approveWords(question, ' --yes')}`
  throw faultError('confirm.not_given', question.actionId, message, hint)
}

/** Refuses a plain yes to effects that this call does not show, where it has to show them first. */
function refuseUnseen({ call, session }: ConfirmationContext, question: Question): void {
  if (question.need !== 'plain' || question.countsAhead) return
  const hasCredential = credentialOf(session) !== null
  if (hasCredential && call.options.text('pass-fd') !== null) return
  const why = question.asker.kind === 'human' ? `its risk is ${question.risk}` : 'an agent asks it'
  const message = `${why}: a plain yes counts only after its effects were shown`
  const other = hasCredential ? ', or hand the passphrase over with `--pass-fd N`' : ''
  const hint = `it still waits: run ${approveWords(question)} at a terminal${other}`
  throw faultError('credential.required', '', message, hint)
}

/** The proof that a yes needs cannot be given here. */
function lacksCredential(session: Session, { need }: Question): boolean {
  return need === 'passkey' || (need === 'passphrase' && credentialOf(session) === null)
}

function credentialWords(question: Question, what: string) {
  const message =
    question.need === 'passkey'
      ? `${what} this needs a passkey, which the command line cannot ask for`
      : `${what} this needs a passphrase, and none is set yet`
  const next =
    question.need === 'passkey'
      ? 'answer it in the browser, at the address that `writ serve` prints'
      : `set one with \`writ principal pass\`, then run ${approveWords(question)}`
  return { message, hint: `the question still waits: ${next}` }
}

/** A passphrase that was handed over is taken as one, though a plain yes is enough. */
async function plainProof(call: CommandCall, session: Session, what: string): Promise<Assured> {
  if (call.options.text('pass-fd') === null || credentialOf(session) === null) {
    return () => ({ assurance: 'terminal' })
  }
  const key = await proveHuman(session, call, what)
  return (asked) => passphraseProof(key, asked)
}

function passphraseProof(key: LedgerKey | null, question: Question): ReturnType<Assured> {
  const assurance = 'passphrase' as const
  return key === null ? { assurance } : { assurance, proof: signApproval(key, question) }
}

function ownNeeded({ approvals }: Question, principal: Principal): FaultError {
  const name = showName(principalText(principal))
  const message = `${approvals?.needed} humans have to approve this, each with a credential of their own, and ${name} has none`
  return faultError('confirm.own_credential', '', message, 'set one: `writ principal pass`')
}

const FROM_ELSEWHERE = 'answer from a terminal of your own: `writ inbox`'

/**
 * Whether the terminal of a run is a place to ask in. The command has used it, so two things are not
 * done there: nothing is asked while its output may still be on the way to the screen, and no
 * passphrase is asked for at all, since the command could have drawn the same prompt.
 *
 * Returns why a question of a run waits in the inbox although a person is there; null if it does not.
 */
function whyNotHere(
  question: Pick<Question, 'need' | 'resultDigest'>,
  options: Options,
  hasCredential: boolean,
): string | null {
  const next = `answer with ${approveWords(question)}`
  if (isPiped()) {
    return `standard output goes through a pipe, so the command’s output could come after the question; ${next}`
  }
  const { need } = question
  if (need === 'plain' || options.text('pass-fd') !== null) return null
  const first =
    need === 'passphrase' && !hasCredential ? 'set one with `writ principal pass`, then ' : ''
  return `it needs a ${need}, which writ never asks for in a terminal that a command has used; ${first}${next}`
}

/** What went into a pipe is shown by another program, at a time of its own. */
export function isPiped(): boolean {
  const output = fstatSync(1)
  return output.isFIFO() || output.isSocket()
}
