/**
 * Notices that the real tree changed under a session, by people, other sessions or an undo, so that the
 * view can be refreshed (S-1). Watches directories, the nearest ones first, up to a number or to what the
 * kernel has left. In a larger tree it also says every few seconds that something may have changed.
 */
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../machine/index.ts'

const DIRECTORIES_MAX = 4_096
/** Changes come in numbers; one refresh is for all of them. */
const GATHER_MS = 150
/** More changed paths than this are not told one by one. */
const PATHS_MAX = 1_000
/** How often a tree is looked at that cannot be watched as a whole. */
const LOOK_MS = 10_000
/** What the kernel says when it has no watch left. */
const NO_WATCH_LEFT: readonly string[] = ['ENOSPC', 'EMFILE']
/** Directories that people do not edit by hand, and that hold most of a tree. */
const SKIPPED: ReadonlySet<string> = new Set([
  'node_modules',
  '.writ',
  'objects',
  'target',
  '.venv',
])

interface TreeWatchOptions {
  /** Gets the paths that changed; null if any may have. */
  readonly onChanged: (paths: readonly string[] | null) => void
  /** Called once, with words for people, when not every directory is watched. */
  readonly onPartial: (words: string) => void
  /** Only tests set another. */
  readonly directoriesMax?: number
  readonly lookMs?: number
}

export class TreeWatch {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #options: TreeWatchOptions
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #looking: NodeJS.Timeout | null = null

  constructor(roots: readonly string[], options: TreeWatchOptions) {
    this.#options = options
    this.#add(roots)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#looking !== null) clearInterval(this.#looking)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Whether every directory is watched but those that people do not edit by hand. */
  get isWhole(): boolean {
    return this.#looking === null
  }

  /** Level by level, so that what is watched is near the top. */
  #add(roots: readonly string[]): void {
    const { directoriesMax = DIRECTORIES_MAX } = this.#options
    for (let level = roots; level.length > 0; level = level.flatMap(directoriesIn)) {
      for (const directory of level) {
        if (this.#watchers.size >= directoriesMax) return this.#lookInstead('writ watches')
        if (!this.#watch(directory)) return this.#lookInstead('the kernel lets this user watch')
      }
    }
  }

  #lookInstead(limit: string): void {
    if (this.#looking !== null) return
    const { onChanged, onPartial, lookMs = LOOK_MS } = this.#options
    this.#looking = setInterval(() => onChanged(null), lookMs).unref()
    onPartial(
      `the tree has more directories than the ${this.#watchers.size} that ${limit}; what others change in the rest is seen within ${lookMs / 1000} seconds`,
    )
  }

  /** Returns false if the kernel has no watch left. */
  #watch(directory: string): boolean {
    if (this.#watchers.has(directory)) return true
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => {
        this.#noteChange(name === null ? directory : join(directory, name))
        // A directory that is new has to be watched too.
        if (name !== null && !SKIPPED.has(name)) this.#addIfThere(join(directory, name))
      })
      watcher.on('error', () => this.#forget(directory))
      this.#watchers.set(directory, watcher)
      return true
    } catch (error) {
      // Otherwise it is gone again, or may not be read.
      return !NO_WATCH_LEFT.includes(errnoOf(error) ?? '')
    }
  }

  #addIfThere(path: string): void {
    if (this.#watchers.has(path)) return
    try {
      readdirSync(path)
      this.#add([path])
    } catch {
      // A file, or gone.
    }
  }

  #forget(directory: string): void {
    this.#watchers.get(directory)?.close()
    this.#watchers.delete(directory)
  }

  #noteChange(path: string): void {
    this.#changed.add(path)
    this.#timer ??= setTimeout(() => this.tell(), GATHER_MS).unref()
  }

  /** Reports now what it would report soon. */
  tell(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    const paths = [...this.#changed]
    this.#changed.clear()
    this.#options.onChanged(paths.length > PATHS_MAX ? null : paths)
  }
}

function directoriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name))
      .map(({ name }) => join(directory, name))
  } catch {
    return []
  }
}
