/**
 * Recovery: finishes an interrupted exchange or puts it back as a whole, and records which (G-20a, I6). It
 * uses only the intent and the state of the tree, under the workspace's lock, before any command that
 * reads or changes the workspace.
 *
 * If a path is in neither the old nor the new state, recovery changes nothing, and a person chooses for
 * each such path. Until then nothing further is promoted in the workspace.
 */
import type { Digest } from '../../base/index.ts'
import { type RawPath, rawOfText } from '../../gate/index.ts'
import { Collision } from '../entries/failure.ts'
import { existsAt, Ground } from '../entries/ground.ts'
import { stageDifferences, takenDifferences } from '../entries/plan.ts'
import type { OnPoint, Work } from '../exchange/apply.ts'
import { type AppliedPromotion, describePromotion } from '../exchange/apply-stage.ts'
import { clearKeep, clearSources, writeAfterTimes } from '../exchange/exchange-ends.ts'
import type { WorkspaceLock } from '../exchange/lock.ts'
import {
  applyExchange,
  at,
  isUntouched,
  markAt,
  revertExchange,
  unfinished,
} from '../exchange/run.ts'
import { type Exchange, readPlan } from '../journal/exchange.ts'
import { Journal, type Mark, type OpenJournal, openJournals } from '../journal/journal.ts'
import { type AppliedRollback, describeRollback, unrestored } from '../rollback/rollback.ts'
import { strangePaths } from './look.ts'

export interface RecoveryRequest {
  readonly lock: WorkspaceLock
  readonly state: string
  /** Append the fact, durably, under the key of the action or rollback; may be called again. */
  readonly recordPromotion: (promotion: AppliedPromotion) => Promise<void>
  readonly recordRollback: (rollback: AppliedRollback) => Promise<void>
  /** Whether a promotion that is not final may be finished; false puts it back. True when absent. */
  readonly mayFinish?: (id: string, note: unknown) => Promise<boolean>
  readonly onPoint?: OnPoint
}

export type Recovered =
  /** Ended, and recorded which way. */
  | { readonly outcome: 'APPLIED' | 'REVERTED'; readonly id: string }
  /** Nothing was changed, nothing is recorded: it can be carried out as if it had not been tried. */
  | { readonly outcome: 'NOT_BEGUN'; readonly id: string }
  /** Waits for a human. */
  | { readonly outcome: 'CONFLICT'; readonly id: string; readonly paths: readonly RawPath[] }

/** Ends everything that was interrupted in the workspace, or says why not. */
export async function recover(request: RecoveryRequest): Promise<Recovered[]> {
  const workspace = rawOfText(request.lock.root)
  const recovered: Recovered[] = []
  for (const journal of openJournals(request.state)) {
    if (journal.intent !== null && journal.intent.workspace !== workspace) continue
    recovered.push(await recoverOne(request, journal))
  }
  return recovered
}

async function recoverOne(request: RecoveryRequest, open: OpenJournal): Promise<Recovered> {
  const { id } = open
  const journal = Journal.resume(request.state, id)
  const plan = open.intent === null ? null : readPlan(open.intent.keep)
  if (open.intent === null || plan === null) return endWithoutPlan(open, journal)
  const { exchange, digest } = plan
  if (digest !== open.intent.plan) {
    // The plan was altered after the intent was written: recovery does not follow it.
    journal.close()
    return { outcome: 'CONFLICT', id, paths: [open.intent.workspace] }
  }
  const ground = new Ground()
  const work: Work = {
    ground,
    identities: new Map(),
    seen: new Map(),
    onPoint: request.onPoint ?? (() => {}),
  }
  try {
    if (open.marks.includes('recorded')) {
      const outcome = open.marks.includes('reverted') ? 'REVERTED' : 'APPLIED'
      clearEnded(exchange, outcome)
      journal.remove()
      return { outcome, id }
    }
    const strange = await strangePaths(exchange, open.marks, ground)
    if (strange.length > 0) {
      journal.close()
      return { outcome: 'CONFLICT', id, paths: strange }
    }
    if (neverBegan(open.marks, exchange)) return await letGo(work, exchange, journal)
    const isForwards =
      !goesBack(open.marks, exchange) &&
      (await mayFinish(request, exchange, open.marks)) &&
      (await goForwards(work, exchange, journal, open.marks)).length === 0
    const paths = isForwards ? [] : await goBack(work, exchange, journal, open.marks)
    if (paths.length > 0) {
      journal.close()
      return { outcome: 'CONFLICT', id, paths }
    }
    const outcome = isForwards ? 'APPLIED' : 'REVERTED'
    await recordEnd(request, exchange, digest, outcome)
    await endExchange(work, exchange, journal, outcome)
    return { outcome, id }
  } finally {
    ground.close()
  }
}

/** Without a plan nothing can have been changed: it is durable before the intent is. */
function endWithoutPlan({ id, marks, intent }: OpenJournal, journal: Journal): Recovered {
  journal.remove()
  // The directory with the plan is cleared away only after an end.
  if (intent !== null && marks.includes('reverted')) return { outcome: 'REVERTED', id }
  if (intent !== null && marks.includes('applied')) return { outcome: 'APPLIED', id }
  return { outcome: 'NOT_BEGUN', id }
}

/** A promotion that changed nothing yet is no end of its act: the decision about that still holds. */
function neverBegan(marks: readonly Mark[], exchange: Exchange): boolean {
  return exchange.kind === 'promotion' && marks.length === 0 && isUntouched(exchange)
}

/** Puts back what was prepared in the tree, without a mark or a record. */
async function letGo(work: Work, exchange: Exchange, journal: Journal): Promise<Recovered> {
  const { id, keep } = exchange
  const { others, left } = await revertExchange(work, exchange)
  const paths = [...others, ...left]
  if (paths.length > 0) {
    journal.close()
    return { outcome: 'CONFLICT', id, paths }
  }
  clearKeep(keep)
  journal.remove()
  return { outcome: 'NOT_BEGUN', id }
}

/**
 * Returns whether an exchange goes back. Once everything is applied it goes forwards, and once it is
 * reverting it goes back. Otherwise it is finished, unless nothing was begun, staged bytes are not as
 * rehearsed, or an entry that was taken away is not the expected one and has to return to its place.
 */
function goesBack(marks: readonly Mark[], exchange: Exchange): boolean {
  if (marks.includes('applied')) return false
  if (marks.includes('reverting') || isUntouched(exchange)) return true
  return unfinished(exchange.parts).some(({ steps }) =>
    steps.some((step) => {
      if (step.put !== null && existsAt(step.put) && stageDifferences(step).length > 0) return true
      return step.take !== null && existsAt(step.take) && takenDifferences(step).length > 0
    }),
  )
}

async function mayFinish(
  { mayFinish: asked }: RecoveryRequest,
  { kind, id, note }: Exchange,
  marks: readonly Mark[],
): Promise<boolean> {
  if (kind !== 'promotion' || marks.includes('applied') || asked === undefined) return true
  return asked(id, note)
}

/** Paths that stop it are the answer; none when it is done. */
export async function goForwards(
  work: Work,
  exchange: Exchange,
  journal: Journal,
  marks: readonly Mark[],
): Promise<readonly RawPath[]> {
  if (marks.includes('applied')) return []
  try {
    await applyExchange(work, exchange)
  } catch (error) {
    if (error instanceof Collision) return error.paths
    throw error
  }
  if (exchange.kind === 'promotion') writeAfterTimes(exchange, work.ground)
  await markAt(work.onPoint, journal, 'applied')
  return []
}

export async function goBack(
  work: Work,
  exchange: Exchange,
  journal: Journal,
  marks: readonly Mark[],
): Promise<readonly RawPath[]> {
  if (marks.includes('reverted')) return []
  if (!marks.includes('reverting')) await markAt(work.onPoint, journal, 'reverting')
  const { others, left } = await revertExchange(work, exchange)
  // After a crash writ cannot know which process wrote the bytes that are where the old ones belong.
  if (others.length + left.length > 0) return [...others, ...left]
  await markAt(work.onPoint, journal, 'reverted')
  return []
}

export async function recordEnd(
  { recordPromotion, recordRollback, onPoint = () => {} }: RecoveryRequest,
  exchange: Exchange,
  digest: Digest,
  status: 'APPLIED' | 'REVERTED',
): Promise<void> {
  onPoint('record', 'before', null)
  if (exchange.kind === 'promotion') {
    const windowMs = Math.max(0, Date.now() - exchange.beganAtMs)
    await recordPromotion(
      describePromotion(exchange, digest, { windowMs, status, recovered: true }),
    )
  } else {
    const ground = new Ground()
    const verified = status === 'APPLIED' && unrestored(exchange, ground).length === 0
    ground.close()
    await recordRollback(describeRollback(exchange, { status, verified, recovered: true }))
  }
  onPoint('record', 'after', null)
}

/** Ends an exchange whose record is durable: removes what is no longer needed, and its journal. */
export async function endExchange(
  { onPoint }: Work,
  exchange: Exchange,
  journal: Journal,
  outcome: 'APPLIED' | 'REVERTED',
): Promise<void> {
  await markAt(onPoint, journal, 'recorded')
  at(onPoint, 'clear', () => clearEnded(exchange, outcome))
  journal.remove()
}

/** What was put back needs its pre-images no more, as they are where they were; all else stays. */
function clearEnded(exchange: Exchange, outcome: 'APPLIED' | 'REVERTED'): void {
  if (outcome === 'APPLIED') clearSources(exchange)
  else clearKeep(exchange.keep)
}
