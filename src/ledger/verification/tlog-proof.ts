/**
 * Proofs as files that other tools read (C2SP tlog-proof): where an entry lies, the path from its leaf
 * to the root, and the checkpoint with all of its signatures. The entry itself is not in it.
 */
import { encodeBase64 } from '../tree/base64.ts'

interface TlogProof {
  readonly index: number
  readonly path: readonly Uint8Array[]
  /** A signed note over the tree of the path. */
  readonly checkpoint: string
}

export function formatTlogProof({ index, path, checkpoint }: TlogProof): string {
  const lines = ['c2sp.org/tlog-proof@v1', `index ${index}`, ...path.map(encodeBase64)]
  return `${lines.join('\n')}\n\n${checkpoint}`
}
