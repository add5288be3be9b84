/** The hashes on the way from a fact to the root of the tree, computed here (RFC 9162, 2.1.3.2). */
import { encodeHex, nodeHash } from '../../ledger/index.ts'

export interface ProofStep {
  /** On which side of the computed hash the one of the proof is. */
  readonly side: 'left' | 'right'
  /** Came with the proof. */
  readonly given: string
  /** The hash of both, computed here. */
  readonly made: string
}

export function proofSteps(
  seq: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): readonly ProofStep[] {
  const steps: ProofStep[] = []
  let [at, last, hash] = [seq, size - 1, leaf]
  for (const given of path) {
    const isRight = at % 2 === 1
    if (isRight || at === last) {
      hash = nodeHash(given, hash)
      steps.push({ side: 'left', given: encodeHex(given), made: encodeHex(hash) })
      // A last subtree that is not full has no neighbour on its right; it moves up alone.
      while (at % 2 === 0 && at > 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      hash = nodeHash(hash, given)
      steps.push({ side: 'right', given: encodeHex(given), made: encodeHex(hash) })
    }
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return steps
}
