/**
 * Many globs, asked about many paths. The common shapes (`d/**`, a name anywhere, a name anywhere and
 * all below) are looked up by name; the rest are tried one by one, and only on paths that hold their
 * longest whole name, or else their longest literal piece.
 *
 * INVARIANT (bounded work): trying an actor's globs one by one spends an effort. Once it is spent,
 *   nothing matches, so a declaration covers less and more is refused.
 *
 * Paths as a tree of names, each with a value. Every query costs one walk along the names of its path,
 * because a run can fill directories that are two thousand levels deep.
 */
import { type Glob, matchesNames, parseGlob } from '../../contracts/index.ts'

interface PathMatch {
  /** Which of the globs. */
  readonly index: number
  /** The length of the shortest head of the path that the glob matches with all below. */
  readonly rootLength: number
}

interface Tried {
  readonly index: number
  readonly glob: Glob
  /** The longest literal piece, without which nothing can match. */
  readonly piece: string
}

/** Steps that may be spent on trying; a look for a piece is one, a whole match is more. */
export interface TryingEffort {
  steps: number
}

const MATCH_STEPS = 10

export function newTryingEffort(): TryingEffort {
  return { steps: 60_000_000 }
}

/** For the host's own globs: they match however much effort an actor has spent. */
export const UNBOUNDED: TryingEffort = { steps: Number.POSITIVE_INFINITY }

export class PathSet {
  readonly #effort: TryingEffort
  readonly #exact = new Map<string, number>()
  /** `d/**`, by the text of `d`. */
  readonly #trees = new PathTree<number>()
  /** A name anywhere, with all below it. */
  readonly #anywhere = new Map<string, number>()
  /** A last name anywhere. */
  readonly #lastNames = new Map<string, number>()
  /** Tried on paths that hold a name. */
  readonly #byName = new Map<string, Tried[]>()
  /** Tried on every path: no name of the glob is literal. */
  readonly #tried: Tried[] = []
  readonly #globs: readonly (Glob | null)[]

  /** Texts that are no globs match nothing. */
  constructor(globs: readonly string[], effort: TryingEffort) {
    this.#effort = effort
    this.#globs = globs.map(parseGlob)
    for (const [index, glob] of this.#globs.entries()) if (glob !== null) this.#add(glob, index)
  }

  #add(glob: Glob, index: number): void {
    const [first, second, third] = glob.segments
    const { length } = glob.segments
    const last = glob.segments[length - 1]
    const isNamed = first === '**' && second !== undefined && second.length === 1
    if (glob.isLiteral) put(this.#exact, glob.text, index)
    else if (isNamed && length === 2) put(this.#lastNames, second[0] ?? '', index)
    else if (isNamed && length === 3 && third === '**') put(this.#anywhere, second[0] ?? '', index)
    else if (last === '**' && glob.segments.slice(0, -1).every(isOneName)) {
      this.#trees.add(textOfNames(glob.segments.slice(0, -1)), index)
    } else {
      this.#addTried({ index, glob, piece: longestPiece(glob) })
    }
  }

  #addTried(tried: Tried): void {
    const name = longestName(tried.glob)
    const list = name === null ? this.#tried : (this.#byName.get(name) ?? [])
    list.push(tried)
    if (name !== null) this.#byName.set(name, list)
  }

  find(path: string): PathMatch | null {
    const exact =
      this.#exact.get(path) ?? this.#lastNames.get(path.slice(path.lastIndexOf('/') + 1))
    if (exact !== undefined) return { index: exact, rootLength: path.length }
    // Each list once, though a path may hold a name many times.
    const candidates = new Set<readonly Tried[]>()
    for (let start = 0; start < path.length - 1; ) {
      const end = nameEnd(path, start)
      const name = path.slice(start + 1, end)
      const index = this.#anywhere.get(name)
      if (index !== undefined) return { index, rootLength: end }
      const named = this.#byName.get(name)
      if (named !== undefined) candidates.add(named)
      start = end
    }
    const tree = this.#trees.outermost(path)
    if (tree !== null) return { index: tree.value, rootLength: tree.length }
    if (candidates.size === 0 && this.#tried.length === 0) return null
    return this.#findTried(path, [...candidates, this.#tried])
  }

  /** Whether one of the globs holds one of the paths, as far as the effort goes. */
  someMatch(index: number, paths: readonly string[]): boolean {
    const glob = this.#globs[index]
    if (glob === undefined || glob === null) return false
    for (const path of paths) {
      if (this.#effort.steps <= 0) return false
      const names = namesOf(path)
      this.#effort.steps -= MATCH_STEPS + names.length
      if (matchesNames(glob.segments, names)) return true
    }
    return false
  }

  #findTried(path: string, lists: readonly (readonly Tried[])[]): PathMatch | null {
    const names = namesOf(path)
    for (const list of lists) {
      for (const { index, glob, piece } of list) {
        if (this.#effort.steps <= 0) return null
        this.#effort.steps--
        if (!path.includes(piece)) continue
        this.#effort.steps -= MATCH_STEPS + names.length
        if (matchesNames(glob.segments, names)) return { index, rootLength: rootOf(glob, names) }
      }
    }
    return null
  }
}

function namesOf(path: string): readonly string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}

function put(map: Map<string, number>, key: string, index: number): void {
  if (!map.has(key)) map.set(key, index)
}

function isOneName(segment: Glob['segments'][number]): boolean {
  return segment !== '**' && segment.length === 1
}

/** Of literal segments only: the text of a glob can say `**` twice in a row. */
function textOfNames(segments: Glob['segments']): string {
  return segments.map(([name]) => `/${name}`).join('')
}

function longestName({ segments }: Glob): string | null {
  let longest: string | null = null
  for (const segment of segments) {
    if (segment === '**' || segment.length !== 1) continue
    if (segment[0].length > (longest?.length ?? 0)) longest = segment[0]
  }
  return longest
}

function longestPiece({ segments }: Glob): string {
  let longest = ''
  for (const segment of segments) {
    for (const piece of segment === '**' ? [] : segment) {
      if (piece.length > longest.length) longest = piece
    }
  }
  return longest
}

/**
 * Only a glob that ends in `**` matches what lies below a match, and then everything below: the
 * shortest head that matches is found by halving.
 */
function rootOf(glob: Glob, names: readonly string[]): number {
  let [matching, missing] = [names.length, 0]
  const isTree = glob.segments[glob.segments.length - 1] === '**'
  while (isTree && matching - missing > 1) {
    const middle = (matching + missing) >> 1
    if (matchesNames(glob.segments, names.slice(0, middle))) matching = middle
    else missing = middle
  }
  return names.slice(0, matching).reduce((length, name) => length + 1 + name.length, 0)
}

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
function nameEnd(path: string, start: number): number {
  const next = path.indexOf('/', start + 1)
  return next < 0 ? path.length : next
}
