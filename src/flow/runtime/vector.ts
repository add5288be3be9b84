/**
 * A list of fixed length that is copied in part: a change copies one block and the list of blocks.
 * States of runs share what did not change, so that one step of a flow of any size costs the same.
 *
 * INVARIANT (own before writing): a draft writes to a block only after it has copied it itself.
 */

const BLOCK = 256

export interface Vector<T> {
  readonly length: number
  readonly blocks: readonly (readonly T[])[]
}

export function filledVector<T>(length: number, value: T): Vector<T> {
  const blocks: T[][] = []
  for (let start = 0; start < length; start += BLOCK) {
    blocks.push(new Array<T>(Math.min(BLOCK, length - start)).fill(value))
  }
  return { length, blocks }
}

export function elementAt<T>({ blocks }: Vector<T>, index: number): T {
  // Whoever asks has the index from the compiled flow that the vector was made for.
  return (blocks[index >>> 8] as readonly T[])[index & (BLOCK - 1)] as T
}

export function vectorElements<T>({ blocks }: Vector<T>): T[] {
  return blocks.flat() as T[]
}

/** A vector under change; `finish` gives what it has become. */
export class VectorDraft<T> {
  readonly #origin: Vector<T>
  #blocks: readonly (readonly T[])[]
  /** Null until the first change; then which blocks are the draft's own. */
  #ownBlocks: Set<number> | null = null
  /** Elements that the draft copied itself and may write to. */
  #own: Map<number, T> | null = null

  constructor(origin: Vector<T>) {
    this.#origin = origin
    this.#blocks = origin.blocks
  }

  get(index: number): T {
    return (this.#blocks[index >>> 8] as readonly T[])[index & (BLOCK - 1)] as T
  }

  set(index: number, value: T): void {
    const place = index >>> 8
    if (this.#ownBlocks === null) {
      this.#ownBlocks = new Set()
      this.#blocks = this.#blocks.slice()
    }
    // The list of blocks was copied above, and the block is copied here.
    const blocks = this.#blocks as (readonly T[])[]
    if (!this.#ownBlocks.has(place)) {
      this.#ownBlocks.add(place)
      blocks[place] = (blocks[place] as readonly T[]).slice()
    }
    const block = blocks[place] as T[]
    block[index & (BLOCK - 1)] = value
  }

  /** The element as one that may be written to: copied the first time, the same from then on. */
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
    if (this.#ownBlocks === null) return this.#origin
    return { length: this.#origin.length, blocks: this.#blocks }
  }
}
