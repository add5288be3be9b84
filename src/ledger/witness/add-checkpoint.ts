/**
 * What a witness is asked, and what it answers (C2SP tlog-witness, `add-checkpoint`):
 *
 *     old <size>\n[<base64 hash>\n…]\n<checkpoint as a signed note>
 *
 * INVARIANT (one history): a checkpoint is cosigned only if it extends the one that was cosigned last,
 * by a proof. The caller makes the answer and the new record one step for each log.
 */
import { HASH_BYTES } from '../../base/index.ts'
import { type Checkpoint, openCheckpoint, parseCheckpoint } from '../notes/checkpoint.ts'
import { parseNote, type VerifierKey, verifierFor, verifierKey } from '../notes/note.ts'
import { decodeBase64, encodeBase64 } from '../tree/base64.ts'
import { verifyConsistency } from '../tree/proof.ts'
import { emptyRoot, equalBytes } from '../tree/tree.ts'

interface WitnessRequest {
  readonly oldSize: number
  readonly proof: readonly Uint8Array[]
  /** The checkpoint with the signature of its log. */
  readonly note: string
}

const PROOF_LINES_MAX = 63
const OLD = /^old (0|[1-9]\d{0,15})$/

export function formatWitnessRequest({ oldSize, proof, note }: WitnessRequest): string {
  return `${[`old ${oldSize}`, ...proof.map(encodeBase64)].join('\n')}\n\n${note}`
}

/** Null when the text is no request. */
export function parseWitnessRequest(text: string): WitnessRequest | null {
  const end = text.indexOf('\n\n')
  if (end === -1) return null
  const [first = '', ...lines] = text.slice(0, end).split('\n')
  const oldSize = Number(OLD.exec(first)?.[1] ?? Number.NaN)
  const proof = lines.map(decodeBase64)
  if (!Number.isSafeInteger(oldSize) || lines.length > PROOF_LINES_MAX) return null
  const isWhole = proof.every((hash) => hash?.length === HASH_BYTES)
  // Every entry has just been found to be a hash.
  return isWhole ? { oldSize, proof: proof as Uint8Array[], note: text.slice(end + 2) } : null
}

/** What a witness knows of a log. */
export interface WitnessedLog {
  /** Of any name: the bytes count, under the origin. */
  readonly keys: readonly VerifierKey[]
  /** The checkpoint that was cosigned last. */
  readonly kept: Checkpoint | null
}

export type WitnessAnswer =
  | { readonly status: 200; readonly checkpoint: Checkpoint; readonly text: string }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422; readonly why: string }

/** Returns the origin of the checkpoint in a request; null when it holds none. */
export function originOf({ note }: WitnessRequest): string | null {
  return parseCheckpoint(parseNote(note)?.text ?? '')?.origin ?? null
}

/** Judges a request by the statuses of the protocol. `log` is null for an origin that is not known. */
export function judgeRequest(request: WitnessRequest, log: WitnessedLog | null): WitnessAnswer {
  const { oldSize, proof, note } = request
  const origin = originOf(request)
  if (origin === null) return { status: 400, why: 'the request holds no checkpoint' }
  if (log === null) return { status: 404, why: 'the log is not registered here' }
  const verifiers = log.keys.flatMap(
    ({ type, publicKey }) => verifierFor(verifierKey(origin, type, publicKey)) ?? [],
  )
  const opened = openCheckpoint(note, verifiers)
  if (!opened.ok) return { status: 403, why: 'no registered key of the log signed the checkpoint' }
  const { checkpoint } = opened
  const { size, root } = checkpoint
  if (oldSize > size) return { status: 400, why: 'the old size is larger than the checkpoint' }
  const kept = log.kept ?? { size: 0, root: emptyRoot() }
  if (oldSize !== kept.size) return { status: 409, size: kept.size }
  if (size === oldSize && !equalBytes(root, kept.root)) {
    return size === 0
      ? { status: 422, why: 'the root of an empty tree is the hash of nothing' }
      : { status: 409, size }
  }
  const claim = { oldSize, newSize: size, oldRoot: kept.root, newRoot: root, path: proof }
  if (!verifyConsistency(claim)) return { status: 422, why: 'the proof does not lead there' }
  return { status: 200, checkpoint, text: parseNote(note)?.text ?? '' }
}
