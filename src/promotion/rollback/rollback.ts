/**
 * Rollback of promoted actions, newest first: all or nothing, journalled as a promotion is (G-21).
 * Takes away what the promotions put in place and puts back what they displaced. Refuses, with every path
 * that changed in between, if there is one. Verifies the result by hashing it.
 *
 * Needs nothing but the pre-images and their plan: no AI, no ledger, no sandbox.
 */
import { FaultError, fault } from '../../base/index.ts'
import { type Change, parentOfRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { isOfState } from '../entries/entry.ts'
import { Collision, listed, pathsFailure } from '../entries/failure.ts'
import { gitLocksOf } from '../entries/git-lock.ts'
import { existsAt, Ground } from '../entries/ground.ts'
import {
  type ExchangeStep,
  isInPlace,
  netChanges,
  type PlannedSteps,
  planReverse,
} from '../entries/plan.ts'
import type { OnPoint, Work } from '../exchange/apply.ts'
import { checkDevices, checkParts, checkWriters } from '../exchange/check.ts'
import {
  beginExchange,
  clearSources,
  makeKeep,
  putBack,
  readAfterTimes,
  refuseUnrecovered,
} from '../exchange/exchange-ends.ts'
import { fromRefreshed, type IndexCopies, indexCopies } from '../exchange/index-copies.ts'
import type { WorkspaceLock } from '../exchange/lock.ts'
import { applyExchange, at, markAt, stepsOf } from '../exchange/run.ts'
import {
  type Exchange,
  type ExchangePart,
  type ParentState,
  readPlan,
} from '../journal/exchange.ts'
import { type DirectorySuccessor, inheritedBy, Sharers } from '../journal/shared-directory.ts'
import { asKept, conflictHint, emptyInTheWay, removeEmpty, withoutDone } from './in-the-way.ts'

export interface RollbackRequest {
  readonly rollbackId: string
  readonly lock: WorkspaceLock
  /** Newest first, each with the directory of its pre-images. */
  readonly actions: readonly { readonly actionId: string; readonly keep: string }[]
  /** Where that which is taken away lies until the rollback is recorded: same filesystem. */
  readonly keep: string
  readonly state: string
  /** Also pre-images that a program changed since, as they are now; the record is unverified then. */
  readonly asIs?: boolean
  /** Appends the fact, durably, under the key `rollback/<rollback_id>`; may be called again. */
  readonly record: (rollback: AppliedRollback) => Promise<void>
  readonly note: unknown
  readonly onPoint?: OnPoint
}

export interface AppliedRollback {
  readonly rollbackId: string
  readonly status: 'APPLIED' | 'REVERTED'
  readonly actionIds: readonly string[]
  /** How many paths were restored. */
  readonly restored: number
  /** What was changed, path by path; none when it was put back. */
  readonly changes: readonly Change[]
  /** Every restored path was hashed and equals its pre-image. */
  readonly verified: boolean
  readonly rolledBackAtMs: number
  readonly recovered: boolean
  readonly note: unknown
}

/** What a rollback would do: the changes it would make, path by path. */
export interface RollbackPreview {
  readonly changes: readonly Change[]
  /** Of these: what others put into directories after those were taken away. */
  readonly added: readonly RawPath[]
}

/** A rollback that was carried out, with what it brought back besides. */
type Restored = AppliedRollback & Pick<RollbackPreview, 'added'>

export async function rollback(request: RollbackRequest): Promise<Restored> {
  const ground = new Ground()
  try {
    refuseUnrecovered(request.state, rawOfText(request.lock.root))
    const { exchange, work, added } = await prepare(request, ground)
    return { ...(await carryOut(request, exchange, work)), added }
  } finally {
    ground.close()
  }
}

/** Checks everything, changes nothing. */
export async function previewRollback(
  request: Pick<RollbackRequest, 'actions' | 'keep' | 'asIs'>,
): Promise<RollbackPreview> {
  const ground = new Ground()
  try {
    const { parts, added } = await check(request, ground)
    return { changes: netChanges(parts.map(({ steps }) => steps)), added }
  } finally {
    ground.close()
  }
}

/** A plan without its steps: those are as many as the act was large. */
type Head = Omit<Exchange, 'parts'>

interface Checked {
  readonly plans: readonly Head[]
  readonly parts: readonly ExchangePart[]
  readonly found: Awaited<ReturnType<typeof checkParts>>
  readonly heirs: readonly DirectorySuccessor[]
  readonly added: readonly RawPath[]
  readonly altered: readonly RawPath[]
  /** Empty directories that have to go first. */
  readonly empty: readonly RawPath[]
}

async function check(
  { actions, keep, asIs }: Pick<RollbackRequest, 'actions' | 'keep' | 'asIs'>,
  ground: Ground,
): Promise<Checked> {
  const { plans, planned, copies, heirs } = reverseAll(actions, keep, ground)
  const { reversed, added, altered } = asKept(fromRefreshed(planned, copies, ground))
  if (altered.length > 0 && asIs !== true) {
    const oldest = actions.at(-1)?.actionId ?? ''
    const hint = `to put them back as they are now: \`writ rollback ${oldest} --as-is\`; they lie in ${listed(keepsOf(reversed, altered))}`
    throw pathsFailure('rollback.altered', altered, hint)
  }
  const lost = lostIn(reversed, altered)
  if (lost.length > 0) throw pathsFailure('rollback.altered', lost, 'these are gone altogether')
  const parts = reversed.map(({ steps }, index) => ({
    actionId: actions[index]?.actionId ?? '',
    // Of several acts each finds what the newer one leaves, so all of it is compared.
    steps: reversed.length === 1 ? withoutDone(steps, ground) : steps,
  }))
  const found = await checkParts(parts, ground, () => checkWriters(parts))
  const empty = emptyInTheWay(parts.length === 1 ? stepsIn(parts) : [], found.different, ground)
  const different = found.different.filter((path) => !empty.includes(path))
  if (different.length > 0) throw conflict(parts, different)
  return { plans, parts, found, heirs, added, altered, empty }
}

function stepsIn(parts: readonly ExchangePart[]): readonly ExchangeStep[] {
  return parts.flatMap(({ steps }) => steps)
}

function conflict(parts: readonly ExchangePart[], different: readonly RawPath[]): FaultError {
  const [only, ...others] = parts
  const hint =
    only === undefined || others.length > 0
      ? 'take the acts back one by one, newest first: `writ log` lists them, `writ undo` takes the newest back'
      : conflictHint(only.actionId, only.steps, different)
  return pathsFailure('rollback.conflict', different, hint)
}

/** Where pre-images of these paths lie. */
function keepsOf(reversed: readonly PlannedSteps[], paths: readonly RawPath[]): string[] {
  const wanted = new Set(paths)
  return reversed.flatMap(({ steps }) =>
    steps.flatMap(({ put, changes }) =>
      put !== null && changes.some(({ path }) => wanted.has(path)) ? [put] : [],
    ),
  )
}

/** Paths whose pre-image is not there at all, so that nothing could be put back. */
function lostIn(
  reversed: readonly PlannedSteps[],
  altered: readonly RawPath[],
): readonly RawPath[] {
  if (altered.length === 0) return []
  const unstaged = reversed.flatMap((planned) => planned.unstaged)
  const gone = reversed.flatMap(({ steps }) =>
    steps.filter(({ put }) => put !== null && !existsAt(put)).map(({ path }) => path),
  )
  return [...unstaged, ...gone]
}

interface Reversed {
  readonly plans: readonly Head[]
  readonly planned: readonly PlannedSteps[]
  readonly copies: readonly IndexCopies[]
  readonly heirs: readonly DirectorySuccessor[]
}

/** Directories that acts which stay made as well are left to those. */
function reverseAll(actions: RollbackRequest['actions'], keep: string, ground: Ground): Reversed {
  const plans = readPlans(actions)
  const keeps = actions.map((action) => action.keep)
  const sharers = new Sharers(keeps)
  const heirs: DirectorySuccessor[] = []
  const gone: Change[] = []
  const stays = (path: RawPath): boolean => {
    const heir = sharers.heirOf(path)
    if (heir !== null) heirs.push(heir)
    return heir !== null
  }
  const planned = plans.map((plan, index) => {
    const steps = stepsOf(plan)
    // One at a time: a call takes only so many arguments.
    for (const { changes } of steps) for (const change of changes) gone.push(change)
    const isLast = index === plans.length - 1
    // They go when all that is in them is gone.
    const inherited = isLast ? inheritedBy(keeps, gone, ground, stays) : []
    return planReverse(steps, `${keep}/${index}-`, stays, inherited)
  })
  return { plans: plans.map(headOf), planned, copies: plans.map(indexCopies), heirs }
}

function headOf({ parts: _parts, ...head }: Exchange): Head {
  return head
}

function readPlans(actions: RollbackRequest['actions']): Exchange[] {
  const read = actions.map(({ keep }) => readPlan(keep))
  const ids = actions.filter((_, index) => read[index] === null).map(({ actionId }) => actionId)
  if (ids.length > 0) {
    throw expired(ids)
  }
  return read.flatMap((plan) => (plan === null ? [] : [plan.exchange]))
}

/** The old versions that an undo needs are gone. */
export function expired(ids: readonly string[]): FaultError {
  const message = `${listed(ids)} cannot be taken back any more: the old versions of its files were removed, at the end of the undo period or to keep its quota`
  const hint = '`writ du` shows what can still be taken back; `retention` in the laws sets how long'
  return new FaultError(fault('rollback.expired', ids[0] ?? '', { ids }, { message, hint }))
}

interface Prepared {
  readonly exchange: Exchange
  readonly work: Work
  readonly added: readonly RawPath[]
}

async function prepare(request: RollbackRequest, ground: Ground): Promise<Prepared> {
  const { rollbackId, actions, keep, lock, onPoint = () => {} } = request
  const { plans, parts, found, heirs, added, altered, empty } = await check(request, ground)
  const filled = removeEmpty(empty, ground)
  if (filled.length > 0) throw conflict(parts, filled)
  makeKeep(keep)
  try {
    checkDevices(found.parents, keep, ground)
  } catch (error) {
    removeTreeSync(keep)
    throw error
  }
  const exchange: Exchange = {
    kind: 'rollback',
    id: rollbackId,
    workspace: rawOfText(lock.root),
    keep,
    sources: actions.map((action) => action.keep),
    parents: restoredTimes(found.parents, parts, plans),
    heirs,
    ...(altered.length === 0 ? {} : { altered }),
    gitLocks: gitLocksOf(
      parts.flatMap(({ steps }) => steps),
      ground,
    ),
    note: request.note ?? null,
    beganAtMs: Date.now(),
    parts,
  }
  const work = { ground, identities: found.identities, seen: new Map(), onPoint }
  return { exchange, work, added }
}

/**
 * Gives a directory its old time back if its time is still the one that the promotion left: then no
 * other process has changed it. Over several promotions, follows the times from each to the one before,
 * also for directories that come back on the way.
 */
function restoredTimes(
  parents: readonly Omit<ParentState, 'finalMtimeNs'>[],
  parts: readonly ExchangePart[],
  plans: readonly Head[],
): ParentState[] {
  const times = new Map<RawPath, string | null>()
  const states = new Map(parents.map((parent) => [parent.path, parent]))
  const coming: typeof states = new Map()
  for (const { path, mtimeNs } of parents) times.set(path, mtimeNs)
  for (const [index, { steps }] of parts.entries()) {
    const plan = plans[index]
    const after = plan === undefined ? null : readAfterTimes(plan.keep)
    const before = new Map(plan?.parents.map(({ path, mtimeNs }) => [path, mtimeNs]))
    for (const directory of new Set(steps.map(touchedBy))) {
      const come = coming.get(directory)
      if (come !== undefined && !states.has(directory)) states.set(directory, come)
    }
    const moved = steps.filter((step) => !isInPlace(step))
    for (const directory of new Set(moved.map(({ path }) => parentOfRaw(path)))) {
      const isTheirs = after?.get(directory) !== times.get(directory)
      times.set(directory, isTheirs ? null : (before.get(directory) ?? null))
    }
    for (const { path, after: comes } of steps.flatMap(({ changes }) => changes)) {
      if (comes?.kind !== 'directory') continue
      const { mode, mtimeNs } = comes
      coming.set(path, { path, mode, mtimeNs })
      times.set(path, mtimeNs)
    }
  }
  return [...states.values()].map((state) => ({
    ...state,
    finalMtimeNs: times.get(state.path) ?? null,
  }))
}

/** The directory whose time a step moves. */
function touchedBy(step: ExchangeStep): RawPath {
  return isInPlace(step) ? step.path : parentOfRaw(step.path)
}

async function carryOut(
  { state, record }: RollbackRequest,
  exchange: Exchange,
  work: Work,
): Promise<AppliedRollback> {
  const { onPoint, ground } = work
  const { journal } = await beginExchange(state, exchange, onPoint)
  try {
    await applyExchange(work, exchange)
    const wrong = unrestored(exchange, ground)
    if (wrong.length > 0) throw new Collision(wrong)
  } catch (error) {
    throw await putBack(work, exchange, journal, error, 'rollback.conflict')
  }
  await markAt(onPoint, journal, 'applied')
  const rest = { status: 'APPLIED', verified: true, recovered: false } as const
  const done = describeRollback(exchange, rest)
  try {
    onPoint('record', 'before', null)
    await record(done)
    onPoint('record', 'after', null)
    await markAt(onPoint, journal, 'recorded')
    at(onPoint, 'clear', () => clearSources(exchange))
    journal.remove()
  } catch (error) {
    // The journal stays: recovery records it, and nothing is changed here before that.
    journal.close()
    throw error
  }
  return done
}

/** Every path that is not what its pre-image was: read and hashed at its place. */
export function unrestored({ parts }: Exchange, ground: Ground): RawPath[] {
  const wrong: RawPath[] = []
  for (const { path, after } of netChanges(parts.map(({ steps }) => steps))) {
    const address = ground.atIfThere(path)
    const isRight = address === null ? after === null : isOfState(address, after, false)
    if (!isRight) wrong.push(path)
  }
  return wrong
}

export function describeRollback(
  exchange: Exchange,
  rest: Pick<AppliedRollback, 'status' | 'verified' | 'recovered'>,
): AppliedRollback {
  const { id, note, parts } = exchange
  const changes = rest.status === 'APPLIED' ? netChanges(parts.map(({ steps }) => steps)) : []
  return {
    rollbackId: id,
    actionIds: parts.map(({ actionId }) => actionId),
    restored: changes.length,
    changes,
    rolledBackAtMs: Date.now(),
    note,
    ...rest,
    // Altered entries that were put back are not those that were displaced.
    verified: rest.verified && exchange.altered === undefined,
  }
}
