/**
 * Applies and undoes steps on the real tree (G-20). A step takes an entry away by renaming it into
 * writ's own directory, and verifies it there. It puts a file in place with a link, which fails if
 * another process has put something there first, and a directory with a rename onto an empty one made
 * for it. So a step overwrites nothing of other processes, and keeps what it displaces.
 *
 * INVARIANT (places tell): how far a step came is seen from its two places alone: what is taken away
 *   lies at `take`, and what is not yet put lies at `put`. Both directions go on from any point, so a
 *   recovery does what an undisturbed run does.
 *
 * Synchronous on purpose: between the first and the last step nothing else of this process runs.
 */

import { chmodSync, linkSync, mkdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import type { ChangeSide, EntryState, RawPath } from '../../gate/index.ts'
import { errnoOf, requireProgram, runProgramNow } from '../../machine/index.ts'
import {
  type Address,
  identityOf,
  isLike,
  isOfState,
  isSameLook,
  lookAt,
  namesIn,
  SLOWEST_TICK_NS,
  type TreeEntry,
  treeDifferences,
} from '../entries/entry.ts'
import { Collision } from '../entries/failure.ts'
import { existsAt, type Ground } from '../entries/ground.ts'
import { type ExchangeStep, putsTree, takesTree } from '../entries/plan.ts'

/** Points at which tests interrupt. */
export type InterruptPoint =
  | 'plan'
  | 'journal'
  | 'intent'
  | 'git_lock'
  | 'take'
  | 'verify'
  | 'placeholder'
  | 'put'
  | 'unstage'
  | 'directories'
  | 'times'
  | 'sync'
  | 'applied'
  | 'record'
  | 'recorded'
  | 'reverting'
  | 'undo_put'
  | 'undo_take'
  | 'reverted'
  | 'clear'

export type OnPoint = (
  point: InterruptPoint,
  moment: 'before' | 'after',
  path: RawPath | null,
) => void

export interface Work {
  readonly ground: Ground
  /** Of files hashed during the check. */
  readonly identities: ReadonlyMap<RawPath, string>
  /** Of entries that were taken away and verified, by their place: how they looked before that. */
  readonly seen: Map<string, TreeEntry>
  readonly onPoint: OnPoint
}

/** Larger files are hashed at the end: a path is absent for microseconds only. */
const HASHED_AT_ONCE_MAX = 65_536
const PLACEHOLDER_MODE = 0o700

function step<T>(work: Work, point: InterruptPoint, path: RawPath, action: () => T): T {
  work.onPoint(point, 'before', path)
  const done = action()
  work.onPoint(point, 'after', path)
  return done
}

/** Takes and puts; goes on where an earlier try stopped. A collision leaves the step half done. */
export function applyStep(work: Work, each: ExchangeStep): void {
  if (each.take !== null) takeAway(work, each, each.take)
  if (each.put !== null) putInPlace(work, each)
}

/** Takes away, and verifies unless that is left to `takenChanges`. */
function takeAway(work: Work, each: ExchangeStep, take: string): void {
  const { path, changes } = each
  let isSeen = false
  if (!existsAt(take)) {
    const address = addressOf(work, path)
    isSeen = isIdentical(work, path, lookAt(address))
    step(work, 'take', path, () => move(address, take, path))
    work.ground.forget(path)
  }
  const isLarge = changes[0].before?.kind === 'file' && changes[0].before.size > HASHED_AT_ONCE_MAX
  // `isLarge` implies a state before.
  if (isLarge && isSeen && isMoved(take, changes[0].before as EntryState)) return
  verify(work, each, take)
}

function verify(work: Work, each: ExchangeStep, take: string): void {
  work.onPoint('verify', 'before', each.path)
  const entry = lookAt(take)
  if (entry?.kind === 'file') work.seen.set(take, entry)
  const different = differences(work, each, take, 'before')
  if (different.length > 0) throw new Collision(different)
}

/**
 * Returns the paths that a program changed, through a file that it had opened before, after the entry was
 * taken away. Called when no process has the entry open for writing, so the result is final.
 */
export function takenChanges(work: Work, each: ExchangeStep): readonly RawPath[] {
  const { take } = each
  if (take === null) return []
  const seen = work.seen.get(take)
  const entry = seen === undefined ? null : lookAt(take)
  if (seen !== undefined && entry !== null && isUnwritten(seen, entry)) return []
  return differences(work, each, take, 'before')
}

/** Whether the times prove that nothing was written since; a write in the tick of the move would not show. */
function isUnwritten(seen: TreeEntry, now: TreeEntry): boolean {
  return isSameLook(seen, now) && seen.ctimeNs - BigInt(seen.mtimeNs) > SLOWEST_TICK_NS
}

function isIdentical({ identities }: Work, path: RawPath, entry: TreeEntry | null): boolean {
  const known = identities.get(path)
  return entry !== null && known !== undefined && identityOf(entry, Date.now()) === known
}

/** The file that was seen a moment ago, unless it was written to in this very moment. */
function isMoved(take: string, before: EntryState): boolean {
  const entry = lookAt(take)
  return entry !== null && isLike(entry, before) && entry.mtimeNs === before.mtimeNs
}

/** What of an entry or tree in writ's own directory is not of its state. */
function differences(
  work: Work,
  each: ExchangeStep,
  place: Address,
  side: ChangeSide,
): readonly RawPath[] {
  const { path, changes } = each
  const isTree = side === 'before' ? takesTree(each) : putsTree(each)
  try {
    if (!isTree) return isOfState(place, changes[0][side], true) ? [] : [path]
    const isKnown = (at: RawPath, entry: TreeEntry): boolean => isIdentical(work, at, entry)
    return treeDifferences({ address: place, path, changes, side, own: true, isKnown })
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return [path]
  }
}

function putInPlace(work: Work, each: ExchangeStep): void {
  const { path } = each
  // Callers pass only steps that put something.
  const put = each.put as string
  const staged = lookAt(put)
  const address = addressOf(work, path)
  if (staged === null) {
    closeUp(address, each.changes[0].after)
    return
  }
  if (putsTree(each)) {
    putDirectory(work, path, put, address, staged.mode)
    return
  }
  const here = lookAt(address)
  if (here?.inode !== staged.inode) {
    step(work, 'put', path, () => linkNew(put, address, path))
  }
  step(work, 'unstage', path, () => rmSync(put, { force: true }))
}

/** A link that replaces nothing. */
function linkNew(from: string, to: Address, path: RawPath): void {
  try {
    linkOrMove(from, to)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST' || code === 'ENOENT' || code === 'ENOTDIR') throw new Collision([path])
    throw error
  }
}

/** Links a file, or moves it where Linux lets only its owner link it (`fs.protected_hardlinks`). */
function linkOrMove(from: string, to: Address): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (errnoOf(error) !== 'EPERM' || !moveNew(from, to)) throw error
  }
}

/**
 * A rename that replaces nothing. `mv -n` asks the kernel for just that, and copies nothing here,
 * where both names lie on one filesystem. Paths go in by xargs, because they are bytes.
 */
function moveNew(from: string, to: Address): boolean {
  const target = String(Buffer.from(to).toString('latin1')).replace(
    '/proc/self/',
    `/proc/${process.pid}/`,
  )
  const input = Buffer.from(
    `${Buffer.from(from).toString('latin1')}\u0000${target}\u0000`,
    'latin1',
  )
  const args = ['--null', requireProgram('mv'), '--no-clobber', '--no-target-directory', '--']
  const { status } = runProgramNow(requireProgram('xargs'), args, {
    input,
    timeout: MOVE_TIMEOUT_MS,
  })
  if (status === 0 && existsAt(from)) throw Object.assign(new Error('exists'), { code: 'EEXIST' })
  return status === 0
}

const MOVE_TIMEOUT_MS = 60_000

/**
 * Puts a directory in place. Node's rename would silently replace an empty directory of another process.
 * So makes an empty placeholder first, which fails if anything is there. The rename onto it then fails
 * if another process has put something into it meanwhile.
 */
function putDirectory(
  work: Work,
  path: RawPath,
  from: string,
  address: Address,
  mode: number,
): void {
  if (!isPlaceholder(lookAt(address), address)) {
    step(work, 'placeholder', path, () => makePlaceholder(address, path))
  }
  step(work, 'put', path, () => {
    try {
      moveOpened(from, address, mode)
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR' || code === 'ENOENT') {
        throw new Collision([path])
      }
      removePlaceholder(address)
      throw error
    }
  })
}

function makePlaceholder(address: Address, path: RawPath): void {
  try {
    mkdirSync(address, { mode: PLACEHOLDER_MODE })
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST' || code === 'ENOENT' || code === 'ENOTDIR') throw new Collision([path])
    throw error
  }
}

export function isPlaceholder(entry: TreeEntry | null, address: Address): boolean {
  if (entry?.kind !== 'directory' || entry.mode !== PLACEHOLDER_MODE) return false
  return entry.uid === process.getuid?.() && namesIn(address).length === 0
}

function removePlaceholder(address: Address): void {
  try {
    rmdirSync(address)
  } catch (error) {
    // Another process has put something into it: the directory stays for that process.
    if (errnoOf(error) === null) throw error
  }
}

/** Moving a directory writes into it (`..`), which its own mode may forbid its owner. */
function moveOpened(from: Address, to: Address, mode: number): void {
  const isClosed = (mode & 0o300) !== 0o300 && process.getuid?.() !== 0
  if (isClosed) chmodSync(from, mode | 0o700)
  renameSync(from, to)
  if (isClosed) chmodSync(to, mode)
}

/** A crash may have come between a move and the moment at which the mode was set back. */
function closeUp(address: Address, state: EntryState | null): void {
  const here = state?.kind === 'directory' ? lookAt(address) : null
  if (state === null || here?.kind !== 'directory' || here.mode === state.mode) return
  if (here.mode === (state.mode | 0o700)) chmodSync(address, state.mode)
}

/** Away into writ's own directory, where nothing is at that name. */
function move(from: Address, to: string, path: RawPath): void {
  try {
    const entry = lookAt(from)
    if (entry?.kind === 'directory') moveOpened(from, to, entry.mode)
    else renameSync(from, to)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Collision([path])
    throw error
  }
}

function addressOf({ ground }: Work, path: RawPath): Buffer {
  const address = ground.atIfThere(path)
  if (address === null) throw new Collision([path])
  return address
}

/** What a step met on its way back. */
interface Undone {
  /** Edited since: the entry at the path, or from there, is neither the old nor the new one. */
  readonly others: readonly RawPath[]
  /** Another process has put something where the old entry belongs: that stays, the old one is kept. */
  readonly left: readonly RawPath[]
}

const UNDONE: Undone = { others: [], left: [] }

/** Undoes a step; goes on where an earlier try stopped. */
export function undoStep(work: Work, each: ExchangeStep): Undone {
  const { path } = each
  const address = work.ground.atIfThere(path)
  if (address === null) return hasBegun(each) ? { others: [path], left: [] } : UNDONE
  if (each.put !== null && !undoPut(work, each, each.put, address)) {
    return { others: [path], left: [] }
  }
  if (each.take === null) return UNDONE
  if (!existsAt(each.take)) {
    closeUp(address, each.changes[0].before)
    return UNDONE
  }
  return undoTake(work, each, each.take, address) ? UNDONE : { others: [], left: [path] }
}

/**
 * Puts an entry that came back to the stage in place again, if the path is still as it was before; what
 * it displaces is kept. False when the path is not, and the entry stays in the stage.
 */
export function redoStep(work: Work, each: ExchangeStep): boolean {
  const { path, take } = each
  const address = work.ground.atIfThere(path)
  try {
    if (address === null || differences(work, each, address, 'before').length > 0) return false
    if (take !== null) move(address, take, path)
    work.ground.forget(path)
    putInPlace(work, each)
    return true
  } catch (error) {
    if (!(error instanceof Collision)) throw error
    return false
  }
}

export function hasBegun({ take, put }: ExchangeStep): boolean {
  return (take !== null && existsAt(take)) || (put !== null && !existsAt(put))
}

/** Takes the new entry back. Returns false if the entry at the path is not the one that was put there. */
function undoPut(work: Work, each: ExchangeStep, put: string, address: Address): boolean {
  const { path } = each
  const staged = lookAt(put)
  const here = lookAt(address)
  if (staged !== null) {
    if (putsTree(each)) {
      if (isPlaceholder(here, address)) removePlaceholder(address)
      return true
    }
    if (here?.inode !== staged.inode) return true
    return step(work, 'undo_put', path, () => undoLink(work, each, put, address))
  }
  if (here === null) return false
  return step(work, 'undo_put', path, () => {
    move(address, put, path)
    work.ground.forget(path)
    if (differences(work, each, put, 'after').length === 0) return true
    giveBack(put, address, putsTree(each))
    return false
  })
}

/** Linked and not yet unlinked: the link at the path is moved away and looked at, like all else. */
function undoLink(work: Work, each: ExchangeStep, put: string, address: Address): boolean {
  const aside = `${put}.aside`
  const inode = lookAt(put)?.inode
  move(address, aside, each.path)
  const isOurs = lookAt(aside)?.inode === inode
  if (isOurs && differences(work, each, put, 'after').length === 0) {
    unlinkSync(aside)
    return true
  }
  giveBack(aside, address, false)
  return false
}

/** Puts an entry of another process back at its path; leaves it in writ's directory if that is taken. */
function giveBack(from: string, to: Address, isTree: boolean): void {
  try {
    if (isTree) {
      mkdirSync(to, { mode: PLACEHOLDER_MODE })
      renameSync(from, to)
    } else {
      linkOrMove(from, to)
      rmSync(from, { force: true })
    }
  } catch (error) {
    if (errnoOf(error) === null) throw error
  }
}

/** Puts the old entry back. Returns false if another process has taken the path. */
function undoTake(work: Work, each: ExchangeStep, take: string, address: Address): boolean {
  const { path } = each
  const taken = lookAt(take)
  const here = lookAt(address)
  return step(work, 'undo_take', path, () => {
    try {
      if (taken?.kind === 'directory') {
        if (!isPlaceholder(here, address)) mkdirSync(address, { mode: PLACEHOLDER_MODE })
        moveOpened(take, address, taken.mode)
      } else {
        if (here?.inode !== taken?.inode) linkOrMove(take, address)
        rmSync(take, { force: true })
      }
      return true
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR') return false
      throw error
    }
  })
}
