/**
 * A persistent list of fixed length: a tree of three levels. A change copies one leaf, one branch and
 * the root. States of runs share the other parts, so that one step costs nearly the same in a flow of
 * any size.
 *
 * INVARIANT (own before writing): a draft writes to a leaf or branch only after it has copied it.
 */

const BITS = 6
const WIDTH = 1 << BITS
const MASK = WIDTH - 1

type Leaf<T> = readonly T[]
type Branch<T> = readonly Leaf<T>[]

export interface Vector<T> {
  readonly length: number
  readonly branches: readonly Branch<T>[]
}

export function filledVector<T>(length: number, value: T): Vector<T> {
  // Drafts copy a leaf or a branch before they write to it, so all places can share one of each.
  const leaf = new Array<T>(WIDTH).fill(value)
  const branch = new Array<Leaf<T>>(WIDTH).fill(leaf)
  const branches: Leaf<T>[][] = []
  let left = length
  for (; left >= WIDTH * WIDTH; left -= WIDTH * WIDTH) branches.push(branch)
  if (left > 0) {
    const last = branch.slice(0, Math.ceil(left / WIDTH))
    const rest = left % WIDTH
    if (rest > 0) last[last.length - 1] = leaf.slice(0, rest)
    branches.push(last)
  }
  return { length, branches }
}

function vectorOf<T>(elements: readonly T[]): Vector<T> {
  const { length } = elements
  const branches: Leaf<T>[][] = []
  for (let start = 0; start < length; start += WIDTH) {
    const leaf = elements.slice(start, start + WIDTH)
    const place = start >>> (2 * BITS)
    const branch = branches[place]
    if (branch === undefined) branches.push([leaf])
    else branch.push(leaf)
  }
  return { length, branches }
}

export function elementAt<T>({ branches }: Vector<T>, index: number): T {
  return read(branches, index)
}

/** Returns an element. The index is in range: it comes from the flow that the vector was made for. */
function read<T>(branches: readonly Branch<T>[], index: number): T {
  const branch = branches[index >>> (2 * BITS)] as Branch<T>
  return (branch[(index >>> BITS) & MASK] as Leaf<T>)[index & MASK] as T
}

export function vectorElements<T>({ length, branches }: Vector<T>): T[] {
  const elements = new Array<T>(length)
  let index = 0
  for (const branch of branches) {
    for (const leaf of branch) for (const element of leaf) elements[index++] = element
  }
  return elements
}

/** A list under change. */
export interface ListDraft<T> {
  get(index: number): T
  set(index: number, value: T): void
  /** Returns an element that the caller may change: a copy the first time, then the same one. */
  own(index: number, copy: (element: T) => T): T
  finish(): Vector<T>
}

/**
 * A draft for many changes in a row: copies all elements into one array and changes that. The vectors
 * from `finish` share nothing that later changes touch.
 */
export class DenseDraft<T> implements ListDraft<T> {
  readonly #elements: T[]
  /** 1 where the element is the draft's own. */
  #owned: Uint8Array

  constructor(origin: Vector<T>) {
    this.#elements = vectorElements(origin)
    this.#owned = new Uint8Array(origin.length)
  }

  get(index: number): T {
    // The index is in range: it comes from the compiled flow that the list was made for.
    return this.#elements[index] as T
  }

  set(index: number, value: T): void {
    this.#elements[index] = value
  }

  own(index: number, copy: (element: T) => T): T {
    const element = this.get(index)
    if (this.#owned[index] === 1) return element
    const copied = copy(element)
    this.#elements[index] = copied
    this.#owned[index] = 1
    return copied
  }

  finish(): Vector<T> {
    this.#owned = new Uint8Array(this.#elements.length)
    return vectorOf(this.#elements)
  }
}

/** A draft for few changes: shares everything that it does not change with its origin. */
export class VectorDraft<T> implements ListDraft<T> {
  readonly #origin: Vector<T>
  #branches: readonly Branch<T>[]
  /** Null until the first change; then the leaves, and the branches as negatives, that are its own. */
  #copied: Set<number> | null = null
  /** Elements that the draft copied itself and may write to. */
  #own: Map<number, T> | null = null

  constructor(origin: Vector<T>) {
    this.#origin = origin
    this.#branches = origin.branches
  }

  get(index: number): T {
    return read(this.#branches, index)
  }

  set(index: number, value: T): void {
    const leafId = index >>> BITS
    if (this.#copied === null || !this.#copied.has(leafId)) this.#copyWayTo(index)
    // The way to the leaf was copied above, or earlier in this draft.
    const leaf = this.#branches[index >>> (2 * BITS)]?.[leafId & MASK] as T[]
    leaf[index & MASK] = value
  }

  own(index: number, copy: (element: T) => T): T {
    const known = this.#own?.get(index)
    if (known !== undefined) return known
    const copied = copy(this.get(index))
    this.#own ??= new Map()
    this.#own.set(index, copied)
    this.set(index, copied)
    return copied
  }

  /** The draft is not written to after this. */
  finish(): Vector<T> {
    if (this.#copied === null) return this.#origin
    return { length: this.#origin.length, branches: this.#branches }
  }

  #copyWayTo(index: number): void {
    if (this.#copied === null) {
      this.#copied = new Set()
      this.#branches = this.#branches.slice()
    }
    const place = index >>> (2 * BITS)
    const leafId = index >>> BITS
    // The draft has copied the root above or earlier, so it may write to it.
    const branches = this.#branches as Branch<T>[]
    if (!this.#copied.has(-1 - place)) {
      this.#copied.add(-1 - place)
      // Indexes are in range, as in `read`.
      branches[place] = (branches[place] as Branch<T>).slice()
    }
    // The draft has copied the branch above or earlier, so it may write to it.
    const branch = branches[place] as Leaf<T>[]
    this.#copied.add(leafId)
    branch[leafId & MASK] = (branch[leafId & MASK] as Leaf<T>).slice()
  }
}
