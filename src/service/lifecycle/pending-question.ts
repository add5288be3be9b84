/** Finds the question that a person names. */
import type { PendingQuestion as Pending } from '../../gate/index.ts'
import { pendingId } from '../questions/questions.ts'
import type { GateParts } from './act.ts'
import { expire } from './confirm.ts'

const SHORT_MIN = 4

/** By its id or its act's; null when there is none, or more than one. Ends those whose time is over. */
export async function findPending(gate: GateParts, id: string): Promise<Pending | null> {
  const standing = await gate.view.standing()
  const nowMs = gate.context.nowMs()
  await expire(gate, standing.expired(nowMs))
  const wanted = id.toLowerCase()
  const found = standing
    .pending(nowMs)
    .filter(
      (pending) =>
        isNamed(pending.actionId.toLowerCase(), wanted) || pendingId(pending).startsWith(wanted),
    )
  return wanted !== '' && found.length === 1 ? (found[0] ?? null) : null
}

/** By the whole id, or by a beginning of it that is long enough to be meant. */
function isNamed(id: string, wanted: string): boolean {
  return wanted.length >= SHORT_MIN ? id.startsWith(wanted) : id === wanted
}
