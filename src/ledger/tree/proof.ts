/**
 * Inclusion and consistency proofs (RFC 9162, sections 2.1.3 and 2.1.4): which nodes a proof needs,
 * how it is put together from them, and how anyone checks it. All in O(log size).
 *
 * Making a proof is two steps, so that a store of any kind can serve it: a plan names every node at
 * once, the store reads them in one go, and `assemble` folds them into the proof.
 */
import { HASH_BYTES, invariant } from '../../base/index.ts'
import { coveringNodes, equalBytes, foldRoot, type NodeId, nodeHash } from './tree.ts'

/** For each hash of the proof the complete subtrees it is folded from, in the order of the proof. */
export type ProofPlan = readonly (readonly NodeId[])[]

/** Reads complete subtrees; every node of the tree of the size that was asked for exists. */
export type NodeReader = (nodes: readonly NodeId[]) => readonly Uint8Array[]

/** The path from the leaf `index` to the root of the first `size` leaves. */
export function planInclusion(index: number, size: number): ProofPlan {
  invariant(isCount(index) && isCount(size) && index < size, 'a proven leaf lies inside the tree')
  const plan: (readonly NodeId[])[] = []
  let node = index
  for (let level = 0, width = 1; width < size; level++, width *= 2) {
    const next = (node + 1) * width
    if (node % 2 === 1) plan.push([{ level, index: node - 1 }])
    else if (next + width <= size) plan.push([{ level, index: node + 1 }])
    // Only the last sibling to the right can be ragged; beyond it there is none, and nothing is joined.
    else if (next < size) plan.push(coveringNodes(next, size))
    node = Math.floor(node / 2)
  }
  return plan
}

/** Plans a proof that the tree of `newSize` leaves begins with the tree of `oldSize` leaves. */
export function planConsistency(oldSize: number, newSize: number): ProofPlan {
  invariant(
    isCount(oldSize) && isCount(newSize) && oldSize <= newSize,
    'a consistency proof leads from a smaller tree to a larger one',
  )
  if (oldSize === 0 || oldSize === newSize) return []
  const plan: (readonly NodeId[])[] = []
  let start = 0
  let end = newSize
  while (end !== oldSize) {
    const middle = start + splitPoint(end - start)
    if (oldSize <= middle) {
      plan.push(coveringNodes(middle, end))
      end = middle
    } else {
      plan.push(coveringNodes(start, middle))
      start = middle
    }
  }
  // If the old tree is a complete subtree, its root is no part of the proof: the verifier has it.
  if (start !== 0) plan.push(coveringNodes(start, end))
  return plan.reverse()
}

export function planRoot(size: number): ProofPlan {
  return [coveringNodes(0, size)]
}

/** Returns every node of a plan, in the order in which `assemble` takes their hashes. */
export function nodesOf(plan: ProofPlan): readonly NodeId[] {
  const nodes: NodeId[] = []
  for (const part of plan) nodes.push(...part)
  return nodes
}

export function assemble(plan: ProofPlan, hashes: readonly Uint8Array[]): readonly Uint8Array[] {
  let taken = 0
  return plan.map((nodes) => {
    const start = taken
    taken += nodes.length
    invariant(taken <= hashes.length, 'the store returned every node it was asked for')
    // Most are one node and need no folding.
    return nodes.length === 1 ? (hashes[start] as Uint8Array) : foldRoot(hashes.slice(start, taken))
  })
}

export function prove(plan: ProofPlan, read: NodeReader): readonly Uint8Array[] {
  return assemble(plan, read(nodesOf(plan)))
}

export interface Inclusion {
  readonly index: number
  readonly size: number
  readonly leaf: Uint8Array
  readonly path: readonly Uint8Array[]
  readonly root: Uint8Array
}

/** Returns whether the leaf is at that index of the tree with that root. Total on hostile input. */
export function verifyInclusion({ index, size, leaf, path, root }: Inclusion): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false
  if (!isHash(leaf) || !path.every(isHash)) return false
  let node = index
  let last = size - 1
  let hash = leaf
  for (const sibling of path) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        last = Math.floor(last / 2)
      }
    } else {
      hash = nodeHash(hash, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && equalBytes(hash, root)
}

export interface Consistency {
  readonly oldSize: number
  readonly newSize: number
  readonly oldRoot: Uint8Array
  readonly newRoot: Uint8Array
  readonly path: readonly Uint8Array[]
}

/**
 * Whether the larger tree begins with the smaller one. The empty tree is the beginning of every
 * tree, and its proof is empty; whether its root is the hash of nothing is for the checkpoint.
 */
export function verifyConsistency(claim: Consistency): boolean {
  const { oldSize, newSize, oldRoot, newRoot, path } = claim
  if (!isCount(oldSize) || !isCount(newSize) || oldSize > newSize) return false
  if (!isHash(oldRoot) || !isHash(newRoot) || !path.every(isHash)) return false
  if (oldSize === newSize) return path.length === 0 && equalBytes(oldRoot, newRoot)
  if (oldSize === 0) return path.length === 0
  return path.length > 0 && climb(claim)
}

/** RFC 9162, 2.1.4.2: rebuilds both roots from the path at once. */
function climb({ oldSize, newSize, oldRoot, newRoot, path }: Consistency): boolean {
  const [first, ...rest] = isPowerOfTwo(oldSize) ? [oldRoot, ...path] : path
  invariant(first !== undefined, 'the path is not empty')
  let node = oldSize - 1
  let last = newSize - 1
  while (node % 2 === 1) {
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  let oldHash = first
  let newHash = first
  for (const sibling of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(sibling, oldHash)
      newHash = nodeHash(sibling, newHash)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        last = Math.floor(last / 2)
      }
    } else {
      newHash = nodeHash(newHash, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && equalBytes(oldHash, oldRoot) && equalBytes(newHash, newRoot)
}

/** The largest power of two below `width`, for a width of at least two. */
function splitPoint(width: number): number {
  let power = 1
  while (power * 2 < width) power *= 2
  return power
}

function isPowerOfTwo(size: number): boolean {
  let power = 1
  while (power < size) power *= 2
  return power === size
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isHash(value: Uint8Array): boolean {
  return value.length === HASH_BYTES
}
