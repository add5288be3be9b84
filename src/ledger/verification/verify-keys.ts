/**
 * The keys that may sign each size of a stream (L-2). The host's stream names the first key. Each
 * `key_rotated_v1` of the stream itself names the next one. At the size of that fact both keys sign,
 * the old one first; the old key signs no larger size.
 *
 * Several machines write one ledger with a key each: `machine_v1` of the stream lets another key
 * sign, or ends that. The checkpoint of a size with such a fact is kept. A key that joined signs only
 * sizes beyond that checkpoint, so no key certifies itself.
 */

import type { Code } from '../../base/index.ts'
import { type Checkpoint, formatCheckpoint, parseCheckpoint } from '../notes/checkpoint.ts'
import {
  formatNote,
  formatVerifierKey,
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type Verifier,
  type VerifierKey,
  verifierKey,
} from '../notes/note.ts'
import { equalBytes } from '../tree/tree.ts'

/** Makes the verifier of a key; null when its algorithm is not known. */
export type VerifierMaker = (key: VerifierKey) => Verifier | null

/** What is wrong, before it is known where. */
export interface Wrong {
  readonly code: Code
  readonly message: string
}

interface Span {
  readonly key: VerifierKey
  /** The first size that the key may sign. */
  from: number
  /** The last size that the key may sign; null while it is in use. */
  lastSize: number | null
  /** The key that it followed in a rotation at `from`; both sign that size. */
  readonly after: VerifierKey | null
  /** The size with the fact that let a machine's key sign; null for other keys. */
  readonly joinedAt: number | null
}

export class KeySchedule {
  readonly origin: string
  readonly #spans: Span[] = []
  readonly #changes = new Set<number>()

  constructor(origin: string) {
    this.origin = origin
  }

  get keys(): readonly VerifierKey[] {
    return this.#spans.map(({ key }) => key)
  }

  /** Returns the keys that may sign now. */
  get inForce(): readonly VerifierKey[] {
    return this.#spans.filter(({ lastSize }) => lastSize === null).map(({ key }) => key)
  }

  /** Returns each key with the sizes that it may sign, for a page that people read. */
  spans(): readonly { readonly key: string; readonly from: number; readonly to: number | null }[] {
    return this.#spans.map(({ key, from, lastSize }) => ({
      key: formatVerifierKey(key),
      from,
      to: lastSize,
    }))
  }

  /** Returns the sizes with a change of keys, in their order. */
  get changes(): readonly number[] {
    return [...this.#changes].sort((a, b) => a - b)
  }

  /** Takes the first key from the text in a fact. Returns the reason if it cannot be one. */
  begin(text: unknown): Wrong | null {
    const key = this.#read(text)
    if (key === null) return unfit('the first key is no key of this stream')
    this.#spans.push({ key, from: 1, lastSize: null, after: null, joinedAt: null })
    return null
  }

  /** Takes the payload of the rotation at `seq`. */
  rotate(payload: unknown, seq: number): Wrong | null {
    const { origin, old_key: oldKey, new_key: newKey, last_size: lastSize } = fieldsOf(payload)
    if (origin !== this.origin) return unfit('the rotation names another origin')
    if (lastSize !== seq + 1) return unfit('the last size of the old key is not that of the fact')
    // Without a known first key, takes it from the rotation; the pinned keys decide whether it counts.
    const wrong = this.#spans.length === 0 ? this.begin(oldKey) : null
    if (wrong !== null) return wrong
    const current = this.#spanOf(oldKey)
    if (current === undefined) {
      return unfit('the old key of the rotation is not the one that signed so far')
    }
    const key = this.#read(newKey)
    if (key === null) return unfit('the new key is no key of this stream')
    current.lastSize = seq + 1
    this.#changes.add(seq + 1)
    this.#spans.push({ key, from: seq + 1, lastSize: null, after: current.key, joinedAt: null })
    return null
  }

  /** Takes the payload of the `machine_v1` at `seq`. */
  change(payload: unknown, seq: number): Wrong | null {
    const { origin, key: text, size, change } = fieldsOf(payload)
    if (origin !== this.origin) return unfit('the machine is of another origin')
    if (size !== seq + 1) return unfit('the size of the change is not that of the fact')
    const key = this.#read(text)
    if (key === null) return unfit('the key of the machine is no key of this stream')
    const known = this.#spanOf(text)
    this.#changes.add(seq + 1)
    if (change === 'removed') {
      if (known === undefined) return unfit('the key that is removed does not sign')
      known.lastSize = seq
      return null
    }
    if (this.keys.some((one) => one.keyId === key.keyId)) return unfit('the key was known before')
    this.#spans.push({ key, from: seq + 2, lastSize: null, after: null, joinedAt: seq + 1 })
    return null
  }

  /**
   * Binds every change to the kept checkpoints, given by their sizes in order: a key that joined signs
   * only beyond the first kept checkpoint with its fact. Returns the sizes of changes without one.
   */
  settle(kept: readonly number[]): readonly number[] {
    const boundOf = (size: number): number | undefined => kept.find((one) => one >= size)
    for (const span of this.#spans) {
      const bound = span.joinedAt === null ? undefined : boundOf(span.joinedAt)
      if (bound !== undefined) span.from = bound + 1
    }
    return this.changes.filter((size) =>
      this.#isRotation(size) ? !kept.includes(size) : boundOf(size) === undefined,
    )
  }

  #isRotation(size: number): boolean {
    return this.#spans.some(({ after, from }) => after !== null && from === size)
  }

  #spanOf(text: unknown): Span | undefined {
    return this.#spans.find(
      ({ key, lastSize }) => lastSize === null && formatVerifierKey(key) === text,
    )
  }

  #read(text: unknown): VerifierKey | null {
    const key = typeof text === 'string' ? parseVerifierKey(text) : null
    return key?.name === this.origin && key.type === SIGNATURE_TYPES.ed25519 ? key : null
  }

  /** Copies the schedule under another name, such as the ledger's own. */
  under(name: string): KeySchedule {
    const schedule = new KeySchedule(name)
    const renamed = ({ type, publicKey }: VerifierKey): VerifierKey =>
      verifierKey(name, type, publicKey)
    for (const span of this.#spans) {
      const after = span.after === null ? null : renamed(span.after)
      schedule.#spans.push({ ...span, key: renamed(span.key), after })
    }
    return schedule
  }

  /** Returns the keys that may sign a checkpoint of that size, in their order. */
  signersOf(size: number): readonly VerifierKey[] {
    return this.#spans
      .filter(({ from, lastSize }) => size >= from && (lastSize === null || size <= lastSize))
      .map(({ key }) => key)
  }

  /** Returns whether these are exactly the signers that a checkpoint of that size has. */
  isSignedBy(size: number, signers: readonly VerifierKey[]): boolean {
    const rotated = this.#spans.find(({ after, from }) => after !== null && from === size)
    const [first, second, ...others] = signers.map(({ keyId }) => keyId)
    if (first === undefined || others.length > 0) return false
    if (rotated !== undefined) return first === rotated.after?.keyId && second === rotated.key.keyId
    return second === undefined && this.signersOf(size).some(({ keyId }) => keyId === first)
  }

  /**
   * Returns whether one of the keys is among the pinned public keys; names do not count. `signers`: the ids of
   * the keys that signed what was verified. A key that joined has to be one of them: anyone can write into a
   * history of their own that a key joined it.
   */
  hasPinned(pinned: readonly VerifierKey[], signers: ReadonlySet<number>): boolean {
    return this.#spans.some(
      ({ key, joinedAt }) =>
        (joinedAt === null || signers.has(key.keyId)) &&
        pinned.some(
          ({ type, publicKey }) => type === key.type && equalBytes(publicKey, key.publicKey),
        ),
    )
  }
}

function fieldsOf(payload: unknown): Readonly<Record<string, unknown>> {
  return typeof payload === 'object' && payload !== null ? { ...payload } : {}
}

export function unfit(message: string): Wrong {
  return { code: 'ledger.key_unfit', message }
}

/** Reads a stored note, which must be exactly as a writer writes it, without extension lines. */
export function readStoredNote(note: string, origin: string): Checkpoint | Wrong {
  const parsed = parseNote(note)
  if (parsed === null || formatNote(parsed) !== note) {
    return { code: 'ledger.note_malformed', message: 'the checkpoint is not a signed note' }
  }
  const checkpoint = parseCheckpoint(parsed.text)
  if (checkpoint === null || formatCheckpoint({ ...checkpoint, extensions: [] }) !== parsed.text) {
    return { code: 'ledger.checkpoint_malformed', message: 'the note is not a checkpoint of ours' }
  }
  if (checkpoint.origin !== origin) {
    return { code: 'ledger.checkpoint_malformed', message: 'the checkpoint is of another origin' }
  }
  return checkpoint
}

export function isWrong(value: Checkpoint | Wrong): value is Wrong {
  return 'code' in value
}

/**
 * Checks the signatures of a note against the schedule. `exact` is for notes of the ledger itself: it
 * requires the signers of that size in order, and no others. With `any`, a note may carry other
 * signatures, such as those of witnesses, but needs one by a key of the schedule.
 */
export function checkSigners(
  note: string,
  size: number,
  schedule: KeySchedule,
  verifierOf: VerifierMaker,
  demand: 'exact' | 'any',
): Wrong | null {
  const parsed = parseNote(note)
  if (parsed === null) return { code: 'ledger.note_malformed', message: 'the note cannot be read' }
  const wanted = schedule.signersOf(size)
  const known = parsed.signatures.map(({ name, keyId }) =>
    schedule.keys.find((key) => key.name === name && key.keyId === keyId),
  )
  const retired = known.find((key) => key !== undefined && !wanted.includes(key))
  if (retired !== undefined) {
    const message = `the key ${formatVerifierKey(retired)} may not sign the size ${size}`
    return { code: 'ledger.key_retired', message }
  }
  const signers = known.filter((key) => key !== undefined)
  const isComplete =
    demand === 'exact'
      ? signers.length === known.length && schedule.isSignedBy(size, signers)
      : signers.length > 0
  if (!isComplete || wanted.length === 0) {
    return { code: 'ledger.signers', message: `the size ${size} is not signed by its keys` }
  }
  const isTrue = parsed.signatures.every((signature, index) => {
    const key = known[index]
    return key === undefined || verifierOf(key)?.verify(parsed.text, signature.bytes) === true
  })
  if (isTrue) return null
  return {
    code: 'ledger.signature_invalid',
    message: `a signature of the size ${size} does not fit`,
  }
}
