/**
 * Modes, owners, attributes and exact times of directories that stay where they are. Files and whole
 * trees carry theirs along when they are moved; only these have to be set. Node can set neither
 * attributes nor nanoseconds, so `setfattr` and `touch` do it, each once for many directories.
 *
 * Setting is idempotent: doing it again after an interruption ends the same.
 */
import { chmodSync, chownSync } from 'node:fs'
import type { EntryState, RawPath } from '../../gate/index.ts'
import { readAttributes } from '../tree/attributes.ts'
import { runTool } from '../tree/tool.ts'
import { isLike, lookAt } from './entry.ts'
import { plainFailure } from './failure.ts'
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
    const address = ground.directory(path)
    const { owner } = to
    const isOwned = owner?.uid === from.owner?.uid && owner?.gid === from.owner?.gid
    if (owner !== null && !isOwned) chownSync(address, owner.uid, owner.gid)
    // After the owner: changing that clears the bits that lend rights.
    chmodSync(address, to.mode)
  }
  for (const turn of turns) await turnAttributes(ground, turn)
}

/** One directory at a time: it is rare that any has attributes at all. */
async function turnAttributes(ground: Ground, { path, from, to }: DirectoryTurn): Promise<void> {
  const wanted = new Map(to.attributes)
  const address = ground.directory(path)
  for (const [name] of from.attributes) {
    // Not there any more is as good: an earlier try may have removed it.
    if (!wanted.has(name)) await runTool('setfattr', ['--remove', name, '--', address])
  }
  for (const [name, hex] of to.attributes) {
    const args = ['--name', name, '--value', `0x${hex}`, '--', address]
    const { status, stderr } = await runTool('setfattr', args)
    if (status !== 0) throw plainFailure('promote.failed', path, stderr.trim().toLowerCase())
  }
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

const NS_PER_SECOND = 1_000_000_000n

/** `@SECONDS.NANOSECONDS`, also before 1970, where the fraction still counts upwards. */
function secondsOf(mtimeNs: string): string {
  const ns = BigInt(mtimeNs)
  const rest = ((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND
  const seconds = (ns - rest) / NS_PER_SECOND
  if (seconds >= 0n) return `@${seconds}.${String(rest).padStart(9, '0')}`
  // What `touch` reads is a decimal number: -0.25 is a quarter of a second before.
  const size = -ns
  const fraction = String(size % NS_PER_SECOND).padStart(9, '0')
  return `@-${size / NS_PER_SECOND}.${fraction}`
}
