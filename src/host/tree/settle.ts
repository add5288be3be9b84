/**
 * Staged entries get their last touch and are compared with what was scanned: attributes that do not
 * belong to them (the overlay's own, lists inherited from the stage's surroundings) go, modes and times
 * are set, and whatever then differs is a failure.
 */
import { chmodSync, chownSync, readlinkSync } from 'node:fs'
import { type Digest, fault } from '../../base/index.ts'
import { type Attribute, displayOfRaw, type EntryState, type RawPath } from '../../gate/index.ts'
import { isOfTheSystem, listUnder, readRawAttributes } from './attributes.ts'
import { TreeFailure } from './failure.ts'
import { type DigestRequest, digestFiles } from './file-digest.ts'
import { nodePath, statsOf } from './footing.ts'
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
}

export async function settle(expected: readonly Expected[]): Promise<void> {
  const pace = new Pace()
  for (const each of expected) {
    openUp(each)
    await pace.step()
  }
  await Promise.all([checkDigests(expected, pace), settleAttributes(expected)])
  await settleTimes(expected)
  // From the leaves up: a directory that nobody may enter is closed after what is in it.
  for (const each of [...expected].reverse()) {
    settleOwnerAndMode(each)
    checkEntry(each)
    await pace.step()
  }
}

/** What the owner may not read and write is opened; a directory before what is in it. */
function openUp({ at, state }: Expected): void {
  const bits = state.kind === 'directory' ? 0o700 : state.kind === 'file' ? 0o600 : 0
  if ((state.mode & bits) === bits || process.getuid?.() === 0) return
  const mode = Number((statsOf(at)?.mode ?? BigInt(bits)) & 0o7777n)
  if ((mode & bits) !== bits) chmodSync(nodePath(at), mode | bits)
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

async function settleAttributes(expected: readonly Expected[]): Promise<void> {
  const asked = expected.filter(({ state }) => state.kind !== 'symlink')
  const found = await readRawAttributes(asked.map(({ at }) => at))
  const surplus = new Map<string, RawPath[]>()
  const seen = new Set<string>()
  for (const { path, at, state } of asked) {
    const has = (found.get(at) ?? []).map((one) => listUnder(state.mode, one))
    for (const name of isFirstName(at, seen) ? surplusOf(has, state) : []) {
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
function isFirstName(at: RawPath, seen: Set<string>): boolean {
  const stats = statsOf(at)
  if (stats === null || stats.nlink < 2n || !stats.isFile()) return true
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

function settleOwnerAndMode({ path, at, state }: Expected): void {
  if (state.kind === 'symlink') return
  const stats = statsOf(at)
  if (stats === null) throw mismatch(path, 'presence')
  const { owner } = state
  if (owner !== null && (Number(stats.uid) !== owner.uid || Number(stats.gid) !== owner.gid)) {
    chownSync(nodePath(at), owner.uid, owner.gid)
  }
  const mode = Number((statsOf(at)?.mode ?? 0n) & 0o7777n)
  if (mode !== state.mode) chmodSync(nodePath(at), state.mode)
}

/** Times of directories move when something is taken out of them. There are few such. */
async function settleTimes(expected: readonly Expected[]): Promise<void> {
  const byTime = new Map<string, RawPath[]>()
  for (const { at, state } of expected) {
    if (statsOf(at)?.mtimeNs === BigInt(state.mtimeNs)) continue
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

/** Times before 1970 count down: -1 ns is `-1.999999999` to nobody but `@-0.000000001`. */
function secondsOf(mtimeNs: string): string {
  const sign = mtimeNs.startsWith('-') ? '-' : ''
  const digits = mtimeNs.slice(sign.length).padStart(10, '0')
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

function checkEntry({ path, at, state }: Expected): void {
  const stats = statsOf(at)
  if (stats === null) throw mismatch(path, 'presence')
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'symlink'
  if (kind !== state.kind) throw mismatch(path, 'kind')
  if (kind === 'file' && Number(stats.size) !== state.size) throw mismatch(path, 'size')
  if (kind !== 'symlink' && Number(stats.mode & 0o7777n) !== state.mode)
    throw mismatch(path, 'mode')
  if (stats.mtimeNs !== BigInt(state.mtimeNs)) throw mismatch(path, 'time')
  if (kind === 'symlink' && readlinkSync(nodePath(at), 'latin1') !== state.target) {
    throw mismatch(path, 'target')
  }
  const { owner } = state
  if (owner !== null && (Number(stats.uid) !== owner.uid || Number(stats.gid) !== owner.gid)) {
    throw mismatch(path, 'owner')
  }
}

function mismatch(path: RawPath, what: string): TreeFailure {
  const message = `${what} of a staged entry differs from what was scanned`
  return new TreeFailure(fault('stage.mismatch', displayOfRaw(path), null, { message }))
}
