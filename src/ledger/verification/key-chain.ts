/**
 * Which keys sign a stream now, proven from one key that a person took from the home: each change of keys
 * lies in a checkpoint that a key signed which counted before, and all of them lie in the newest one.
 *
 *     followKeyChain(chain, trusted) → { keys } | { wrong }
 *
 * INVARIANT (no key certifies itself): a key that a fact lets sign counts once the kept checkpoint with that
 *   fact, or the newest one, is signed by a key that counts already.
 */
import { factLeaf } from '../facts/fact.ts'
import { openCheckpoint, parseCheckpoint } from '../notes/checkpoint.ts'
import {
  parseNote,
  parseVerifierKey,
  type Verifier,
  type VerifierKey,
  verifierFor,
  verifierKey,
} from '../notes/note.ts'
import { verifyInclusion } from '../tree/proof.ts'
import { equalBytes } from '../tree/tree.ts'
import { unfit, type Wrong } from './verify-keys.ts'
import { hashOfText } from './verify-proof.ts'

/** A fact that begins or changes the keys of a stream. */
export interface KeyChange {
  readonly seq: number
  /** The canonical text. */
  readonly fact: string
  /** From the fact to the root of the newest checkpoint. */
  readonly path: readonly string[]
  /** The first kept checkpoint with the fact, and the path to its root. */
  readonly kept: { readonly checkpoint: string; readonly path: readonly string[] } | null
}

export interface KeyChain {
  /** The newest checkpoint of the stream. */
  readonly head: string
  /** In the order of the stream. */
  readonly changes: readonly KeyChange[]
}

export type FollowedKeys =
  | { readonly ok: true; readonly keys: readonly VerifierKey[] }
  | { readonly ok: false; readonly wrong: Wrong }

/**
 * Returns the trusted keys with every change of the stream; the first key of a home of one machine is named in
 * its host's stream alone. Total on hostile input. Names of trusted keys do not count.
 */
export function followKeyChain(
  { head, changes }: KeyChain,
  trusted: readonly VerifierKey[],
): FollowedKeys {
  const origin = parseCheckpoint(parseNote(head)?.text ?? '')?.origin ?? ''
  const named = trusted.map(({ type, publicKey }) => verifierKey(origin, type, publicKey))
  let counted: readonly VerifierKey[] = named
  let all: readonly VerifierKey[] = named
  let last = -1
  for (const change of changes) {
    const payload = payloadOf(change.fact)
    if (change.seq <= last || !isOf(payload, change.seq, origin)) {
      return { ok: false, wrong: unfit('what should be a change of keys is none of this stream') }
    }
    last = change.seq
    const { kept } = change
    if (kept !== null && isIn(change, kept.checkpoint, kept.path, counted))
      counted = changed(counted, payload)
    all = changed(all, payload)
  }
  const isWhole =
    isSigned(head, counted) && changes.every((one) => isIn(one, head, one.path, counted))
  if (isWhole) return { ok: true, keys: all }
  const message = 'the newest checkpoint is signed by no key that the trusted ones prove'
  return { ok: false, wrong: { code: 'ledger.signers', message } }
}

/** As a machine of the home writes it: with its origin, and the size of the tree with it. */
function isOf(payload: Payload, seq: number, origin: string): boolean {
  const size = payload['change'] === undefined ? payload['last_size'] : payload['size']
  const isFirst = payload['old_key'] === null
  return payload['origin'] === origin && (isFirst || size === seq + 1)
}

type Payload = Readonly<Record<string, unknown>>

/** Of the two types of facts that change keys only that of machines has a `change`. */
function payloadOf(text: string): Payload {
  try {
    const { record } = JSON.parse(text)
    if (record?.type === 'machine_v1') return { ...record.payload }
    return record?.type === 'key_rotated_v1' ? { ...record.payload, change: undefined } : {}
  } catch {
    return {}
  }
}

function changed(keys: readonly VerifierKey[], payload: Payload): readonly VerifierKey[] {
  const { change, key, old_key, new_key } = payload
  const [added, ended] =
    change === undefined ? [new_key, old_key] : change === 'removed' ? [null, key] : [key, null]
  const [more, less] = [keyOf(added), keyOf(ended)]
  const gone = [more, less].filter((one) => one !== null)
  const left = keys.filter((one) => !gone.some((key) => equalBytes(key.publicKey, one.publicKey)))
  return more === null ? left : [...left, more]
}

function keyOf(text: unknown): VerifierKey | null {
  return typeof text === 'string' ? parseVerifierKey(text) : null
}

function isSigned(note: string, keys: readonly VerifierKey[]): boolean {
  return openCheckpoint(note, verifiersOf(keys)).ok
}

function isIn(
  { seq, fact }: KeyChange,
  note: string,
  path: readonly string[],
  keys: readonly VerifierKey[],
): boolean {
  const opened = openCheckpoint(note, verifiersOf(keys))
  if (!opened.ok) return false
  const { size, root } = opened.checkpoint
  const hashes = path.map(hashOfText)
  return verifyInclusion({ index: seq, size, leaf: factLeaf(fact), path: hashes, root })
}

function verifiersOf(keys: readonly VerifierKey[]): readonly Verifier[] {
  return keys.map(verifierFor).filter((one) => one !== null)
}
