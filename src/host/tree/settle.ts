/**
 * Staged entries get their last touch and are compared with what was scanned: attributes that do not
 * belong to them (the overlay's own, lists inherited from the stage's surroundings) go, modes and times
 * are set, and whatever then differs is a failure.
 */
import { type BigIntStats, chmodSync, chownSync, readlinkSync } from 'node:fs'
import { type Digest, fault } from '../../base/index.ts'
import { type Attribute, displayOfRaw, type EntryState, type RawPath } from '../../gate/index.ts'
import { isOfTheSystem, listUnder, readRawAttributes } from './attributes.ts'
import { TreeFailure } from './failure.ts'
import { type DigestRequest, digestFiles } from './file-digest.ts'
import { kindOf, nodePath, statsOf } from './footing.ts'
import { inodeOf } from './links.ts'
import { Pace } from './pace.ts'
import { runBatch } from './tool.ts'

export interface Expected {
  /** The real path that it is for. */
  readonly path: RawPath
  /** Where it lies now. */
  readonly at: RawPath
  readonly state: EntryState
  /** The scanned file itself, not a copy of it. */
  readonly isMoved: boolean
  /** What it has of attributes where that is known. */
  readonly has?: readonly Attribute[]
}

/** With what was found at its place when everything had been put there. */
interface Found extends Expected {
  readonly stats: BigIntStats
}

export async function settle(expected: readonly Expected[]): Promise<void> {
  const pace = new Pace()
  const found: Found[] = []
  // A directory comes before what is in it, and is opened before that is looked for.
  for (const each of expected) {
    const stats = statsOf(each.at)
    if (stats === null) throw mismatch(each.path, 'presence')
    openUp(each, stats)
    found.push({ ...each, stats })
    await pace.step()
  }
  await Promise.all([checkDigests(found, pace), settleAttributes(found)])
  await settleTimes(found)
  // From the leaves up: a directory that nobody may enter is closed after what is in it.
  for (const each of found.reverse()) {
    checkEntry(each, settleOwnerAndMode(each))
    await pace.step()
  }
}

/** What the owner may not read and write is opened. */
function openUp({ at, state }: Expected, stats: BigIntStats): void {
  const bits = state.kind === 'directory' ? 0o700 : state.kind === 'file' ? 0o600 : 0
  const mode = modeOf(stats)
  if ((mode & bits) !== bits && process.getuid?.() !== 0) chmodSync(nodePath(at), mode | bits)
}

function modeOf({ mode }: BigIntStats): number {
  return Number(mode & 0o7777n)
}

async function checkDigests(expected: readonly Expected[], pace: Pace): Promise<void> {
  const requests: DigestRequest[] = []
  for (const { path, at, state, isMoved } of expected) {
    if (isMoved || state.kind !== 'file') continue
    const settle = (digest: Digest | null) => {
      if (digest !== state.digest) throw mismatch(path, 'content')
    }
    requests.push({ path: at, size: BigInt(state.size), settle })
  }
  await digestFiles(requests, pace)
}

async function settleAttributes(expected: readonly Found[]): Promise<void> {
  const asked = expected.filter(({ state }) => state.kind !== 'symlink')
  const unknown = asked.filter(({ has }) => has === undefined)
  const found = await readRawAttributes(unknown.map(({ at }) => at))
  const surplus = new Map<string, RawPath[]>()
  const seen = new Set<string>()
  for (const { path, at, state, stats, has: known } of asked) {
    const has = (known ?? found.get(at) ?? []).map((one) => listUnder(state.mode, one))
    for (const name of isFirstName(stats, seen) ? surplusOf(has, state) : []) {
      const paths = surplus.get(name)
      if (paths === undefined) surplus.set(name, [at])
      else paths.push(at)
    }
    if (!state.attributes.every((wanted) => has.some((one) => isSame(one, wanted)))) {
      throw mismatch(path, 'attributes')
    }
  }
  for (const [name, paths] of surplus) await removeAttribute(name, paths)
}

/** Hard links have their attributes in common: what is taken from one is gone from all. */
function isFirstName(stats: BigIntStats, seen: Set<string>): boolean {
  if (stats.nlink < 2n || !stats.isFile()) return true
  const inode = inodeOf(stats)
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
  const args = ['--no-dereference', `--remove=${name}`]
  const { status, stderr } = await runBatch('setfattr', args, paths)
  if (status === 0) return
  const message = `setfattr: ${stderr.trim().slice(0, 500)}`
  throw new TreeFailure(fault('stage.tool', name, null, { message }))
}

/** What is found there now, after owner and mode were set where they differed. */
function settleOwnerAndMode({ path, at, state }: Expected): BigIntStats {
  const stats = statsOf(at)
  if (stats === null) throw mismatch(path, 'presence')
  if (state.kind === 'symlink') return stats
  const { owner } = state
  const isForeign = owner !== null && !isOwnedBy(stats, owner)
  if (!isForeign && modeOf(stats) === state.mode) return stats
  // Owners first: a change of them takes away the bits that lend rights.
  if (isForeign) chownSync(nodePath(at), owner.uid, owner.gid)
  chmodSync(nodePath(at), state.mode)
  return statsOf(at) ?? stats
}

function isOwnedBy({ uid, gid }: BigIntStats, owner: { uid: number; gid: number }): boolean {
  return Number(uid) === owner.uid && Number(gid) === owner.gid
}

/** Times of directories move when something is taken out of them. There are few such. */
async function settleTimes(expected: readonly Found[]): Promise<void> {
  const byTime = new Map<string, RawPath[]>()
  for (const { at, state, stats } of expected) {
    // A file that has another time than it was scanned with is another file: that is not mended.
    if (state.kind !== 'directory' || stats.mtimeNs === BigInt(state.mtimeNs)) continue
    const paths = byTime.get(state.mtimeNs)
    if (paths === undefined) byTime.set(state.mtimeNs, [at])
    else paths.push(at)
  }
  for (const [mtimeNs, paths] of byTime) {
    const args = ['--no-dereference', '--no-create', '-m', `--date=@${secondsOf(mtimeNs)}`]
    const { status, stderr } = await runBatch('touch', args, paths)
    if (status === 0) continue
    const message = `touch: ${stderr.trim().slice(0, 500)}`
    throw new TreeFailure(fault('stage.tool', 'touch', null, { message }))
  }
}

/** Seconds with nine decimals; a moment before 1970 has a sign before all of it. */
function secondsOf(mtimeNs: string): string {
  const sign = mtimeNs.startsWith('-') ? '-' : ''
  const digits = mtimeNs.slice(sign.length).padStart(10, '0')
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

function checkEntry({ path, at, state }: Expected, stats: BigIntStats): void {
  const kind = kindOf(stats)
  const { owner } = state
  if (kind !== state.kind) throw mismatch(path, 'kind')
  if (kind === 'file' && Number(stats.size) !== state.size) throw mismatch(path, 'size')
  if (kind !== 'symlink' && modeOf(stats) !== state.mode) throw mismatch(path, 'mode')
  if (stats.mtimeNs !== BigInt(state.mtimeNs)) throw mismatch(path, 'time')
  if (owner !== null && !isOwnedBy(stats, owner)) throw mismatch(path, 'owner')
  if (kind === 'symlink' && readlinkSync(nodePath(at), 'latin1') !== state.target) {
    throw mismatch(path, 'target')
  }
}

function mismatch(path: RawPath, what: string): TreeFailure {
  const message = `${what} of a staged entry differs from what was scanned`
  return new TreeFailure(fault('stage.mismatch', displayOfRaw(path), null, { message }))
}
