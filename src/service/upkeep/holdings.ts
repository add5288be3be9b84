/** What one stream still needs of the state directory: stages of questions, and pre-images for undo. */
import type { SandboxResult } from '../../contracts/index.ts'
import type { PendingQuestion as Pending } from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import type { Retention } from '../../promotion/index.ts'
import { pendingId } from '../questions/questions.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { type ActOf, actOf, undoRetention } from './surplus.ts'

export interface StagedQuestion {
  readonly id: string
  readonly action_id: string
  readonly sandbox_id: string
  readonly expires_at: string
}

export interface Holdings {
  readonly waiting: readonly StagedQuestion[]
  /** Their time is over, and no command has recorded that yet. */
  readonly expired: readonly StagedQuestion[]
  /** Sandboxes of acts that are approved and not carried out yet. */
  readonly approved: readonly string[]
  readonly actOf: ActOf
  readonly retention: Retention
}

export async function holdingsOf(
  view: LedgerView,
  { retention }: Pick<GateSettings, 'retention'>,
  nowMs: number,
): Promise<Holdings> {
  const standing = await view.standing()
  const approved: string[] = []
  for (const { actionId } of standing.approved()) {
    const sandbox = await sandboxOf(view, actionId)
    if (sandbox !== null) approved.push(sandbox)
  }
  return {
    waiting: await stagedQuestions(view, standing.pending(nowMs)),
    expired: await stagedQuestions(view, standing.expired(nowMs)),
    approved,
    actOf: actOf(standing),
    retention: undoRetention(retention),
  }
}

async function stagedQuestions(
  view: LedgerView,
  questions: readonly Pending[],
): Promise<readonly StagedQuestion[]> {
  const found: StagedQuestion[] = []
  for (const pending of questions) {
    const sandbox_id = (await sandboxOf(view, pending.actionId)) ?? ''
    const expires_at = occurredAtText(pending.expiresMs)
    found.push({ id: pendingId(pending), action_id: pending.actionId, sandbox_id, expires_at })
  }
  return found
}

async function sandboxOf(view: LedgerView, actionId: string): Promise<string | null> {
  const found = await view.factOf('sandbox_result_v1', actionId)
  // The fact follows its contract.
  return found === null ? null : (found.payload as SandboxResult).sandbox_id
}
