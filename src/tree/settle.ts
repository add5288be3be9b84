/**
 * Finishes staged entries and compares them with the scan: removes attributes that do not belong to them
 * (the overlay's own, access lists inherited from the stage's parent), sets modes and times, and fails
 * if anything then differs.
 */
import { chmodSync, lchownSync, readlinkSync } from 'node:fs'
import { type Digest, type FaultError, faultError } from '../base/index.ts'
import { type Attribute, displayOfRaw, type EntryState, type RawPath } from '../gate/index.ts'
import {
  asArguments,
  type DigestRequest,
  digestFiles,
  type EntryStats,
  isOfTheSystem,
  kindOf,
  listUnder,
  nodePath,
  Pace,
  readRawAttributes,
  removeByProgram,
  runBatch,
  statsOf,
  toolFailure,
} from '../machine/index.ts'

export interface Expected {
  /** The real path that it is for. */
  readonly path: RawPath
  /** Where it lies now. */
  readonly at: RawPath
  readonly state: EntryState
  /** The scanned file itself, not a copy of it. */
  readonly isMoved: boolean
}

/** What was found of the entries when everything had been put there. */
interface Found {
  /** Directories whose times moved. */
  readonly late: Expected[]
  /** Further names of files of which one was met before. */
  readonly names: Set<Expected>
}

export async function settle(expected: readonly Expected[]): Promise<void> {
  const pace = new Pace()
  const found: Found = { late: [], names: new Set() }
  const inodes = new Set<string>()
  // A directory comes before what is in it, and is opened before that is looked for.
  for (const each of expected) {
    const stats = statsOf(each.at)
    if (stats === null) throw mismatch(each.path, 'presence')
    openUp(each, stats)
    if (isLate(each, stats)) found.late.push(each)
    if (!isFirstName(stats, inodes)) found.names.add(each)
    await pace.step()
  }
  await Promise.all([checkDigests(expected, pace), settleAttributes(expected, found)])
  await settleTimes(found)
  // From the leaves up: a directory gets a mode that forbids entering only after its entries are done.
  for (const each of [...expected].reverse()) {
    checkEntry(each, settleOwnerAndMode(each))
    await pace.step()
  }
}

/** What the owner may not read and write is opened. */
function openUp({ at, state }: Expected, { mode }: EntryStats): void {
  const bits = state.kind === 'directory' ? 0o700 : state.kind === 'file' ? 0o600 : 0
  if ((mode & bits) !== bits && process.getuid?.() !== 0) chmodSync(nodePath(at), mode | bits)
}

/** A file that has another time than it was scanned with is another file: that is not mended. */
function isLate({ state }: Expected, { mtimeNs }: EntryStats): boolean {
  return state.kind === 'directory' && mtimeNs !== BigInt(state.mtimeNs)
}

async function checkDigests(expected: readonly Expected[], pace: Pace): Promise<void> {
  await digestFiles(digestRequests(expected), pace)
}

function* digestRequests(expected: readonly Expected[]): Generator<DigestRequest> {
  for (const { path, at, state, isMoved } of expected) {
    if (isMoved || state.kind !== 'file') continue
    const settle = (digest: Digest | null) => {
      if (digest !== state.digest) throw mismatch(path, 'content')
    }
    yield { path: at, size: state.size, settle }
  }
}

async function settleAttributes(expected: readonly Expected[], { names }: Found): Promise<void> {
  const asked = expected.filter(({ state }) => state.kind !== 'symlink')
  const found = await readRawAttributes({ [Symbol.iterator]: () => placesOf(asked) })
  const surplus = new Map<string, RawPath[]>()
  for (const each of asked) {
    const { path, state } = each
    const raw = (found.size === 0 ? undefined : found.get(each.at)) ?? []
    const has = raw.map((one) => listUnder(state.mode, one))
    // Hard links have their attributes in common: what is taken from one is gone from all.
    for (const name of names.has(each) ? [] : surplusOf(has, state)) {
      const paths = surplus.get(name)
      if (paths === undefined) surplus.set(name, [each.at])
      else paths.push(each.at)
    }
    if (!state.attributes.every((wanted) => has.some((one) => isSame(one, wanted)))) {
      throw mismatch(path, 'attributes')
    }
  }
  for (const [name, paths] of surplus) await removeAttribute(name, paths)
}

function* placesOf(expected: readonly Expected[]): Generator<RawPath> {
  for (const { at } of expected) yield at
}

function isFirstName(stats: EntryStats, seen: Set<string>): boolean {
  if (stats.nlink < 2 || !stats.isFile()) return true
  const { inode } = stats
  return !seen.has(inode) && seen.add(inode) !== undefined
}

function surplusOf(has: readonly Attribute[], state: EntryState): readonly string[] {
  const wanted = new Set(state.attributes.map(([name]) => name))
  return has.map(([name]) => name).filter((name) => !wanted.has(name) && !isOfTheSystem(name))
}

function isSame([name, hex]: Attribute, [otherName, otherHex]: Attribute): boolean {
  return name === otherName && hex === otherHex
}

async function removeAttribute(name: string, paths: readonly RawPath[]): Promise<void> {
  const few = asArguments(paths)
  if (few !== null && (await removeByProgram(name, few))) return
  const args = ['--no-dereference', `--remove=${name}`]
  const { status, stderr } = await runBatch('setfattr', args, paths)
  if (status === 0) return
  throw toolFailure('setfattr', placeOf(paths), stderr)
}

function placeOf([first]: readonly RawPath[]): string {
  return first === undefined ? '' : displayOfRaw(first)
}

/** What is found there now, after owner and mode were set where they differed. */
function settleOwnerAndMode({ path, at, state }: Expected): EntryStats {
  const stats = statsOf(at)
  if (stats === null) throw mismatch(path, 'presence')
  const { owner } = state
  const isForeign = owner !== null && !isOwnedBy(stats, owner)
  const isOtherMode = state.kind !== 'symlink' && stats.mode !== state.mode
  if (!isForeign && !isOtherMode) return stats
  // Owners first: a change of them takes away the bits that lend rights.
  if (isForeign) lchownSync(nodePath(at), owner.uid, owner.gid)
  if (state.kind !== 'symlink') chmodSync(nodePath(at), state.mode)
  return statsOf(at) ?? stats
}

function isOwnedBy({ uid, gid }: EntryStats, owner: { uid: number; gid: number }): boolean {
  return uid === owner.uid && gid === owner.gid
}

/** Times of directories move when something is taken out of them. There are few such. */
async function settleTimes({ late }: Found): Promise<void> {
  const byTime = new Map<string, RawPath[]>()
  for (const { at, state } of late) {
    const paths = byTime.get(state.mtimeNs)
    if (paths === undefined) byTime.set(state.mtimeNs, [at])
    else paths.push(at)
  }
  for (const [mtimeNs, paths] of byTime) {
    const args = ['--no-dereference', '--no-create', '-m', `--date=@${secondsOf(mtimeNs)}`]
    const { status, stderr } = await runBatch('touch', args, paths)
    if (status === 0) continue
    throw toolFailure('touch', placeOf(paths), stderr)
  }
}

/** Seconds with nine decimals; a moment before 1970 has a sign before all of it. */
function secondsOf(mtimeNs: string): string {
  const sign = mtimeNs.startsWith('-') ? '-' : ''
  const digits = mtimeNs.slice(sign.length).padStart(10, '0')
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

function checkEntry({ path, at, state }: Expected, stats: EntryStats): void {
  const kind = kindOf(stats)
  const { owner } = state
  if (kind !== state.kind) throw mismatch(path, 'kind')
  if (kind === 'file' && stats.size !== state.size) throw mismatch(path, 'size')
  if (kind !== 'symlink' && stats.mode !== state.mode) throw mismatch(path, 'mode')
  if (stats.mtimeNs !== BigInt(state.mtimeNs)) throw mismatch(path, 'time')
  if (owner !== null && !isOwnedBy(stats, owner)) throw mismatch(path, 'owner')
  if (kind === 'symlink' && readlinkSync(nodePath(at), 'latin1') !== state.target) {
    throw mismatch(path, 'target')
  }
}

function mismatch(path: RawPath, what: string): FaultError {
  const message = `${what} of a staged entry differs from what was scanned`
  return faultError('stage.mismatch', displayOfRaw(path), message)
}
