/** What a decision is made from, and by which evaluator. Everything in it is on the ledger (L-9). */
import type { Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import type { GateLists } from '../data/lists.ts'

export interface Judgement {
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  /** What the host found out, as it is recorded; filled further stage by stage. */
  readonly evaluation: Evaluation
  /** Null before a rehearsal, and when none could be had. */
  readonly result: SandboxResult | null
  readonly lists: GateLists
  /** ISO 8601. */
  readonly decidedAt: string
}

/**
 * The version changes when the same inputs may give another decision, or when the record holds more
 * to compute it from. Since 2 the record holds what laws were judged with. Since 3 the decision
 * follows the amended rules of failing commands, agents, deferred execution and cooldown.
 */
export const EVALUATOR = { name: 'gate', version: '3' } as const

/** Versions whose records this evaluator computes again as they were made. */
export const REPLAYED_VERSIONS: ReadonlySet<string> = new Set(['1', '2', EVALUATOR.version])

/**
 * Returns whether a record follows the amended rules (evaluator 3). Every amended rule asks this, so
 * that a replay of an older record gives the answer of its own time.
 */
export function isAmended({ evaluator }: Pick<Evaluation, 'evaluator'>): boolean {
  return evaluator.version !== '1' && evaluator.version !== '2'
}

/** Returns whether the record holds what laws and standing were judged with (since evaluator 2). */
export function recordsGrounds({ evaluator }: Pick<Evaluation, 'evaluator'>): boolean {
  return evaluator.version !== '1'
}

/**
 * Returns whether changes to the home outside the scope are left out of what is promoted, instead of
 * blocking the run: in a run that a person started and declared nothing for (G-15b).
 */
export function leavesHomeOut(
  evaluation: Pick<Evaluation, 'evaluator' | 'declared_by_approval' | 'door' | 'actor_kind'>,
): boolean {
  const { declared_by_approval, door, actor_kind } = evaluation
  return isAmended(evaluation) && declared_by_approval && door === 'exec' && actor_kind === 'human'
}

/** Returns whether the person of such a run chose to keep those changes as well. */
export function keepsHome(
  evaluation: Parameters<typeof leavesHomeOut>[0] & Pick<Evaluation, 'home_kept'>,
): boolean {
  return leavesHomeOut(evaluation) && evaluation.home_kept === true
}
