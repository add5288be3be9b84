/**
 * Notices that the real tree changed under a session, by people, other sessions or an undo, so that the
 * view can be refreshed (S-1). Watches directories, the nearest ones first, up to a number; in a larger
 * tree the rest is refreshed at every settle.
 */
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

const DIRECTORIES_MAX = 4_096
/** Changes come in numbers; one refresh is for all of them. */
const GATHER_MS = 150
/** Directories that people do not edit by hand, and that hold most of a tree. */
const SKIPPED: ReadonlySet<string> = new Set([
  'node_modules',
  '.writ',
  'objects',
  'target',
  '.venv',
])

export class TreeWatch {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #onChanged: () => void
  #timer: NodeJS.Timeout | null = null

  constructor(roots: readonly string[], onChanged: () => void) {
    this.#onChanged = onChanged
    this.#add(roots)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Level by level, so that what is watched is near the top. */
  #add(roots: readonly string[]): void {
    for (let level = roots; level.length > 0; level = level.flatMap(directoriesIn)) {
      for (const directory of level) {
        if (this.#watchers.size >= DIRECTORIES_MAX) return
        this.#watch(directory)
      }
    }
  }

  #watch(directory: string): void {
    if (this.#watchers.has(directory)) return
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => {
        this.#noteChange()
        // A directory that is new has to be watched too.
        if (name !== null && !SKIPPED.has(name)) this.#addIfThere(join(directory, name))
      })
      watcher.on('error', () => this.#forget(directory))
      this.#watchers.set(directory, watcher)
    } catch {
      // It is gone again, may not be read, or the kernel has no watch left.
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

  #noteChange(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#onChanged()
    }, GATHER_MS).unref()
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
