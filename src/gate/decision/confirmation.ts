/**
 * Confirmations (G-18, G-18a, G-18c): which proof a yes needs, and whether an answer counts. An answer
 * is about one proposal and one result, and counts once. A question that expires was not answered.
 */
import { type Code, type Digest, digestDocument } from '../../base/index.ts'
import type {
  Assurance,
  Decision,
  Evaluation,
  Proposal,
  RiskLevel,
  SandboxResult,
} from '../../contracts/index.ts'
import { effectClasses, higherRisk, isAtMost, resultRiskFloor } from '../admission/risk.ts'
import type { PendingQuestion } from '../standing/standing.ts'

/** The proof that a yes needs. */
export type Need = 'plain' | 'passphrase' | 'passkey'

/** Who asks and who answers, as far as the host can tell. */
export interface Circumstances {
  readonly actorKind: 'human' | 'ai' | 'script' | 'device'
  /** A person started the run or answers it: no agent's ticket, no token of an actor. */
  readonly startedByPerson: boolean
  /** The first known agent in the parent chain; null when there is none. */
  readonly agent: string | null
  /** The law that allows a plain yes is in force (it is by default). */
  readonly plainYesAllowed: boolean
  readonly hasPasskey: boolean
  /** A human of the home has a passphrase or a passkey. */
  readonly hasCredential: boolean
  /** The answer comes from the terminal of the run that asks, not from `writ approve`. */
  readonly asksHere: boolean
  /** How many different humans have to say yes. */
  readonly approvals: number
}

/** What a yes would let happen, as far as its strength depends on it. */
export interface AskedAct {
  readonly proposal: Proposal
  readonly risk: RiskLevel
  /** Something runs by itself later (G-15a). */
  readonly defers: boolean
  /** Everything it displaces can be put back for the whole undo period. */
  readonly isUndoKept: boolean
}

/** The risk after everything is known: what was claimed, the host's floor, and what happened. */
export function finalRisk(effective: RiskLevel, result: SandboxResult): RiskLevel {
  return higherRisk(effective, resultRiskFloor(result))
}

/** Returns the proof that a yes needs: its strength follows reversibility. */
export function confirmationNeed(act: AskedAct, circumstances: Circumstances): Need {
  if (isPlainEnough(act, circumstances)) return 'plain'
  return circumstances.hasPasskey && !isAtMost(act.risk, 'MEDIUM') ? 'passkey' : 'passphrase'
}

function isPlainEnough(act: AskedAct, circumstances: Circumstances): boolean {
  const { actorKind, startedByPerson, agent, hasCredential, asksHere } = circumstances
  // A plain yes does not say who gave it, so it is never one of several.
  if (!circumstances.plainYesAllowed || circumstances.approvals !== 1) return false
  if (!startedByPerson || agent !== null) return false
  const isStaged = [...effectClasses(act.proposal)].every((kind) => kind === 'staged')
  if (!isStaged || !act.isUndoKept || !isAtMost(act.risk, 'HIGH')) return false
  // What runs by itself later reaches beyond an undo: only a person's own run may bring it.
  if (actorKind !== 'human') return !act.defers && !hasCredential
  return isAtMost(act.risk, 'MEDIUM') || asksHere || !hasCredential
}

/** Returns whether a plain yes counts that was given before the effects were shown (`--yes`). */
export function countsAhead(
  { risk }: Pick<AskedAct, 'risk'>,
  { actorKind }: Pick<Circumstances, 'actorKind'>,
): boolean {
  return actorKind === 'human' && isAtMost(risk, 'MEDIUM')
}

const STRENGTH: Readonly<Record<Assurance, number>> = {
  none: 0,
  terminal: 1,
  passphrase: 2,
  passkey: 3,
}

const DEMAND: Readonly<Record<Need, number>> = { plain: 1, passphrase: 2, passkey: 3 }

export function satisfies(assurance: Assurance, need: Need): boolean {
  return STRENGTH[assurance] >= DEMAND[need]
}

export interface Answer {
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly assurance: Assurance
}

/** Returns why a yes does not count; null when it does. A no always counts while the question is open. */
export function answerFault(
  question: PendingQuestion | null,
  answer: Answer,
  need: Need,
  nowMs: number,
): Code | null {
  if (question === null) return 'confirm.used'
  if (nowMs >= question.expiresMs) return 'confirm.expired'
  const isSame =
    question.proposalDigest === answer.proposalDigest &&
    question.resultDigest === answer.resultDigest
  if (!isSame) return 'confirm.mismatch'
  return satisfies(answer.assurance, need) ? null : 'confirm.assurance'
}

/**
 * Which questions may be answered together: those of one actor whose acts have the same kind and class,
 * ask for the same reasons, and need the same proof. Two questions differ in shape if only one of them
 * has a deletion, a failure or some finding.
 */
export function questionShape(
  proposal: Proposal,
  { actor_kind, basis, door }: Evaluation,
  { diff, execution, findings }: SandboxResult,
  { codes, law_refs, approvals = 1 }: Decision,
  need: Need,
): Digest {
  const { added, modified, deleted } = diff.counts
  return digestDocument([
    actor_kind,
    basis?.actor ?? '',
    door,
    proposal.descriptor.action_type,
    [...effectClasses(proposal)].sort(),
    [added > 0, modified > 0, deleted > 0],
    execution.status,
    [...new Set(findings.map(({ code }) => code))].sort(),
    [...new Set(codes)].sort(),
    [...new Set(law_refs)].sort(),
    need,
    approvals,
  ])
}
