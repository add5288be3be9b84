/** Which of the changed files git tracked before the act, by the index of the repository they lie in. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Evaluation } from '../../contracts/index.ts'
import {
  type Change,
  type GateLists,
  grantCase,
  INDEX_BYTES_MAX,
  indexEntries,
  pathsToTrack,
  type RawPath,
  rawOfText,
  textOfRaw,
} from '../../gate/index.ts'
import { gitTop } from '../home/git-directories.ts'

/** Beyond so many files nobody looks any further: the rest counts as untracked. */
const TRACKED_MAX = 10_000

export function trackedPaths(
  changes: readonly Change[],
  draft: Evaluation,
  lists: GateLists,
): readonly RawPath[] {
  const subject = grantCase(draft)
  if (subject === null) return []
  const indexes = new Indexes()
  return pathsToTrack(changes, lists.grants ?? [], subject)
    .slice(0, TRACKED_MAX)
    .filter((path) => indexes.has(path))
}

class Indexes {
  readonly #tops = new Map<string, string | null>()
  readonly #names = new Map<string, ReadonlySet<string>>()

  has(path: RawPath): boolean {
    const text = textOfRaw(path)
    if (text === null) return false
    const top = this.#topOf(dirname(text))
    if (top === null) return false
    const names = this.#names.get(top) ?? namesIn(top)
    this.#names.set(top, names)
    return names.has(path.slice(rawOfText(top).length + 1))
  }

  #topOf(directory: string): string | null {
    const known = this.#tops.get(directory)
    if (known !== undefined) return known
    const top = gitTop(directory)
    this.#tops.set(directory, top)
    return top
  }
}

/** An index that cannot be read tracks nothing: then somebody is asked. */
function namesIn(top: string): ReadonlySet<string> {
  try {
    const file = join(gitDirectory(top), 'index')
    if (statSync(file).size > INDEX_BYTES_MAX) return new Set()
    return new Set(indexEntries(readFileSync(file))?.keys() ?? [])
  } catch {
    return new Set()
  }
}

function gitDirectory(top: string): string {
  const place = join(top, '.git')
  if (!existsSync(place) || statSync(place).isDirectory()) return place
  const named = /^gitdir: (.+)$/m.exec(readFileSync(place, 'utf8'))?.[1]
  return named === undefined ? place : resolve(top, named)
}
