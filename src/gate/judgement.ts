/** What a decision is made from, and by which evaluator. Everything in it is on the ledger (L-9). */
import type { Evaluation, Proposal, SandboxResult } from '../contracts/index.ts'
import type { GateLists } from './lists.ts'

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
 * Its version changes when the same inputs may give another decision, or when more is recorded to
 * compute it from; old records then say so. Since 2 the record tells what laws were judged with.
 */
export const EVALUATOR = { name: 'gate', version: '2' } as const

/** Versions whose records this one computes again as they were made. */
export const REPLAYED_VERSIONS: ReadonlySet<string> = new Set(['1', EVALUATOR.version])
