/**
 * `writ ledger compare`: what two checkpoints say of each other, as notes.
 *
 *     compareNotes(ours, theirs, verifiers) → { relation, fork, believed, ours, theirs } | fault
 *
 * Two believed checkpoints of one origin and size with different roots prove a fork to anyone. Of
 * different sizes the notes alone prove nothing: ask a store for a proof of extension.
 */
import { type Digest, type Fault, fault } from '../../base/index.ts'
import {
  type Checkpoint,
  type CheckpointRelation,
  compareCheckpoints,
  openCheckpoint,
  parseCheckpoint,
} from '../notes/checkpoint.ts'
import { parseNote, type Verifier } from '../notes/note.ts'
import { hashText } from './verify-proof.ts'

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
