/**
 * Paths of the real tree that the view cannot show now, because a process inside uses what was there, or
 * works in the directory (S-1). Each is reported once, until it can be shown.
 */
import { displayOfRaw, type RawPath } from '../gate/index.ts'

export class StalePaths {
  #paths: readonly string[] = []
  #hasNews = false
  /** What was found since the last settle. */
  #found: readonly RawPath[] = []

  /** Whether a look at the whole view may find other paths than before. */
  get isDue(): boolean {
    return this.#hasNews || this.#paths.length > 0
  }

  /** Says that others changed the real tree, and what of it cannot be shown. */
  expect(found: readonly { readonly path: RawPath }[]): void {
    this.#found = found.map(({ path }) => path)
    this.#hasNews = true
  }

  /** Takes what was found at a settle; returns what was not there before. */
  note(paths: readonly RawPath[]): readonly string[] {
    const before = new Set(this.#paths)
    this.#paths = [...new Set(paths.map(displayOfRaw))].sort()
    this.#hasNews = false
    this.#found = []
    return this.#paths.filter((path) => !before.has(path))
  }

  /** All of them, with those that a scan has found since. */
  with(scanned: readonly { readonly path: RawPath }[]): readonly string[] {
    const since = [...this.#found, ...scanned.map(({ path }) => path)].map(displayOfRaw)
    return [...new Set([...this.#paths, ...since])].sort()
  }
}
