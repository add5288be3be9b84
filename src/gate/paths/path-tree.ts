/**
 * Paths as a tree of names, each with a value. Every query costs one walk along the names of its path,
 * because a run can fill directories that are two thousand levels deep.
 */

interface Branch<Value> {
  /** Undefined when no path ends here. */
  value: Value | undefined
  readonly below: Map<string, Branch<Value>>
}

interface AboveMatch<Value> {
  readonly value: Value
  /** The length of the path in the tree. */
  readonly length: number
}

export class PathTree<Value> {
  readonly #root: Branch<Value> = newBranch()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The first value that is given to a path stays. */
  add(path: string, value: Value): void {
    let branch = this.#root
    for (let start = 0; start < path.length - 1; ) {
      const end = nameEnd(path, start)
      const name = path.slice(start + 1, end)
      let next = branch.below.get(name)
      if (next === undefined) {
        next = newBranch()
        branch.below.set(name, next)
      }
      branch = next
      start = end
    }
    if (branch.value !== undefined) return
    branch.value = value
    this.#size++
  }

  /** The outermost path of the tree that is this one or lies above it. */
  outermost(path: string): AboveMatch<Value> | null {
    return this.#above(path, true)
  }

  /** The innermost one. */
  innermost(path: string): AboveMatch<Value> | null {
    return this.#above(path, false)
  }

  #above(path: string, isFirst: boolean): AboveMatch<Value> | null {
    if (this.#size === 0) return null
    let branch: Branch<Value> | undefined = this.#root
    let found: AboveMatch<Value> | null =
      branch.value === undefined ? null : { value: branch.value, length: 1 }
    for (let start = 0; start < path.length - 1 && !(isFirst && found !== null); ) {
      const end = nameEnd(path, start)
      branch = branch.below.get(path.slice(start + 1, end))
      if (branch === undefined) return found
      if (branch.value !== undefined) found = { value: branch.value, length: end }
      start = end
    }
    return found
  }

  /** Whether some path of the tree lies strictly below this one. */
  hasBelow(path: string): boolean {
    let branch: Branch<Value> | undefined = this.#root
    for (let start = 0; start < path.length - 1; ) {
      const end = nameEnd(path, start)
      branch = branch.below.get(path.slice(start + 1, end))
      if (branch === undefined) return false
      start = end
    }
    return branch.below.size > 0
  }
}

function newBranch<Value>(): Branch<Value> {
  return { value: undefined, below: new Map() }
}

/** Where the name ends that follows the slash at `start`. */
export function nameEnd(path: string, start: number): number {
  const next = path.indexOf('/', start + 1)
  return next < 0 ? path.length : next
}
