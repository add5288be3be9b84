/**
 * The Merkle tree of RFC 6962 and RFC 9162, section 2.1: the hashes of leaves and nodes, and the
 * right edge, which is all that a tree needs to grow and to compute its root.
 *
 * INVARIANT (separated hashes): a leaf is SHA-256(0x00 ‖ entry), a node SHA-256(0x01 ‖ left ‖
 * right), so no node can be passed off as a leaf. Levels count from the leaves, indexes from the
 * left, both from 0. A node (level, index) here is always complete: it covers 2^level leaves.
 */
import { HASH_BYTES, invariant, sha256, sha256Into } from '../../base/index.ts'

/** The position of a complete subtree. */
export interface NodeId {
  readonly level: number
  readonly index: number
}

/** Hashes an entry. For a string, hashes its UTF-8 bytes: a leading U+0000 is the byte 0x00. */
export function leafHash(entry: string | Uint8Array): Uint8Array {
  if (typeof entry === 'string') return sha256(`\u0000${entry}`)
  const bytes = entry.length < ENTRY.length ? ENTRY : new Uint8Array(entry.length + 1)
  bytes.set(entry, 1)
  return sha256(bytes.subarray(0, entry.length + 1))
}

/** Scratch space of one hash at a time; nothing reads it after the call that filled it. */
const ENTRY = new Uint8Array(4096)
const PAIR = new Uint8Array(1 + 2 * HASH_BYTES)
PAIR[0] = 0x01

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES)
  nodeHashAt(left, 0, right, 0, hash, 0)
  return hash
}

/**
 * Hashes a node whose children and target lie in larger arrays, without slicing them: slicing doubles
 * the cost of a node. The target may be one of the sources.
 */
export function nodeHashAt(
  left: Uint8Array,
  leftAt: number,
  right: Uint8Array,
  rightAt: number,
  target: Uint8Array,
  targetAt: number,
): void {
  // The caller passes places of whole hashes, so every byte exists.
  for (let index = 0; index < HASH_BYTES; index++) {
    PAIR[1 + index] = left[leftAt + index] as number
    PAIR[1 + HASH_BYTES + index] = right[rightAt + index] as number
  }
  sha256Into(PAIR, target, targetAt)
}

/** The root of the tree without leaves: the hash of nothing. */
export function emptyRoot(): Uint8Array {
  return sha256('')
}

/** Returns the root over adjacent complete subtrees, largest first. */
export function foldRoot(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return emptyRoot()
  return hashes.reduceRight((root, left) => nodeHash(left, root))
}

/** Returns the complete subtrees that cover the leaves from `start` up to `end`, largest first. */
export function coveringNodes(start: number, end: number): readonly NodeId[] {
  const nodes: NodeId[] = []
  let at = start
  while (at < end) {
    let level = 0
    let width = 1
    while (at % (2 * width) === 0 && at + 2 * width <= end) {
      level++
      width *= 2
    }
    nodes.push({ level, index: at / width })
    at += width
  }
  return nodes
}

/** Receives every complete subtree in the order of completion. */
type OnNode = (level: number, index: number, hash: Uint8Array) => void

/**
 * The roots of the complete subtrees at the right edge, largest first: one for every set bit of the
 * size. Growing by a leaf costs one hash on average, the root at most one per bit.
 */
export class RightEdge {
  #size: number
  readonly #hashes: Uint8Array[]

  constructor(size = 0, hashes: readonly Uint8Array[] = []) {
    invariant(hashes.length === setBits(size), 'the right edge has one hash for every set bit')
    this.#size = size
    this.#hashes = [...hashes]
  }

  get size(): number {
    return this.#size
  }

  get hashes(): readonly Uint8Array[] {
    return this.#hashes
  }

  append(leaf: Uint8Array, onNode?: OnNode): void {
    let hash = leaf
    let index = this.#size
    let level = 0
    onNode?.(level, index, hash)
    while (index % 2 === 1) {
      const left = this.#hashes.pop()
      invariant(left !== undefined, 'an odd index has a left sibling on the edge')
      hash = nodeHash(left, hash)
      index = (index - 1) / 2
      level++
      onNode?.(level, index, hash)
    }
    this.#hashes.push(hash)
    this.#size++
  }

  root(): Uint8Array {
    return foldRoot(this.#hashes)
  }
}

function setBits(size: number): number {
  let bits = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) bits += rest % 2
  return bits
}

export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false
  }
  return true
}
