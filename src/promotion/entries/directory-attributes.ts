/**
 * Modes, owners, attributes and exact times of directories that stay where they are. Files and whole
 * trees carry theirs along when they are moved; only these have to be set. Node can set neither
 * attributes nor nanoseconds, so `setfattr` and `touch` do it, each once for many directories.
 *
 * Setting is idempotent: doing it again after an interruption ends the same.
 */
import { chmodSync, chownSync } from 'node:fs'
import { faultError } from '../../base/index.ts'
import type { EntryState, RawPath } from '../../gate/index.ts'
import { readAttributes, runTool } from '../../machine/index.ts'
import { isLike, lookAt } from './entry.ts'

import type { Ground } from './ground.ts'

export interface DirectoryTurn {
  readonly path: RawPath
  readonly from: EntryState
  readonly to: EntryState
}

/** Sets everything but the times. */
export async function turnDirectories(
  ground: Ground,
  turns: readonly DirectoryTurn[],
): Promise<void> {
  for (const { path, from, to } of turns) {
    const { owner } = to
    const isOwned = owner?.uid === from.owner?.uid && owner?.gid === from.owner?.gid
    if (owner !== null && !isOwned) chownSync(ground.directory(path), owner.uid, owner.gid)
  }
  for (let start = 0; start < turns.length; start += AT_ONCE) {
    await turnAttributes(ground, turns.slice(start, start + AT_ONCE))
  }
  // Last: owners clear the bits that lend rights, and access control lists write into the mode.
  for (const { path, to } of turns) chmodSync(ground.directory(path), to.mode)
}

/** Names of attributes are bytes, as paths are: they go in by xargs, so many at a time. */
async function turnAttributes(ground: Ground, turns: readonly DirectoryTurn[]): Promise<void> {
  const removals: string[][] = []
  const settings: string[][] = []
  for (const { path, from, to } of turns) {
    const address = ground.directory(path)
    const wanted = new Map(to.attributes)
    const had = new Map(from.attributes)
    for (const [name] of had) if (!wanted.has(name)) removals.push(['-x', name, '--', address])
    for (const [name, hex] of wanted) {
      settings.push(['-n', name, '-v', `0x${hex}`, '--', address])
    }
  }
  // Not there any more is as good: an earlier try may have removed it. What is wrong shows later.
  await setAttributes(removals)
  const failed = await setAttributes(settings)
  if (failed !== null) throw faultError('promote.failed', turns[0]?.path ?? '', failed)
}

async function setAttributes(calls: readonly (readonly string[])[]): Promise<string | null> {
  const [first] = calls
  if (first === undefined) return null
  const stdin = Buffer.from(calls.map((args) => `${args.join('\u0000')}\u0000`).join(''), 'latin1')
  const args = ['--null', `--max-args=${first.length}`, 'setfattr']
  const { status, stderr } = await runTool('xargs', args, { stdin })
  return status === 0 ? null : stderr.trim()
}

/** The directories that are of none of the two states, attributes included. */
export async function neitherState(turns: readonly DirectoryTurn[], ground: Ground) {
  const found = await readAttributes(
    turns.map(({ path }) => path),
    'real',
  )
  return turns
    .filter(({ path, from, to }) => {
      const address = ground.atIfThere(path)
      const entry = lookAt(address)
      if (entry === null) return true
      const kept = JSON.stringify(found.byPath.get(path)?.kept ?? [])
      return ![from, to].some(
        (state) => isLike(entry, state, true) && kept === JSON.stringify(state.attributes),
      )
    })
    .map(({ path }) => path)
}

export interface TimeTurn {
  readonly path: RawPath
  readonly mtimeNs: string
}

const AT_ONCE = 128

/** Directories that are not there any more are passed over. */
export async function setTimes(ground: Ground, turns: readonly TimeTurn[]): Promise<void> {
  for (const [mtimeNs, paths] of groupByTime(turns)) {
    for (let from = 0; from < paths.length; from += AT_ONCE) {
      const addresses = paths.slice(from, from + AT_ONCE).flatMap((path) => addressOf(ground, path))
      if (addresses.length === 0) continue
      await runTool('touch', ['-c', '-m', '-d', secondsOf(mtimeNs), '--', ...addresses])
    }
  }
}

function addressOf(ground: Ground, path: RawPath): readonly string[] {
  const entry = lookAt(ground.atIfThere(path))
  return entry?.kind === 'directory' ? [ground.directory(path)] : []
}

function groupByTime(turns: readonly TimeTurn[]): ReadonlyMap<string, RawPath[]> {
  const groups = new Map<string, RawPath[]>()
  for (const { path, mtimeNs } of turns) {
    const group = groups.get(mtimeNs)
    if (group === undefined) groups.set(mtimeNs, [path])
    else group.push(path)
  }
  return groups
}

/** `@SECONDS.NANOSECONDS`; before 1970 the whole number is negative. */
function secondsOf(mtimeNs: string): string {
  const sign = mtimeNs.startsWith('-') ? '-' : ''
  const digits = mtimeNs.slice(sign.length).padStart(10, '0')
  return `@${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`
}
