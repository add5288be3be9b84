/**
 * Several approvals of one act, where a law wants them (G-18b): which yeses count, how many are
 * missing, and when the question is over. The host counts before it promotes, replay counts again.
 *
 * INVARIANT (different humans): a human counts once and a credential counts once, so neither one human
 *   under two names with one key nor one human twice makes two.
 * INVARIANT (about one question): a yes counts only for the act, proposal, result and time of asking
 *   that it was signed for. When the host asks again, earlier answers do not count.
 * INVARIANT (not the starter): a yes of the human who started the run or session does not count.
 */
import { canonicalJson, parseIsoMomentMs } from '../../base/index.ts'
import type { Confirmation, Decision, Evaluation, LawOutcome } from '../../contracts/index.ts'
import { type Principal, principalText } from '../../ledger/index.ts'
import type { ActionMemory } from './standing-fact.ts'

/** What several humans are asked. */
export interface ApprovalQuestion {
  readonly actionId: string
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly askedAt: string
  readonly needed: number
}

export interface Approval {
  /** `kind:id@namespace`. */
  readonly by: string
  readonly at: string
  /** The public half of the credential that signed it, or the id of the passkey. */
  readonly key: string
}

/** How far a question has come that several humans have to answer. */
export interface Approvals {
  readonly needed: number
  /** In their order, each human once. */
  readonly given: readonly Approval[]
}

/** An answer as it is on the record. */
export interface RecordedAnswer {
  readonly confirmation: Confirmation
  readonly principal: Principal
}

/** An evaluation as it is on the record; null for one whose payload cannot be read. */
interface EvaluationOfAct {
  readonly evaluation: Pick<Evaluation, 'session' | 'held'> | null
  readonly principal: Principal
}

/**
 * Returns the humans whose run or session an act is of, as `kind:id@namespace`: its process recorded
 * the evaluation in their name. An evaluation that cannot be read may be of a run.
 */
export function startersOf(evaluations: readonly EvaluationOfAct[]): ReadonlySet<string> {
  const isOfRun = ({ evaluation }: EvaluationOfAct): boolean =>
    evaluation === null || evaluation.session !== undefined || evaluation.held !== undefined
  return new Set(
    evaluations
      .filter((one) => one.principal.kind === 'human' && isOfRun(one))
      .map(({ principal }) => principalText(principal)),
  )
}

/** Returns the question of a decision that needs several humans; null for any other decision. */
export function approvalQuestion(decision: Decision): ApprovalQuestion | null {
  const { action_id, proposal_digest, result_digest, decided_at, approvals: needed } = decision
  if (decision.decision !== 'CONFIRM' || result_digest === undefined) return null
  if (needed === undefined) return null
  return {
    actionId: action_id,
    proposalDigest: proposal_digest,
    resultDigest: result_digest,
    askedAt: decided_at,
    needed,
  }
}

/** What a human's credential signs. */
export function approvalText(question: Omit<ApprovalQuestion, 'needed'>): string {
  const { actionId, proposalDigest, resultDigest, askedAt } = question
  const words = ['writ approval 1', actionId.toLowerCase(), proposalDigest, resultDigest, askedAt]
  return canonicalJson(words)
}

/** Returns how many humans the broken laws ask for; at least 1. */
export function approvalsAsked(outcomes: readonly LawOutcome[]): number {
  // A law with the action `alert` asks no human, unless its evaluation failed.
  const asking = outcomes.filter(({ action, state }) => action === 'confirm' || state === 'error')
  return Math.max(1, ...asking.map(({ approvals }) => approvals ?? 1))
}

/**
 * Returns the approval that an answer adds to those given; null for an answer that does not count.
 * The caller verifies the signature.
 */
function approvalOf(
  question: ApprovalQuestion,
  given: readonly Approval[],
  { confirmation, principal }: RecordedAnswer,
): Approval | null {
  const { answer, proof, assertion, answered_at: at } = confirmation
  const key = proof?.key ?? assertion?.credential_id
  if (answer !== 'APPROVED' || key === undefined || principal.kind !== 'human') return null
  if (!isAbout(question, confirmation)) return null
  const by = principalText(principal)
  const isRepeated = given.some((one) => one.by === by || one.key === key)
  return isRepeated ? null : { by, at, key }
}

function isAbout(question: ApprovalQuestion, confirmation: Confirmation): boolean {
  return (
    confirmation.action_id.toLowerCase() === question.actionId.toLowerCase() &&
    confirmation.proposal_digest === question.proposalDigest &&
    confirmation.result_digest === question.resultDigest &&
    confirmation.asked_at === question.askedAt
  )
}

/**
 * Counts the approvals of a question among all answers about its act, in their order, without those of
 * `starters`. `isProven` says whether a credential of that human made the signature. Answers after a no
 * do not count.
 */
export function countApprovals(
  question: ApprovalQuestion,
  answers: readonly RecordedAnswer[],
  starters: ReadonlySet<string>,
  isProven: (answer: RecordedAnswer) => boolean,
): Approvals {
  const given: Approval[] = []
  const { needed } = question
  for (const answer of answers) {
    if (given.length === needed) break
    const { confirmation } = answer
    if (confirmation.answer !== 'APPROVED' && isAbout(question, confirmation)) {
      return { needed, given: [] }
    }
    const approval = approvalOf(question, given, answer)
    if (approval === null || starters.has(approval.by) || !isProven(answer)) continue
    given.push(approval)
  }
  return { needed, given }
}

export function isComplete({ needed, given }: Approvals): boolean {
  return given.length >= needed
}

/** Returns the state of a question after an answer; null when the answer ends the question. */
export function stillOpen(
  question: Omit<ApprovalQuestion, 'needed'> & { readonly approvals?: Approvals },
  confirmation: Confirmation,
  principal: Principal,
): Approvals | null {
  const { approvals } = question
  if (approvals === undefined || confirmation.answer !== 'APPROVED') return null
  const { needed, given } = approvals
  const yes = approvalOf({ ...question, needed }, given, { confirmation, principal })
  const now = yes === null ? approvals : { needed, given: [...given, yes] }
  return isComplete(now) ? null : now
}

export interface ApprovedAct {
  readonly actionId: string
  readonly answeredMs: number
}

/** Acts that a human approved and about which nothing else is on the record yet. */
export class ApprovedFold {
  readonly #byId: Map<string, ApprovedAct>

  constructor(kept: readonly ApprovedAct[]) {
    this.#byId = new Map(kept.map((act) => [act.actionId.toLowerCase(), act]))
  }

  take(actionId: string, answeredAt: string): void {
    const answeredMs = parseIsoMomentMs(answeredAt) ?? 0
    this.#byId.set(actionId.toLowerCase(), { actionId, answeredMs })
  }

  /** It was promoted, or decided about again. */
  end(id: string): void {
    this.#byId.delete(id)
  }

  /** Oldest first. */
  brief(): readonly ApprovedAct[] {
    return [...this.#byId.values()]
  }
}

interface Asked {
  /** A yes would send something, or let something be sent. */
  readonly sends: boolean
  readonly approvals?: Approvals
}

/**
 * Decides which open question a newer one replaces: one of the same actor about the same intent. A
 * question about requests is not replaced, because the actor may mean both, and neither is one that
 * already has an approval.
 */
export function isSupersededBy(
  asked: Asked,
  older: ActionMemory | undefined,
  newer: ActionMemory | undefined,
): boolean {
  if (asked.sends || (asked.approvals?.given.length ?? 0) > 0) return false
  if (older === undefined || newer === undefined) return false
  if (newer.actor === null || newer.intent === null) return false
  return (
    older.actor === newer.actor &&
    older.intent === newer.intent &&
    older.isActors === newer.isActors
  )
}
