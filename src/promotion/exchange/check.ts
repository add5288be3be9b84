/**
 * Checks before anything changes (G-19b to G-19e): every path that would be touched is still as the
 * rehearsal saw it, bytes and attributes and complete listings; no process is writing there; the
 * filesystem can do what is needed. Changes nothing, and finds all differences, not only the first.
 *
 * With several parts the later ones find what the earlier ones will have left: those states are held
 * against each other, and the real tree only against what was touched first.
 */
import { lstatSync } from 'node:fs'
import { setImmediate as pause } from 'node:timers/promises'
import { FaultError, fault, faultError } from '../../base/index.ts'
import {
  type Change,
  displayOfRaw,
  type EntryState,
  isBelow,
  isSameState,
  joinRaw,
  parentOfRaw,
  type RawPath,
} from '../../gate/index.ts'
import { readAttributes } from '../../machine/index.ts'
import { filesOf, findWriters, type Writers } from '../entries/busy.ts'
import {
  holds,
  identityOf,
  isLike,
  lookAt,
  namesIn,
  type TreeEntry,
  treeDifferences,
} from '../entries/entry.ts'
import { displayed, listed } from '../entries/failure.ts'
import type { Ground } from '../entries/ground.ts'
import { type ExchangeStep, isInPlace, takesTree } from '../entries/plan.ts'
import type { ExchangePart, ParentState } from '../journal/exchange.ts'

/** What a check found out, for the exchange and for those that verify later. */
interface Checked {
  /** Paths that are not as they should be. */
  readonly different: readonly RawPath[]
  readonly parents: readonly Omit<ParentState, 'finalMtimeNs'>[]
  /** Of files that were hashed: what shows that they did not change since. */
  readonly identities: ReadonlyMap<RawPath, string>
}

const PAUSE_EVERY_MS = 20

/** `meanwhile` goes on while a child process reads attributes. */
export async function checkParts(
  parts: readonly ExchangePart[],
  ground: Ground,
  meanwhile: () => Promise<void>,
): Promise<Checked> {
  const check = new Check(parts, ground)
  let paused = performance.now()
  for (const { steps } of parts) {
    for (const step of steps) {
      check.step(step)
      if (performance.now() - paused < PAUSE_EVERY_MS) continue
      await pause()
      paused = performance.now()
    }
  }
  const reading = check.attributes()
  // Avoids an unhandled rejection; `await reading` below throws the failure.
  reading.catch(() => {})
  try {
    await meanwhile()
  } finally {
    await reading
  }
  return check.result()
}

class Check {
  readonly #ground: Ground
  readonly #different = new Set<RawPath>()
  readonly #parents = new Map<RawPath, Omit<ParentState, 'finalMtimeNs'>>()
  readonly #identities = new Map<RawPath, string>()
  readonly #parts: readonly ExchangePart[]
  /** What the steps so far will have left; of a single part, whose steps do not meet, directories. */
  readonly #left = new Map<RawPath, EntryState | null>()
  /** What the real tree shows of those paths. */
  readonly #real = new Map<RawPath, EntryState | null>()

  constructor(parts: readonly ExchangePart[], ground: Ground) {
    this.#parts = parts
    this.#ground = ground
  }

  step(step: ExchangeStep): void {
    this.#parent(step)
    if (takesTree(step)) this.#tree(step)
    else this.#entry(step.changes[0])
    for (const { path, before, after } of step.changes) {
      if (this.#isSingle && after?.kind !== 'directory') continue
      if (!this.#real.has(path)) this.#real.set(path, before)
      this.#left.set(path, after)
    }
  }

  get #isSingle(): boolean {
    return this.#parts.length === 1
  }

  /** One batch for everything that was looked at. */
  async attributes(): Promise<void> {
    const paths = { [Symbol.iterator]: () => pathsOf(this.#states()) }
    const { byPath, unreadable } = await readAttributes(paths, 'real')
    for (const path of unreadable) if (path !== '') this.#different.add(path)
    for (const [path, { attributes }] of this.#states()) {
      const kept = byPath.get(path)?.kept ?? []
      if (kept.length === 0 && attributes.length === 0) continue
      if (JSON.stringify(kept) !== JSON.stringify(attributes)) this.#different.add(path)
    }
  }

  /** What the real tree should show of every path. */
  *#states(): Generator<readonly [RawPath, EntryState]> {
    if (!this.#isSingle) {
      for (const [path, state] of this.#real) if (state !== null) yield [path, state]
      return
    }
    for (const { steps } of this.#parts) {
      for (const { changes } of steps) {
        for (const { path, before } of changes) if (before !== null) yield [path, before]
      }
    }
  }

  result(): Checked {
    return {
      different: [...this.#different],
      parents: [...this.#parents.values()],
      identities: this.#identities,
    }
  }

  /**
   * The directory that entries come into or leave, or that is changed itself; one that only comes
   * meanwhile is no concern.
   */
  #parent(step: ExchangeStep): void {
    const path = isInPlace(step) ? step.path : parentOfRaw(step.path)
    if (this.#parents.has(path)) return
    if (this.#left.get(path)?.kind === 'directory' && this.#real.get(path) === null) return
    const entry = lookAt(this.#ground.atIfThere(path))
    if (entry?.kind !== 'directory') {
      if (!this.#isBelowKnown(path)) this.#different.add(step.path)
      return
    }
    this.#parents.set(path, { path, mode: entry.mode, mtimeNs: entry.mtimeNs })
  }

  #isBelowKnown(path: RawPath): boolean {
    return this.#left.get(path)?.kind === 'directory'
  }

  #entry({ path, before }: Change): void {
    const known = this.#left.get(path)
    if (known !== undefined) {
      if (!isSameState(known, before)) this.#different.add(path)
      return
    }
    const address = this.#ground.atIfThere(path)
    const entry = lookAt(address)
    if (entry === null || before === null || address === null) {
      if (entry !== null || before !== null) this.#different.add(path)
      return
    }
    if (!this.#isOfState(path, address, entry, before)) this.#different.add(path)
  }

  #isOfState(path: RawPath, address: Buffer, entry: TreeEntry, state: EntryState): boolean {
    if (!isLike(entry, state) || !holds(address, entry, state, false)) return false
    this.#remember(path, entry, address)
    return true
  }

  #remember(path: RawPath, entry: TreeEntry, address: Buffer): void {
    const identity = identityOf(entry, Date.now())
    // Changed while it was read: what was hashed is not what is there.
    const again = lookAt(address)
    if (identity === null || again === null || identityOf(again, Date.now()) !== identity) return
    this.#identities.set(path, identity)
  }

  #tree({ path, changes }: ExchangeStep): void {
    const real = this.#isSingle ? changes : this.#realOf(path, changes)
    if (real[0]?.before?.kind !== 'directory') return
    const address = this.#ground.atIfThere(path)
    if (address === null) {
      this.#different.add(path)
      return
    }
    const found = treeDifferences({
      address,
      path,
      changes: real,
      side: 'before',
      own: false,
      onRight: (at, entry) => {
        const identity = identityOf(entry, Date.now())
        if (identity !== null) this.#identities.set(at, identity)
      },
    })
    for (const each of found) this.#different.add(each)
  }

  /** The changes from what the real tree shows, where earlier parts will have left something else. */
  #realOf(path: RawPath, changes: ExchangeStep['changes']): readonly Change[] {
    const known = new Set<RawPath>()
    const real: Change[] = []
    for (const change of changes) {
      known.add(change.path)
      const left = this.#left.get(change.path)
      if (left !== undefined && !isSameState(left, change.before)) this.#different.add(change.path)
      real.push(
        left === undefined ? change : { ...change, before: this.#real.get(change.path) ?? null },
      )
    }
    this.#others(path, known, real)
    return real
  }

  /** Paths below a tree that earlier parts touch and the tree's own list does not name. */
  #others(path: RawPath, known: ReadonlySet<RawPath>, real: Change[]): void {
    for (const [each, left] of this.#left) {
      if (known.has(each) || !isBelow(each, path)) continue
      if (left !== null) this.#different.add(each)
      real.push({ path: each, before: this.#real.get(each) ?? null, after: null })
    }
  }
}

function* pathsOf(states: Iterable<readonly [RawPath, EntryState]>): Generator<RawPath> {
  for (const [path] of states) yield path
}

/** All names in a directory that the rehearsal emptied and made again. */
export interface Listing {
  readonly path: RawPath
  readonly names: readonly RawPath[]
}

/** Names that came or went since in directories whose changes count as those of a whole. */
export function checkListings(listings: readonly Listing[], ground: Ground): RawPath[] {
  return listings.flatMap(({ path, names }) => {
    const address = ground.atIfThere(path)
    const entry = lookAt(address)
    if (address === null || entry?.kind !== 'directory') return [path]
    const [wanted, found] = [new Set(names), new Set(namesIn(address))]
    const gone = names.filter((name) => !found.has(name))
    const come = [...found].filter((name) => !wanted.has(name))
    return [...gone, ...come].map((name) => joinRaw(path, name))
  })
}

/**
 * Fails when another process has a file open for writing that would be taken away. Asks by paths, not
 * through open directories: there may be more than can be kept open.
 */
export async function checkWriters(parts: readonly ExchangePart[]): Promise<void> {
  const place = ({ take, path }: ExchangeStep) =>
    take === null ? null : Buffer.from(path, 'latin1')
  const steps = parts.flatMap((part) => part.steps)
  const writers = await findWriters(filesOf(steps, 'before', place))
  if (writers.files.length > 0) throw busy(writers)
}

export function busy({ files, processes }: Writers): FaultError {
  const held = displayed(files.map(({ path }) => path))
  const who = processes.length === 0 ? 'another process' : `process ${processes.join(', ')}`
  const message = `${who} has ${listed(held)} open for writing; nothing was changed`
  const hint = 'close the file there or wait until that program ends, then run the same again'
  const details = { paths: held, processes }
  return new FaultError(fault('promote.busy', held[0] ?? '', details, { message, hint }))
}

/** Entries can only be moved within one filesystem. */
export function checkDevices(
  parents: readonly { readonly path: RawPath }[],
  keep: string,
  ground: Ground,
): void {
  const { dev } = lstatSync(keep)
  for (const { path } of parents) {
    if (ground.deviceOf(path) === dev) continue
    const shown = displayOfRaw(path)
    throw faultError(
      'promote.unsupported_fs',
      shown,
      `${listed([shown])} lies on another filesystem than the staged bytes`,
      'keep the scope of one proposal on one filesystem',
    )
  }
}
