/**
 * One exchange from its intent to the moment at which it is durable, and the way back. What calls it
 * decides what a failure means; here everything is either done, or put back, or reported path by path.
 *
 * The order is the promise: the intent is durable before the first change, and every directory that
 * changed is durable before the mark that says so.
 */
import { chmodSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parentOfRaw, type RawPath } from '../../gate/index.ts'
import { syncAndClose, syncPath } from '../../machine/index.ts'
import { filesOf, findWriters } from '../entries/busy.ts'
import {
  type DirectoryTurn,
  setTimes,
  type TimeTurn,
  turnDirectories,
} from '../entries/directory-attributes.ts'
import { lookAt } from '../entries/entry.ts'
import { Collision } from '../entries/failure.ts'
import { holdGitLocks, releaseGitLocks } from '../entries/git-lock.ts'
import { existsAt } from '../entries/ground.ts'
import { type ExchangeStep, isInPlace, stageDifferences } from '../entries/plan.ts'
import type { Exchange, ExchangePart } from '../journal/exchange.ts'
import type { Journal, Mark } from '../journal/journal.ts'
import {
  applyStep,
  hasBegun,
  type OnPoint,
  redoStep,
  takenChanges,
  undoStep,
  type Work,
} from './apply.ts'
import { busy } from './check.ts'

interface Applied {
  readonly windowMs: number
}

/** Does everything that is not done yet, and syncs it. */
export async function applyExchange(work: Work, exchange: Exchange): Promise<Applied> {
  const { ground } = work
  at(work.onPoint, 'git_lock', () =>
    holdGitLocks(exchange.gitLocks, exchange.id, exchange.keep, ground),
  )
  const began = performance.now()
  loosen(work, exchange)
  for (const part of unfinished(exchange.parts)) {
    for (const step of part.steps) if (!isInPlace(step)) applyStep(work, step)
    work.onPoint('directories', 'before', null)
    await turnDirectories(ground, turnsOf(part, 'forwards'))
    work.onPoint('directories', 'after', null)
  }
  const windowMs = performance.now() - began
  releaseGitLocks(exchange.gitLocks, exchange.id, ground)
  await settle(work, exchange, 'forwards')
  const synced = sync(work, exchange)
  // Avoids an unhandled rejection; `await synced` below throws the failure.
  synced.catch(() => {})
  try {
    refuseMoved(work, exchange)
    await refuseWriters(exchange)
    refuseWritten(work, exchange)
  } finally {
    await synced
  }
  return { windowMs }
}

/** Puts everything back that was done, and syncs it. */
export async function revertExchange(work: Work, exchange: Exchange) {
  const others: RawPath[] = []
  const left: RawPath[] = []
  const unput: ExchangeStep[] = []
  loosen(work, exchange)
  for (const part of [...exchange.parts].reverse()) {
    await turnDirectories(work.ground, turnsOf(part, 'back').filter(isThere(work)))
    for (const step of [...part.steps].reverse()) {
      if (isInPlace(step)) continue
      const wasPut = isPut(step)
      const undone = undoStep(work, step)
      for (const path of undone.others) others.push(path)
      for (const path of undone.left) left.push(path)
      if (wasPut && !isPut(step)) unput.push(step)
    }
  }
  const written = await redoWritten(work, exchange.keep, unput)
  for (const path of written.others) others.push(path)
  releaseGitLocks(exchange.gitLocks, exchange.id, work.ground)
  await settle(work, exchange, 'back')
  await sync(work, exchange)
  return { others, left, aside: written.aside }
}

/** Parts are done one after the other: those before one that has begun are done. */
export function unfinished(parts: readonly ExchangePart[]): readonly ExchangePart[] {
  const last = parts.findLastIndex(({ steps }) => steps.some(hasBegun))
  return parts.slice(Math.max(last, 0))
}

/** In-place changes of a part, the deepest first. */
export function turnsOf({ steps }: ExchangePart, direction: 'forwards' | 'back'): DirectoryTurn[] {
  const turns: DirectoryTurn[] = []
  for (const step of steps) {
    const [{ path, before, after }] = step.changes
    if (!isInPlace(step) || before === null || after === null) continue
    turns.push(
      direction === 'forwards'
        ? { path, from: before, to: after }
        : { path, from: after, to: before },
    )
  }
  return turns.reverse()
}

function isThere({ ground }: Work) {
  return ({ path }: { readonly path: RawPath }): boolean =>
    lookAt(ground.atIfThere(path))?.kind === 'directory'
}

const OPENED = 0o700

/** A directory that forbids its owner to change it is opened up for the while. */
function loosen(work: Work, { parents }: Exchange): void {
  if (process.getuid?.() === 0) return
  for (const { path, mode } of parents.filter(isThere(work))) {
    if ((mode & 0o300) !== 0o300) chmodSync(work.ground.directory(path), mode | OPENED)
  }
}

/** Sets the modes that were loosened, and the times, to their final values. */
async function settle(
  work: Work,
  exchange: Exchange,
  direction: 'forwards' | 'back',
): Promise<void> {
  const { parents, parts } = exchange
  const turned = new Map(
    parts.flatMap((part) => turnsOf(part, direction)).map(({ path, to }) => [path, to]),
  )
  const times: TimeTurn[] = []
  for (const { path, mode, mtimeNs, finalMtimeNs } of parents.filter(isThere(work))) {
    const turn = turned.get(path)
    const isLoosened = (mode & 0o300) !== 0o300 && process.getuid?.() !== 0
    if (isLoosened) chmodSync(work.ground.directory(path), turn?.mode ?? mode)
    // A promotion carries the times that were rehearsed; a rollback followed them back itself.
    const final = exchange.kind === 'promotion' ? (turn?.mtimeNs ?? null) : finalMtimeNs
    const time = direction === 'back' ? mtimeNs : final
    if (time !== null) times.push({ path, mtimeNs: time })
  }
  work.onPoint('times', 'before', null)
  await setTimes(work.ground, times)
  work.onPoint('times', 'after', null)
}

const SYNCED_AT_ONCE = 8

/** Every directory in which a name came or went, and where that went which was taken away. */
async function sync(work: Work, exchange: Exchange): Promise<void> {
  work.onPoint('sync', 'before', null)
  const directories = new Set<RawPath>()
  for (const { steps } of exchange.parts) {
    for (const step of steps) directories.add(isInPlace(step) ? step.path : parentOfRaw(step.path))
  }
  const there = [...directories].filter((path) => isThere(work)({ path }))
  await syncPath(exchange.keep)
  for (let from = 0; from < there.length; from += SYNCED_AT_ONCE) {
    const some = there.slice(from, from + SYNCED_AT_ONCE)
    await Promise.all(some.map((path) => syncAndClose(work.ground.openDirectory(path))))
  }
  work.onPoint('sync', 'after', null)
}

/** Throws if a directory was moved while entries were put into it: they are in the wrong place. */
function refuseMoved({ ground }: Work, { parents }: Exchange): void {
  const moved = ground.moved(parents.map(({ path }) => path))
  if (moved.length > 0) throw new Collision(moved)
}

/**
 * A process that opened a file before it was taken away can still write to it, and no process can open
 * it any more. Once none has it open, what it holds is final.
 */
async function refuseWriters(exchange: Exchange): Promise<void> {
  const writers = await findWriters(filesOf(stepsOf(exchange), 'before', ({ take }) => take))
  if (writers.files.length > 0) throw busy(writers)
}

/** Whether what came was put and is no longer in the stage. */
function isPut({ put }: ExchangeStep): boolean {
  return put !== null && !existsAt(put)
}

interface Written {
  /** The new entry is in place again. */
  readonly others: readonly RawPath[]
  /** The old one was written to as well and stays; this one is kept, and where. */
  readonly aside: readonly { readonly path: RawPath; readonly place: string }[]
}

/**
 * Deals with new entries that a program wrote to while they were on their way back: what it wrote
 * stays in the tree and a person chooses, or it is kept among the pre-images.
 */
async function redoWritten(
  work: Work,
  keep: string,
  unput: readonly ExchangeStep[],
): Promise<Written> {
  const { files } = await findWriters(filesOf(unput, 'after', ({ put }) => put))
  const held = new Set(files.map(({ step }) => step))
  const written = unput.filter((step) => held.has(step) || stageDifferences(step).length > 0)
  const again = new Set(written.filter((step) => redoStep(work, step)))
  return {
    others: [...again].map(({ path }) => path),
    aside: written.flatMap((step) => (again.has(step) ? [] : setAside(step, keep))),
  }
}

function setAside({ path, put }: ExchangeStep, keep: string): Written['aside'] {
  if (put === null) return []
  const aside = join(keep, 'aside')
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  const place = join(aside, `${basename(put)}-${Date.now()}`)
  renameSync(put, place)
  return [{ path, place }]
}

/** What was written to a file after it was taken away goes back with it. */
function refuseWritten(work: Work, exchange: Exchange): void {
  const written = stepsOf(exchange).flatMap((step) => takenChanges(work, step))
  if (written.length > 0) throw new Collision(written)
}

/** Whether nothing of an exchange was done yet. */
export function isUntouched({ parts }: Exchange): boolean {
  return !parts.some(({ steps }) => steps.some(hasBegun))
}

export function stepsOf({ parts }: Exchange): ExchangeStep[] {
  return parts.flatMap(({ steps }) => steps)
}

export function at<T>(onPoint: OnPoint, point: Parameters<OnPoint>[0], action: () => T): T {
  onPoint(point, 'before', null)
  const done = action()
  onPoint(point, 'after', null)
  return done
}

/** Marks a stage of an exchange in its journal, as a point of its own. */
export async function markAt(onPoint: OnPoint, journal: Journal, mark: Mark): Promise<void> {
  onPoint(mark, 'before', null)
  await journal.mark(mark)
  onPoint(mark, 'after', null)
}
