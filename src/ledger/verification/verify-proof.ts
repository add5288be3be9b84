/**
 * Proofs for people and other programs, as JSON: that a fact is in a stream, and that a stream only
 * grew. Making a proof needs a store; checking it does not.
 *
 *     proveFact(store, stream, seq)             → { seq, leaf, size, root, path[], checkpoint } | null
 *     proveExtension(store, stream, from, to?)  → { from, to, from_root, to_root, path[] } | null
 *     checkFactProof(proof, text, verifiers)    → boolean
 *
 * Hashes are `sha256:` and hex, from the leaf up as in RFC 9162; `checkpoint` is the signed note.
 */
import { type Digest, type Fault, fault, isDigest } from '../../base/index.ts'
import { factLeaf } from '../facts/fact.ts'
import type { Store } from '../facts/store.ts'
import {
  type Checkpoint,
  type CheckpointRelation,
  compareCheckpoints,
  openCheckpoint,
  parseCheckpoint,
} from '../notes/checkpoint.ts'
import { parseNote, type Verifier } from '../notes/note.ts'
import { decodeHex, encodeHex } from '../tree/base64.ts'
import {
  assemble,
  nodesOf,
  type ProofPlan,
  planConsistency,
  planInclusion,
  planRoot,
  verifyInclusion,
} from '../tree/proof.ts'
import { equalBytes } from '../tree/tree.ts'

export interface FactProof {
  readonly seq: number
  readonly leaf: Digest
  readonly size: number
  readonly root: Digest
  readonly path: readonly Digest[]
  readonly checkpoint: string
}

export interface ExtensionProof {
  readonly from: number
  readonly to: number
  readonly from_root: Digest
  readonly to_root: Digest
  readonly path: readonly Digest[]
}

/** In the tree of the newest checkpoint. Null when there is no such fact. */
export async function proveFact(
  store: Store,
  stream: string,
  seq: number,
): Promise<FactProof | null> {
  const head = await store.head(stream)
  if (head === null || !Number.isSafeInteger(seq) || seq < 0 || seq >= head.size) return null
  const [fact] = await store.read(stream, seq, 1)
  if (fact === undefined || fact.seq !== seq) return null
  const path = await hashesOf(store, stream, planInclusion(seq, head.size))
  return {
    seq,
    leaf: hashText(factLeaf(fact.text)),
    size: head.size,
    root: hashText(head.root),
    path: path.map(hashText),
    checkpoint: head.checkpoint,
  }
}

/** The path alone, in the tree of the first `size` facts. */
export async function inclusionPath(
  store: Store,
  stream: string,
  seq: number,
  size: number,
): Promise<readonly Digest[]> {
  return (await hashesOf(store, stream, planInclusion(seq, size))).map(hashText)
}

/** Null when the sizes are none of this stream. `to` is the size of the newest checkpoint if absent. */
export async function proveExtension(
  store: Store,
  stream: string,
  from: number,
  to?: number,
): Promise<ExtensionProof | null> {
  const head = await store.head(stream)
  const size = to ?? head?.size ?? 0
  if (head === null || from < 1 || from > size || size > head.size) return null
  const [fromRoot] = await hashesOf(store, stream, planRoot(from))
  const [toRoot] = await hashesOf(store, stream, planRoot(size))
  if (fromRoot === undefined || toRoot === undefined) return null
  const path = await hashesOf(store, stream, planConsistency(from, size))
  return {
    from,
    to: size,
    from_root: hashText(fromRoot),
    to_root: hashText(toRoot),
    path: path.map(hashText),
  }
}

/** Whether the proof shows that this text is a fact of the checkpoint, signed by a named key. */
export function checkFactProof(
  proof: FactProof,
  text: string,
  verifiers: readonly Verifier[],
): boolean {
  const opened = openCheckpoint(proof.checkpoint, verifiers)
  const leaf = factLeaf(text)
  if (!opened.ok || hashText(leaf) !== proof.leaf) return false
  const { size, root } = opened.checkpoint
  const path = proof.path.map(hashOfText)
  if (size !== proof.size || !equalBytes(root, hashOfText(proof.root))) return false
  return verifyInclusion({ index: proof.seq, size, leaf, path, root })
}

async function hashesOf(
  store: Store,
  stream: string,
  plan: ProofPlan,
): Promise<readonly Uint8Array[]> {
  return assemble(plan, await store.nodes(stream, nodesOf(plan)))
}

export function hashText(hash: Uint8Array): Digest {
  // 32 bytes in hex behind the prefix: the shape of a digest.
  return `sha256:${encodeHex(hash)}` as Digest
}

/** A text that is no hash becomes one of no bytes, which equals nothing. */
export function hashOfText(text: string): Uint8Array {
  const hash = isDigest(text) ? decodeHex(text.slice('sha256:'.length)) : null
  return hash ?? new Uint8Array()
}

export interface ComparedNote {
  readonly origin: string
  readonly size: number
  readonly root: Digest
  /** Signed by one of the named keys. */
  readonly believed: boolean
}

export interface NoteComparison {
  readonly relation: CheckpointRelation
  /** A fork that the keys prove, not only claim. */
  readonly proven: boolean
  readonly ours: ComparedNote
  readonly theirs: ComparedNote
}

export type ComparedNotes =
  | { readonly ok: true; readonly comparison: NoteComparison }
  | { readonly ok: false; readonly fault: Fault }

/**
 * `writ ledger compare`: what two checkpoints say of each other, as notes.
 *
 *     compareNotes(ours, theirs, verifiers) → { relation, fork, believed, ours, theirs } | fault
 *
 * Two believed checkpoints of one origin and size with different roots prove a fork to anyone. Of
 * different sizes the notes alone prove nothing: ask a store for a proof of extension.
 */
export function compareNotes(
  ours: string,
  theirs: string,
  verifiers: readonly Verifier[],
): ComparedNotes {
  const [left, right] = [checkpointOf(ours), checkpointOf(theirs)]
  if (left === null || right === null) {
    const place = left === null ? 'ours' : 'theirs'
    return { ok: false, fault: fault('ledger.checkpoint_malformed', place, null) }
  }
  const relation = compareCheckpoints(left, right)
  const told = { ours: tell(ours, left, verifiers), theirs: tell(theirs, right, verifiers) }
  const proven = relation === 'fork' && told.ours.believed && told.theirs.believed
  return { ok: true, comparison: { relation, proven, ...told } }
}

function checkpointOf(note: string): Checkpoint | null {
  return parseCheckpoint(parseNote(note)?.text ?? '')
}

function tell(note: string, { origin, size, root }: Checkpoint, verifiers: readonly Verifier[]) {
  const believed = openCheckpoint(note, verifiers).ok
  return { origin, size, root: hashText(root), believed }
}
