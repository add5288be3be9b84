/** What the commit of HEAD holds, as the real tree has it. What cannot be read holds nothing. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitObjects } from './git-objects.ts'
import { entriesOf, type GitTreeEntry, treeOf } from './git-planted.ts'

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SYMBOLIC = /^ref: (refs\/.+)$/
/** A symbolic reference may name another. */
const STEPS_MAX = 5

export class CommittedFiles {
  readonly #directory: string
  readonly #common: string
  readonly #objects: GitObjects
  readonly #trees = new Map<string, ReadonlyMap<string, GitTreeEntry>>()
  /** Null if HEAD names no commit; undefined while it was not read. */
  #root: string | null | undefined

  /** `common` holds the references; `directory` is of a linked worktree, or the same. */
  constructor(directory: string, common: string, objects: GitObjects) {
    this.#directory = directory
    this.#common = common
    this.#objects = objects
  }

  /** The name of the object of a file, by its path below the top, one character a byte. */
  hashOf(name: string): string | null {
    try {
      this.#root ??= this.#rootTree()
      let found: GitTreeEntry | undefined =
        this.#root === null ? undefined : { hash: this.#root, isTree: true }
      for (const part of name.split('/')) {
        found = found?.isTree === true ? this.#tree(found.hash).get(part) : undefined
      }
      return found?.isTree === false ? found.hash : null
    } catch {
      return null
    }
  }

  #tree(hash: string): ReadonlyMap<string, GitTreeEntry> {
    const entries = this.#trees.get(hash) ?? entriesOf(this.#objects, hash)
    this.#trees.set(hash, entries)
    return entries
  }

  #rootTree(): string | null {
    let text = readFileSync(join(this.#directory, 'HEAD'), 'latin1').trim()
    for (let step = 0; step < STEPS_MAX; step++) {
      if (HASH.test(text)) return treeOf(this.#objects, text)
      const name = SYMBOLIC.exec(text)?.[1]
      text = name === undefined ? '' : this.#reference(name)
    }
    return null
  }

  #reference(name: string): string {
    const loose = join(this.#common, name)
    if (existsSync(loose)) return readFileSync(loose, 'latin1').trim()
    const packed = readFileSync(join(this.#common, 'packed-refs'), 'latin1')
    const row = packed.split('\n').find((line) => line.endsWith(` ${name}`))
    return row?.slice(0, row.indexOf(' ')) ?? ''
  }
}
