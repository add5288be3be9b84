/**
 * The symbolic links of a tree. Each act looks for them, so a directory is listed again only if its ctime
 * moved: in a session on a large tree the listing was the longest part of a settle.
 *
 * INVARIANT (never an older listing): a listing is kept only of a directory that had not changed for a
 *   while, so that every later change gives it another ctime, also where clocks of files are coarse.
 */
import { lstatSync, readdirSync } from 'node:fs'
import { bytesOfRaw, joinRaw, type RawPath } from '../../gate/index.ts'

/** A walk looks at so many entries; the rest of a larger tree is left out. */
const ENTRIES_MAX = 100_000
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__'])
/** What writ writes for people, a directory for each run. */
const [HOME, RUNS] = ['/.writ', 'runs']
/** Some file systems write times in steps of up to two seconds. */
const STILL_MS = 3_000
/** Those that write parts of a millisecond move time at each tick of the kernel, every 10 ms at the longest. */
const STILL_FINE_MS = 200
/** More than a walk of a usual tree finds. */
const KEPT_MAX = 20_000

interface Listing {
  readonly mark: string
  readonly links: readonly RawPath[]
  readonly directories: readonly RawPath[]
  /** How many entries the directory has. */
  readonly count: number
}

const NOTHING: Listing = { mark: '', links: [], directories: [], count: 0 }

export class TreeLinks {
  readonly #kept = new Map<RawPath, Listing>()

  /**
   * Those of a tree as it was before an act, the ones near the top first. Installed dependencies and the
   * directories of git are left out. `placeOf` says where a directory of the tree lies on the disk; null
   * for one that is nowhere.
   */
  below(root: RawPath, placeOf: (path: RawPath) => RawPath | null): readonly RawPath[] {
    const found: RawPath[] = []
    const queue = [root]
    let left = ENTRIES_MAX
    // The queue grows while it is walked.
    for (const directory of queue) {
      const place = placeOf(directory)
      const { links, directories, count } = place === null ? NOTHING : this.#listing(place)
      for (const name of links) found.push(joinRaw(directory, name))
      for (const name of directories) queue.push(joinRaw(directory, name))
      left -= count
      if (left <= 0) break
    }
    return found
  }

  #listing(place: RawPath): Listing {
    const path = Buffer.from(bytesOfRaw(place))
    try {
      const { dev, ino, ctimeNs, ctimeMs } = lstatSync(path, { bigint: true })
      const mark = `${dev}:${ino}:${ctimeNs}`
      const known = this.#kept.get(place)
      if (known?.mark === mark) return known
      const listing = { mark, ...listed(path, place.endsWith(HOME) ? RUNS : null) }
      if (this.#kept.size >= KEPT_MAX) this.#kept.clear()
      const isFine = ctimeNs % 1_000_000n !== 0n
      if (Date.now() - Number(ctimeMs) > (isFine ? STILL_FINE_MS : STILL_MS))
        this.#kept.set(place, listing)
      else this.#kept.delete(place)
      return listing
    } catch {
      // It is gone, or may not be read.
      return NOTHING
    }
  }
}

function listed(path: Buffer, without: string | null): Omit<Listing, 'mark'> {
  const entries = readdirSync(path, { withFileTypes: true, encoding: 'latin1' })
  const wanted = entries.filter(({ name }) => !LEFT_OUT.has(name) && name !== without)
  // In latin1 each byte is a character, as in a raw path.
  const names = (found: typeof entries): RawPath[] => found.map(({ name }) => name as RawPath)
  return {
    links: names(wanted.filter((entry) => entry.isSymbolicLink())),
    directories: names(wanted.filter((entry) => entry.isDirectory())),
    count: entries.length,
  }
}
