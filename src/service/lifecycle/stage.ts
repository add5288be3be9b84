/**
 * Stage: the rehearsed bytes are copied to the scope's filesystem and synced, so that an approval is
 * about bytes that stay and a promotion moves them. Begun while the facts are being prepared; `record`
 * waits for it.
 */
import { removeTreeSync } from '../../machine/index.ts'
import { captureChanges } from '../../tree/index.ts'
import type { Rehearsal } from '../rehearsal/rehearsal.ts'
import { markGoing, reserveHeld, reserveRoom, stageOf, syncHolder } from '../stage/stage-place.ts'
import { isRoot } from '../surface/context.ts'
import type { Decided, GateParts, Staged } from './act.ts'
import { closeEarly } from './compare.ts'

/** `earlier` is what was staged for a decision that this one replaces: bytes are staged once. */
export function stage(
  gate: GateParts,
  decided: Decided,
  earlier: Pick<Staged, 'bytes'> | null,
): Staged {
  const { seen, terms } = decided.compared
  if (seen === null) return { decided, bytes: null }
  const isBlocked = decided.decision.decision === 'BLOCK'
  if (earlier !== null) {
    // No command needs the bytes of a refused act, and they would count against the quota of questions.
    if (isBlocked) removeTreeSync(stageOf(seen.rehearsal.place, seen.rehearsal.sandboxId))
    return { decided, bytes: earlier.bytes }
  }
  if (isBlocked || terms.dryRun || decided.changes.length === 0) {
    closeEarly(seen.rehearsal)
    return { decided, bytes: null }
  }
  const bytes = stageBytes(gate, decided, seen.rehearsal)
  bytes.finally(() => closeEarly(seen.rehearsal)).catch(() => undefined)
  return { decided, bytes }
}

/** The rehearsed bytes could not be kept; why is its cause. */
export class StagingFailure extends Error {
  constructor(cause: unknown) {
    super('the rehearsed bytes could not be staged', { cause })
  }
}

async function stageBytes(
  { context, book }: GateParts,
  { evaluation, decision, changes }: Decided,
  { sandbox, place, sandboxId, emptied }: Rehearsal,
): Promise<void> {
  const isHeld = evaluation.held !== undefined
  const isGoing = decision.decision === 'PROMOTE' && !isHeld
  const directory = stageOf(place, sandboxId)
  const isAsked = decision.decision === 'CONFIRM' && !isHeld
  try {
    if (isGoing) markGoing(directory, evaluation.action_id)
    if (isAsked) reserveRoom(context, directory, changes, book.settings)
    if (isHeld)
      reserveHeld(context, directory, changes, book.settings, evaluation.run?.run_id ?? null)
    await captureChanges(changes, sandbox.layers, directory, { isRoot: isRoot(), emptied })
    if (isHeld) await syncHolder(directory)
  } catch (error) {
    removeTreeSync(directory)
    throw new StagingFailure(error)
  }
}
