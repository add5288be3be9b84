/**
 * Promotion: puts the rehearsed bytes in place, once (G-19b to G-19f, G-20). The order is check, intent,
 * apply, sync, record. A failure before the record puts everything back. After a crash, recovery ends
 * what the journal says was begun.
 *
 * PROMISE (nothing of others is lost): a promotion keeps what it displaces, and never overwrites what
 *   another process changed; that stops the promotion, with the exact paths.
 *
 * Room on the disk that is taken beforehand: a file in the state directory that is given back when the
 * ledger runs out of room in the middle of a promotion, so that what was done can still be recorded
 * (G-19e).
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Digest, type FaultError, faultError } from '../../base/index.ts'
import { type Change, rawOfText } from '../../gate/index.ts'
import { errnoOf, removeTreeSync } from '../../machine/index.ts'
import { isSameRoot, type RootIdentity } from '../../tree/index.ts'
import { machineFailure, pathsFailure } from '../entries/failure.ts'
import { gitLocksOf } from '../entries/git-lock.ts'
import { Ground } from '../entries/ground.ts'
import { checkStage, planSteps, readPlaces } from '../entries/plan.ts'
import { type Exchange, measureExchange } from '../journal/exchange.ts'
import { PROBE } from '../journal/journal.ts'
import { adoptDirectories, noteShared } from '../journal/shared-directory.ts'
import type { OnPoint, Work } from './apply.ts'
import { checkDevices, checkListings, checkParts, checkWriters, type Listing } from './check.ts'
import {
  beginExchange,
  clearSources,
  makeKeep,
  putBack,
  refuseUnrecovered,
  writeAfterTimes,
} from './exchange-ends.ts'
import { keepIndexCopies } from './index-copies.ts'
import type { WorkspaceLock } from './lock.ts'
import { applyExchange, at, markAt } from './run.ts'

export interface PromotionRequest {
  readonly actionId: string
  readonly lock: WorkspaceLock
  /** Sorted by path; what the gate lets through, not what it discards. */
  readonly changes: readonly Change[]
  /** The stage with its index, on the filesystem of the workspace. */
  readonly stage: string
  /** Where displaced entries are kept for undoing: `…/preimages/<action_id>`, same filesystem. */
  readonly keep: string
  /** The state directory, which holds the journal. */
  readonly state: string
  /** Scope roots as the rehearsal found them. */
  readonly roots: readonly RootIdentity[]
  /** Directories that the rehearsal emptied and made again: no name may have come or gone since. */
  readonly listings?: readonly Listing[]
  /** Asked between the check and the intent; true ends the promotion before anything changes. */
  readonly isHalted: () => boolean
  /** Appends the fact, durably, under the key `promotion/<action_id>`; may be called again. */
  readonly record: (promotion: AppliedPromotion) => Promise<void>
  /**
   * Called when every byte is in place and durable, and before that is final: what has to happen last
   * and cannot be taken back. When it fails, everything is put back.
   */
  readonly beforeDone?: () => Promise<void>
  /** Kept with the intent and handed to `record` by a recovery. Any JSON value. */
  readonly note: unknown
  readonly onPoint?: OnPoint
}

export interface AppliedPromotion {
  readonly actionId: string
  readonly status: 'APPLIED' | 'REVERTED'
  /** How many paths were changed. */
  readonly paths: number
  /** How many bytes of files were put in place. */
  readonly bytes: number
  /** Of the list of pre-images with all their states. */
  readonly snapshot: Digest
  /** How long others could see some paths old and others new. */
  readonly windowMs: number
  readonly promotedAtMs: number
  readonly recovered: boolean
  readonly note: unknown
}

const RESERVE_NAME = 'reserve'
const RESERVE_BYTES = 1 << 20
const CHUNK_BYTES = 1 << 16

export async function applyStage(request: PromotionRequest): Promise<AppliedPromotion> {
  const ground = new Ground()
  try {
    refuseUnrecovered(request.state, rawOfText(request.lock.root))
    const prepared = await prepare(request, ground)
    return await carryOut(request, prepared)
  } finally {
    ground.close()
  }
}

interface Prepared {
  readonly exchange: Exchange
  readonly work: Work
}

/** Everything that can be found out before anything changes. */
async function prepare(request: PromotionRequest, ground: Ground): Promise<Prepared> {
  const { actionId, keep, stage, changes, lock, onPoint = () => {} } = request
  checkRoots(request.roots)
  const adopted = await adoptDirectories(changes, readPlaces(stage), stage, ground)
  const planned = planSteps(adopted.changes, adopted.places, `${keep}/`)
  const parts = [{ actionId, steps: planned.steps }]
  const { different, parents, identities } = await checkParts(parts, ground, async () => {
    const asking = checkWriters(parts)
    try {
      checkStage(planned)
    } finally {
      await asking
    }
  })
  const conflicts = [...different, ...checkListings(request.listings ?? [], ground)]
  if (conflicts.length > 0) throw pathsFailure('promote.conflict', conflicts)
  if (request.isHalted()) throw halted()
  takeReserve(request.state)
  makeKeep(keep)
  try {
    checkDevices(parents, keep, ground)
    checkLinks(keep, stage)
    noteShared(keep, adopted.shared)
  } catch (error) {
    removeTreeSync(keep)
    throw machineFailure(error, keep)
  }
  const exchange: Exchange = {
    kind: 'promotion',
    id: actionId,
    workspace: rawOfText(lock.root),
    keep,
    sources: [stage],
    parents: parents.map((parent) => ({ ...parent, finalMtimeNs: null })),
    gitLocks: gitLocksOf(planned.steps, ground),
    note: request.note ?? null,
    beganAtMs: Date.now(),
    parts,
  }
  return { exchange, work: { ground, identities, seen: new Map(), onPoint } }
}

async function carryOut(
  { state, record, beforeDone }: PromotionRequest,
  { exchange, work }: Prepared,
): Promise<AppliedPromotion> {
  const { onPoint, ground } = work
  const { journal, digest } = await beginExchange(state, exchange, onPoint)
  let windowMs: number
  try {
    windowMs = (await applyExchange(work, exchange)).windowMs
    await beforeDone?.()
  } catch (error) {
    throw await putBack(work, exchange, journal, error, 'promote.conflict')
  }
  writeAfterTimes(exchange, ground)
  keepIndexCopies(exchange, ground)
  await markAt(onPoint, journal, 'applied')
  const promotion = describePromotion(exchange, digest, {
    windowMs,
    status: 'APPLIED',
    recovered: false,
  })
  try {
    onPoint('record', 'before', null)
    await recordSurely(state, promotion, record)
    onPoint('record', 'after', null)
    await markAt(onPoint, journal, 'recorded')
    at(onPoint, 'clear', () => clearSources(exchange))
    journal.remove()
  } catch (error) {
    // The journal stays: recovery records it, and nothing is promoted here before that.
    journal.close()
    throw error
  }
  return promotion
}

export function describePromotion(
  exchange: Exchange,
  snapshot: Digest,
  rest: Pick<AppliedPromotion, 'windowMs' | 'status' | 'recovered'>,
): AppliedPromotion {
  const { paths, bytes } =
    rest.status === 'APPLIED' ? measureExchange(exchange) : { paths: 0, bytes: 0 }
  const { id, note } = exchange
  return { actionId: id, paths, bytes, snapshot, promotedAtMs: Date.now(), note, ...rest }
}

function halted(): FaultError {
  return faultError('halted', '')
}

/** The scope is the directory that the rehearsal saw, not one that took its place. */
function checkRoots(roots: readonly RootIdentity[]): void {
  const replaced = roots.filter((root) => !isSameRoot(root)).map(({ root }) => rawOfText(root))
  if (replaced.length > 0) throw pathsFailure('promote.conflict', replaced)
}

/** Filesystems on which files can be linked; each is tried once. */
const linkable = new Set<number>()

/** That a file can be linked on this filesystem. */
function checkLinks(keep: string, stage: string): void {
  const { dev } = statSync(stage)
  if (statSync(keep).dev === dev && linkable.has(dev)) return
  tryLink(keep, stage)
  linkable.add(dev)
}

function tryLink(keep: string, stage: string): void {
  const [one, other] = [join(stage, PROBE), join(keep, PROBE)]
  try {
    writeFileSync(one, '')
    linkSync(one, other)
  } catch (error) {
    const reason = errnoOf(error)
    if (reason !== 'EPERM' && reason !== 'ENOSYS' && reason !== 'EOPNOTSUPP') throw error
    const message = 'the filesystem has no hard links'
    throw faultError('promote.unsupported_fs', keep, message)
  } finally {
    rmSync(one, { force: true })
    rmSync(other, { force: true })
  }
}

/** When the ledger has no room for the record, the room that was taken beforehand is given back. */
async function recordSurely(
  state: string,
  promotion: AppliedPromotion,
  record: PromotionRequest['record'],
): Promise<void> {
  try {
    await record(promotion)
  } catch (error) {
    // Any error may come here; only a failure has a fault.
    const { fault: failed } = error as { readonly fault?: { readonly code?: unknown } }
    if (failed?.code !== 'ledger.disk_full' || !giveReserve(state)) throw error
    await record(promotion)
  }
}

/** Takes the room if it is not taken yet; fails with `promote.no_space`. */
function takeReserve(state: string, bytes: number = RESERVE_BYTES): void {
  const file = join(state, RESERVE_NAME)
  if ((lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) >= bytes) return
  try {
    const handle = openSync(file, 'w', 0o600)
    try {
      // Written, not only sized: a hole takes no room.
      const chunk = Buffer.alloc(CHUNK_BYTES, 1)
      for (let at = 0; at < bytes; at += CHUNK_BYTES) writeSync(handle, chunk)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    rmSync(file, { force: true })
    throw machineFailure(error, file)
  }
}

/** Gives the room back; false when there was none. */
function giveReserve(state: string): boolean {
  const file = join(state, RESERVE_NAME)
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false
  rmSync(file, { force: true })
  return true
}
