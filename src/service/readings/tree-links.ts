/**
 * The symbolic links of a tree as it was before an act, those near the top first. Each act looks for
 * them, so the walk is bounded; installed dependencies and the directories of git are left out.
 */
import { type Dirent, readdirSync } from 'node:fs'
import { bytesOfRaw, joinRaw, type RawPath, rawOfBytes } from '../../gate/index.ts'

const ENTRIES_MAX = 100_000
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__'])

/** `placeOf` says where a directory of the tree lies on the disk; null for one that is nowhere. */
export function* linksBelow(
  root: RawPath,
  placeOf: (path: RawPath) => RawPath | null,
): Generator<RawPath> {
  const queue = [root]
  let left = ENTRIES_MAX
  // The queue grows while it is walked.
  for (const directory of queue) {
    for (const entry of entriesOf(placeOf(directory))) {
      if (left-- <= 0) return
      const name = rawOfBytes(entry.name)
      if (LEFT_OUT.has(name)) continue
      if (entry.isSymbolicLink()) yield joinRaw(directory, name)
      else if (entry.isDirectory()) queue.push(joinRaw(directory, name))
    }
  }
}

function entriesOf(place: RawPath | null): readonly Dirent<Buffer>[] {
  if (place === null) return []
  try {
    const options = { withFileTypes: true, encoding: 'buffer' } as const
    return readdirSync(Buffer.from(bytesOfRaw(place)), options)
  } catch {
    return []
  }
}
