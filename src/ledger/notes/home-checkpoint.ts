/**
 * Checkpoints of a home: one signed statement over the newest checkpoints of all streams (L-2a).
 *
 *     <ledger>\n<size of host>\n<root of host>\n<stream> <size> <root>\n…
 *
 * The text is a C2SP checkpoint of the host's stream under the ledger's own name; each extension line
 * names one other stream, sorted by name. The key of the ledger signs it under the ledger's name.
 *
 * INVARIANT (one moment): the sizes are of one state of the store. Streams only grow, so of two home
 * checkpoints of one history each stream of the later one is at least as long.
 */
import { HASH_BYTES } from '../../base/index.ts'
import { HOST_STREAM, isStreamName } from '../facts/fact.ts'
import { decodeBase64, encodeBase64 } from '../tree/base64.ts'
import { type Checkpoint, formatCheckpoint } from './checkpoint.ts'
import { formatNote, type Signer, signNote } from './note.ts'

export interface StreamHead {
  readonly stream: string
  readonly size: number
  readonly root: Uint8Array
}

/** Signs the heads of all streams under the ledger's name; null without the host's stream. */
export function signHomeCheckpoint(
  ledger: string,
  heads: readonly StreamHead[],
  signers: readonly Signer[],
): string | null {
  const host = heads.find(({ stream }) => stream === HOST_STREAM)
  if (host === undefined) return null
  const extensions = heads
    .filter((head) => head !== host)
    .map(({ stream, size, root }) => `${stream} ${size} ${encodeBase64(root)}`)
    .sort()
  const { size, root } = host
  return formatNote(signNote(formatCheckpoint({ origin: ledger, size, root, extensions }), signers))
}

const LINE = /^(\S+) ([1-9]\d{0,15}) (\S+)$/

/** Returns the heads that a home checkpoint lists, the host's first; null if a line is none. */
export function headsOfHome(checkpoint: Checkpoint): readonly StreamHead[] | null {
  const { size, root, extensions } = checkpoint
  const heads: StreamHead[] = [{ stream: HOST_STREAM, size, root }]
  for (const line of extensions) {
    const head = readHead(line)
    if (head === null || heads.some(({ stream }) => stream === head.stream)) return null
    heads.push(head)
  }
  return heads
}

function readHead(line: string): StreamHead | null {
  const [, stream = '', size = '', encoded = ''] = LINE.exec(line) ?? []
  const root = decodeBase64(encoded)
  if (!isStreamName(stream) || !Number.isSafeInteger(Number(size))) return null
  return root?.length === HASH_BYTES ? { stream, size: Number(size), root } : null
}
