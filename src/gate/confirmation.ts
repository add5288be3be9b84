/**
 * Confirmations (G-18 and the human's side of the interfaces): what a question needs to be answered
 * with yes, when it expires, and whether an answer counts. An answer is about one proposal and one
 * result, counts once, and silence is a no.
 */
import type { Code } from '../base/index.ts'
import type { Assurance, Proposal, RiskLevel, SandboxResult } from '../contracts/index.ts'
import { effectClasses, higherRisk, isAtMost, resultRiskFloor } from './risk.ts'
import type { PendingQuestion } from './standing.ts'

/** What a yes has to stand on. */
export type Need = 'plain' | 'passphrase' | 'passkey'

export const CONFIRMATION_MS = 15 * 60 * 1000

/** Who stands behind a run, as far as the host can tell. */
export interface Circumstances {
  readonly actorKind: 'human' | 'ai' | 'script' | 'device'
  /** A person started the run: no agent's ticket, no token of an actor. */
  readonly startedByPerson: boolean
  /** The first known agent in the parent chain; null when there is none. */
  readonly agent: string | null
  /** The law that allows a plain yes is in force (it is by default). */
  readonly plainYesAllowed: boolean
  readonly hasPasskey: boolean
  /** How many different humans have to say yes. */
  readonly approvals: number
}

/** The risk after everything is known: what was claimed, the host's floor, and what happened. */
export function finalRisk(effective: RiskLevel, result: SandboxResult): RiskLevel {
  return higherRisk(effective, resultRiskFloor(result))
}

export function confirmationNeed(
  proposal: Proposal,
  risk: RiskLevel,
  circumstances: Circumstances,
): Need {
  const { actorKind, startedByPerson, agent, hasPasskey, approvals } = circumstances
  // A plain yes says nothing about who gave it, so it is never one of several.
  const plainYesAllowed = circumstances.plainYesAllowed && approvals === 1
  const isStaged = [...effectClasses(proposal)].every((kind) => kind === 'staged')
  const isPersons = actorKind === 'human' && startedByPerson && agent === null
  if (isStaged && isPersons && plainYesAllowed && isAtMost(risk, 'MEDIUM')) return 'plain'
  return hasPasskey && !isAtMost(risk, 'MEDIUM') ? 'passkey' : 'passphrase'
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

/** Why a yes does not count; null when it does. A no always counts while the question stands. */
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
