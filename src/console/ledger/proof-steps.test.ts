/** The way of a proof from its fact to the root, in trees of every size. */
import { expect, it } from 'vitest'
import { encodeHex, nodeHash, RightEdge } from '../../ledger/index.ts'
import { proofSteps } from './proof-steps.ts'

const leaves = Array.from({ length: 23 }, (_, index) => new Uint8Array(32).fill(index + 1))

/** The root of some leaves, and the hashes that prove one of them, by their definition. */
function proven(some: readonly Uint8Array[], at: number): [Uint8Array, readonly Uint8Array[]] {
  const [only] = some
  if (some.length === 1 && only !== undefined) return [only, []]
  let half = 1
  while (half * 2 < some.length) half *= 2
  const [left, right] = [some.slice(0, half), some.slice(half)]
  const [near, far] = at < half ? [proven(left, at), right] : [proven(right, at - half), left]
  const [other] = proven(far, 0)
  const root = at < half ? nodeHash(near[0], other) : nodeHash(other, near[0])
  return [root, [...near[1], other]]
}

it('leads from every fact of trees of every size to the root', () => {
  for (let size = 1; size <= leaves.length; size += 1) {
    const some = leaves.slice(0, size)
    const edge = new RightEdge()
    for (const leaf of some) edge.append(leaf)
    for (const [seq, leaf] of some.entries()) {
      const [root, path] = proven(some, seq)
      expect(encodeHex(root)).toBe(encodeHex(edge.root()))
      const steps = proofSteps(seq, size, leaf, path)
      expect(steps.at(-1)?.made ?? encodeHex(leaf), `${seq} of ${size}`).toBe(encodeHex(root))
    }
  }
})
