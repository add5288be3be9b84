/**
 * Grows a stored tree tile by tile. Each tile has the complete subtrees inside it, so that a store
 * writes a few rows per commit, and a proof reads one row per tile level and computes no hash
 * again.
 *
 * INVARIANT (only longer): a tile appends its hashes and its inner nodes in the order of
 * completion, so every later state of a tile begins with the bytes of every earlier one.
 *
 * The right edge is not stored: `Growth` reads it out of the open tiles, one at most per level.
 */
import { HASH_BYTES, invariant } from '../../base/index.ts'
import { TILE_HEIGHT, TILE_WIDTH } from './tile.ts'
import { foldRoot, type NodeId, nodeHashAt } from './tree.ts'

/** A tile as stores keep it. */
export interface StoredTile {
  readonly level: number
  readonly index: number
  /** The tile itself (C2SP), 32 bytes for each of its 1 to 256 hashes. */
  readonly hashes: Uint8Array
  /** The complete subtrees above them up to the root of a full tile, in the order of completion. */
  readonly inner: Uint8Array
}

/** Where the hash of a node lies among the stored tiles. */
export interface NodePlace {
  readonly level: number
  readonly index: number
  readonly part: 'hashes' | 'inner'
  /** In bytes. */
  readonly offset: number
}

export function placeOf({ level, index }: NodeId): NodePlace {
  const tileLevel = Math.floor(level / TILE_HEIGHT)
  const height = level % TILE_HEIGHT
  const perTile = TILE_WIDTH / 2 ** height
  const tile = Math.floor(index / perTile)
  const inTile = index % perTile
  const part = height === 0 ? 'hashes' : 'inner'
  return { level: tileLevel, index: tile, part, offset: nodeOffset(height, inTile) }
}

/** Reads a node out of the tile that `placeOf` named; null when the tile is too short for it. */
export function readNode(tile: StoredTile, place: NodePlace): Uint8Array | null {
  const bytes = place.part === 'hashes' ? tile.hashes : tile.inner
  if (place.offset + HASH_BYTES > bytes.length) return null
  return bytes.subarray(place.offset, place.offset + HASH_BYTES)
}

/** Returns the open tiles of a tree of that size, which `Growth.load` needs. */
export function openTiles(
  size: number,
): readonly { level: number; index: number; width: number }[] {
  const open: { level: number; index: number; width: number }[] = []
  let count = size
  for (let level = 0; count > 0; level++) {
    const width = count % TILE_WIDTH
    const index = Math.floor(count / TILE_WIDTH)
    if (width > 0) open.push({ level, index, width })
    count = index
  }
  return open
}

/** Returns the offset of a node among the hashes of its tile, or among the inner nodes. */
function nodeOffset(height: number, index: number): number {
  return height === 0 ? index * HASH_BYTES : innerOffset(height, index)
}

/** The node (height, index) of a tile completes with the leaf before (index + 1)·2^height. */
function innerOffset(height: number, index: number): number {
  const leavesBefore = ((index + 1) << height) - 1
  return (innerCount(leavesBefore) + height - 1) * HASH_BYTES
}

/** Complete subtrees above `width` hashes, the hashes themselves not counted. */
function innerCount(width: number): number {
  return width - SET_BITS.charCodeAt(width)
}

/** How many bits are set in each number from 0 to 256, one character for each. */
const SET_BITS = String.fromCharCode(
  ...Array.from({ length: TILE_WIDTH + 1 }, (_, number) => {
    let bits = 0
    for (let rest = number; rest > 0; rest >>= 1) bits += rest & 1
    return bits
  }),
)

const HASHES_BYTES = TILE_WIDTH * HASH_BYTES
const INNER_BYTES = (TILE_WIDTH - 1) * HASH_BYTES

/** The open tile of one level, in buffers as large as it can become. */
class Row {
  readonly level: number
  index: number
  width = 0
  isChanged = false
  readonly hashes = new Uint8Array(HASHES_BYTES)
  readonly inner = new Uint8Array(INNER_BYTES)

  constructor(level: number, index: number) {
    this.level = level
    this.index = index
  }

  push(hash: Uint8Array): void {
    const start = this.width * HASH_BYTES
    // `hash` has `HASH_BYTES` bytes: a leaf that `append` has checked, or a node.
    for (let index = 0; index < HASH_BYTES; index++)
      this.hashes[start + index] = hash[index] as number
    this.isChanged = true
    let at = innerCount(this.width) * HASH_BYTES
    this.width++
    // A hash with an even place completes as many subtrees as its place has zero bits at the end.
    for (let height = 1, index = this.width >> 1; height <= TILE_HEIGHT; height++, index >>= 1) {
      if ((this.width & ((1 << height) - 1)) !== 0) break
      const below = height === 1 ? this.hashes : this.inner
      const left = nodeOffset(height - 1, 2 * index - 2)
      const right = nodeOffset(height - 1, 2 * index - 1)
      nodeHashAt(below, left, below, right, this.inner, at)
      at += HASH_BYTES
    }
  }

  node(height: number, index: number): Uint8Array {
    const bytes = height === 0 ? this.hashes : this.inner
    const offset = nodeOffset(height, index)
    return bytes.subarray(offset, offset + HASH_BYTES)
  }

  content(): StoredTile {
    return {
      level: this.level,
      index: this.index,
      hashes: this.hashes.slice(0, this.width * HASH_BYTES),
      inner: this.inner.slice(0, innerCount(this.width) * HASH_BYTES),
    }
  }

  /** Returns the complete subtrees of the open tile, largest first. */
  edge(): readonly Uint8Array[] {
    const edge: Uint8Array[] = []
    for (let height = TILE_HEIGHT - 1, start = 0; height >= 0; height--) {
      const span = 2 ** height
      if ((this.width & span) === 0) continue
      edge.push(this.node(height, start / span))
      start += span
    }
    return edge
  }
}

/** A growing tree, of which only the right edge is in memory. */
export class Growth {
  #size: number
  readonly #rows: Row[] = []
  readonly #filled: StoredTile[] = []

  private constructor(size: number) {
    this.#size = size
  }

  static empty(): Growth {
    return new Growth(0)
  }

  /** Loads a tree of that size from its open tiles; null if the tiles do not fit the size. */
  static load(size: number, tiles: readonly StoredTile[]): Growth | null {
    const growth = new Growth(size)
    for (const { level, index, width } of openTiles(size)) {
      const tile = tiles.find((one) => one.level === level && one.index === index)
      if (tile === undefined || tile.hashes.length !== width * HASH_BYTES) return null
      if (tile.inner.length !== innerCount(width) * HASH_BYTES) return null
      const row = growth.#row(level)
      row.width = width
      row.hashes.set(tile.hashes)
      row.inner.set(tile.inner)
    }
    return growth
  }

  get size(): number {
    return this.#size
  }

  append(leaf: Uint8Array): void {
    invariant(leaf.length === HASH_BYTES, 'a leaf hash has 32 bytes')
    this.#push(0, leaf)
    this.#size++
  }

  root(): Uint8Array {
    const edge: Uint8Array[] = []
    for (const row of this.#rows.toReversed()) edge.push(...row.edge())
    return foldRoot(edge)
  }

  /**
   * Returns the present state of every tile that changed since the last call, each level from the
   * left.
   */
  takeChanges(): readonly StoredTile[] {
    const changed = this.#filled.splice(0)
    for (const row of this.#rows) {
      if (row.isChanged && row.width > 0) changed.push(row.content())
      row.isChanged = false
    }
    return changed
  }

  #push(level: number, hash: Uint8Array): void {
    const row = this.#row(level)
    row.push(hash)
    if (row.width < TILE_WIDTH) return
    this.#filled.push(row.content())
    const root = row.node(TILE_HEIGHT, 0).slice()
    row.index++
    row.width = 0
    row.isChanged = false
    this.#push(level + 1, root)
  }

  #row(level: number): Row {
    for (let next = this.#rows.length; next <= level; next++) {
      this.#rows.push(new Row(next, Math.floor(this.#size / TILE_WIDTH ** (next + 1))))
    }
    // The loop has added every row up to `level`.
    return this.#rows[level] as Row
  }
}
