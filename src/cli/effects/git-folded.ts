/**
 * Which paths in a git directory need no line of their own: new objects, logs that go on, the index,
 * and references that `git-fold.ts` puts into words. All else is listed: what is deleted, changed
 * objects, rewritten logs, hooks, settings, and what git's ordinary commands do not write.
 */
import { type Change, gitKindOf, gitPathOf, isGitWork, type RawPath } from '../../gate/index.ts'
import { readContentBytes } from './content.ts'
import type { ReadSide } from './render.ts'

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/
const BRANCH = /^ref: refs\/heads\/(.+)\n$/
const TEXT_BYTES_MAX = 4096

/** The branch that a changed HEAD names; null for another file, and for a HEAD without a branch. */
export async function branchOfHead(change: Change, read: ReadSide): Promise<string | null> {
  const place = gitPathOf(change.path)
  if (place === null || gitKindOf(place) !== 'head' || change.after?.kind !== 'file') return null
  return BRANCH.exec((await smallText(change, read)) ?? '')?.[1] ?? null
}

/** Notes that git leaves behind and does not act on. */
const NOTES = /^(?:COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE)$/

/** The paths that need no line of their own. */
export async function foldedGit(
  changes: readonly Change[],
  read: ReadSide,
): Promise<ReadonlySet<RawPath>> {
  const folded = new Set<RawPath>()
  for (const change of changes) if (await isFolded(change, read)) folded.add(change.path)
  return folded
}

async function isFolded(change: Change, read: ReadSide): Promise<boolean> {
  const { path, before, after } = change
  const place = gitPathOf(path)
  if (place === null || after === null || (before !== null && before.kind !== after.kind)) {
    return false
  }
  if (after.kind === 'directory') return isGitWork(change, 'added', NONE) && before === null
  if (after.kind !== 'file' || (after.mode & READABLE) === 0) return false
  switch (gitKindOf(place)) {
    case 'object':
      return before === null && after.size > 0
    case 'index':
      return after.size > 0
    case 'log':
      return before === null || (await goesOn(change, read))
    case 'reference':
      return HASH.test((await smallText(change, read)) ?? '')
    case 'head':
      return (await branchOfHead(change, read)) !== null
    default:
      return NOTES.test(place.rest)
  }
}

const NONE: ReadonlySet<RawPath> = new Set()
const READABLE = 0o400
const LOG_BYTES_MAX = 64 * 1024 * 1024

/** Whether a log begins with all that it held. */
async function goesOn(change: Change, read: ReadSide): Promise<boolean> {
  if ((change.after?.size ?? 0) <= (change.before?.size ?? 0)) return false
  const [then, now] = await Promise.all(
    (['before', 'after'] as const).map((side) =>
      readContentBytes(read(change, side), LOG_BYTES_MAX),
    ),
  )
  if (then == null || now == null || then.length !== change.before?.size) return false
  return now.subarray(0, then.length).equals(then)
}

async function smallText(change: Change, read: ReadSide): Promise<string | null> {
  const bytes = await readContentBytes(read(change, 'after'), TEXT_BYTES_MAX)
  return bytes?.toString('latin1') ?? null
}
