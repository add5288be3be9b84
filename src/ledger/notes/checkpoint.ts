/**
 * Checkpoints (C2SP tlog-checkpoint): a signed note whose text is
 *
 *     <origin>\n<size>\n<base64 of the root>\n[<extension>\n…]
 *
 * INVARIANT (one tree per origin): of two checkpoints of one origin the larger extends the smaller.
 * Two of one size with different roots are a fork, and the two notes prove it to anyone.
 *
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
import { type Fault, fault, HASH_BYTES } from '../../base/index.ts'
import { HOST_STREAM, isStreamName } from '../facts/fact.ts'
import { decodeBase64, encodeBase64, encodeHex } from '../tree/base64.ts'
import { equalBytes } from '../tree/tree.ts'
import {
  formatNote,
  openNote,
  type Signature,
  type Signer,
  signNote,
  type Verifier,
} from './note.ts'

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** Lines behind the root: none for a stream, one per other stream for a home. */
  readonly extensions: readonly string[]
}

const SIZE = /^(?:0|[1-9]\d{0,15})$/
const LINE = /^(\S+) ([1-9]\d{0,15}) (\S+)$/

export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  return [origin, String(size), encodeBase64(root), ...extensions]
    .map((line) => `${line}\n`)
    .join('')
}

/** Reads the text of a checkpoint; null when it is none. */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null
  const [origin = '', sizeText = '', rootText = '', ...extensions] = text.slice(0, -1).split('\n')
  const root = decodeBase64(rootText)
  if (origin === '' || !SIZE.test(sizeText) || !Number.isSafeInteger(Number(sizeText))) return null
  if (root === null || root.length !== HASH_BYTES || extensions.includes('')) return null
  return { origin, size: Number(sizeText), root, extensions }
}

/** The checkpoint as a signed note, in the order of the signers. */
export function signCheckpoint(
  origin: string,
  size: number,
  root: Uint8Array,
  signers: readonly Signer[],
): string {
  const text = formatCheckpoint({ origin, size, root, extensions: [] })
  return formatNote(signNote(text, signers))
}

export type OpenedCheckpoint =
  | {
      readonly ok: true
      readonly checkpoint: Checkpoint
      readonly verified: readonly Signature[]
      readonly unknown: readonly Signature[]
    }
  | { readonly ok: false; readonly fault: Fault }

/** Reads a signed checkpoint that one of the named keys must have signed. */
export function openCheckpoint(note: string, verifiers: readonly Verifier[]): OpenedCheckpoint {
  const opened = openNote(note, verifiers)
  if (!opened.ok) return opened
  const checkpoint = parseCheckpoint(opened.text)
  if (checkpoint === null) {
    return { ok: false, fault: fault('ledger.checkpoint_malformed', '', null) }
  }
  return { ok: true, checkpoint, verified: opened.verified, unknown: opened.unknown }
}

/** What two believed checkpoints say of each other without the tree. */
export type CheckpointRelation = 'same' | 'older' | 'newer' | 'fork' | 'strangers'

/** Compares one tree, and for checkpoints of a home every stream that either of them lists. */
export function compareCheckpoints(ours: Checkpoint, theirs: Checkpoint): CheckpointRelation {
  if (ours.origin !== theirs.origin) return 'strangers'
  const [left, right] = [treesOf(ours), treesOf(theirs)]
  const relations = new Set<CheckpointRelation>()
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    relations.add(compareTrees(left.get(name), right.get(name)))
  }
  // Streams only grow: of two states of one history one is never shorter than the other.
  if (relations.has('fork') || (relations.has('older') && relations.has('newer'))) return 'fork'
  if (relations.has('older')) return 'older'
  return relations.has('newer') ? 'newer' : 'same'
}

interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** The checkpoint's own tree under the empty name, and the streams of its extension lines. */
function treesOf({ size, root, extensions }: Checkpoint): ReadonlyMap<string, TreeHead> {
  const trees = new Map<string, TreeHead>([['', { size, root }]])
  for (const line of extensions) {
    const [, name = '', count = '', encoded = ''] = /^(\S+) (\d{1,16}) (\S+)$/.exec(line) ?? []
    const hash = decodeBase64(encoded)
    if (name !== '' && hash !== null) trees.set(name, { size: Number(count), root: hash })
  }
  return trees
}

/** A tree that one side does not list yet is empty there. */
function compareTrees(
  ours: TreeHead | undefined,
  theirs: TreeHead | undefined,
): CheckpointRelation {
  const [left, right] = [ours?.size ?? 0, theirs?.size ?? 0]
  if (left !== right) return left < right ? 'older' : 'newer'
  if (ours === undefined || theirs === undefined) return 'same'
  return equalBytes(ours.root, theirs.root) ? 'same' : 'fork'
}

/** The fault that two forked checkpoints are. */
export function forkFault(ours: Checkpoint, theirs: Checkpoint): Fault {
  return fault('ledger.forked', ours.origin, {
    size: ours.size,
    ours: encodeHex(ours.root),
    theirs: encodeHex(theirs.root),
  })
}

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
  const text = homeCheckpointText(ledger, heads)
  return text === null ? null : formatNote(signNote(text, signers))
}

/** The text of a home checkpoint, which is what is signed; null without the host's stream. */
export function homeCheckpointText(ledger: string, heads: readonly StreamHead[]): string | null {
  const host = heads.find(({ stream }) => stream === HOST_STREAM)
  if (host === undefined) return null
  const extensions = heads
    .filter((head) => head !== host)
    .map(({ stream, size, root }) => `${stream} ${size} ${encodeBase64(root)}`)
    .sort()
  const { size, root } = host
  return formatCheckpoint({ origin: ledger, size, root, extensions })
}

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
