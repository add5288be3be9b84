/**
 * The changes of keys of a stream, each with its proofs, for a client that trusts one key of the home. The
 * newest checkpoint carries the signature of this machine as well: the client may know this key alone.
 */
import { FaultError } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import {
  type Fact,
  formatNote,
  inclusionPath,
  type KeyChain,
  type KeyChange,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  type SignedHead,
  type Store,
  signNote,
  verifierFor,
} from '../../ledger/index.ts'
import { type KeyRing, publicKeyOf, signerFor } from '../keys/ed25519.ts'

const PAGE = 100
const TYPES = ['key_rotated_v1', 'machine_v1'] as const

export async function keyChainOf(store: Store, keys: KeyRing, head: SignedHead): Promise<KeyChain> {
  const found: { readonly seq: number; readonly text: string }[] = []
  for (const type of TYPES) found.push(...(await factsOf(store, head, type)))
  found.sort((one, other) => one.seq - other.seq)
  const changes: KeyChange[] = []
  for (const { seq, text: fact } of found) {
    const path = await inclusionPath(store, head.stream, seq, head.size)
    changes.push({ seq, fact, path, kept: await keptOf(store, head, seq) })
  }
  return { head: signedHere(head, keys), changes }
}

async function factsOf(store: Store, { stream, size }: SignedHead, type: string) {
  const facts: { readonly seq: number; readonly text: string }[] = []
  for (let cursor: number | null = -1; cursor !== null; ) {
    const query = { stream, type, cursor, limit: PAGE, order: 'oldest_first' } as const
    const page: Awaited<ReturnType<Store['find']>> = await store.find(query)
    facts.push(...page.facts.filter(({ seq, text }) => seq < size && isOwn(text, stream)))
    cursor = page.next
  }
  return facts
}

/** The host's stream also names the first key of each other stream. */
function isOwn(text: string, stream: string): boolean {
  // Records of these types are short and lie in their facts.
  const { record } = JSON.parse(text) as Fact
  return field(record.payload, 'stream') === stream
}

/** Null for a fact that no kept checkpoint of this tree has yet. */
async function keptOf(store: Store, head: SignedHead, seq: number): Promise<KeyChange['kept']> {
  const [checkpoint] = await store.checkpoints(head.stream, seq + 1, 1)
  const size = parseCheckpoint(parseNote(checkpoint ?? '')?.text ?? '')?.size ?? 0
  if (checkpoint === undefined || size <= seq || size > head.size) return null
  return { checkpoint, path: await inclusionPath(store, head.stream, seq, size) }
}

/** Only an end that a machine of the home has signed is signed here as well. */
function signedHere({ checkpoint, origin }: SignedHead, keys: KeyRing): string {
  const note = parseNote(checkpoint)
  const own = ownOf(keys)
  if (note === null || own === null) return checkpoint
  const signer = signerFor(own, origin)
  if (note.signatures.some(({ keyId }) => keyId === signer.keyId)) return checkpoint
  const known = note.signatures.flatMap(({ keyId }) => keys.certified?.(origin, keyId) ?? [])
  const verifiers = [...known, publicKeyOf(own, origin)].flatMap((key) => verifierFor(key) ?? [])
  if (!openCheckpoint(checkpoint, verifiers).ok) return checkpoint
  const more = signNote(note.text, [signer]).signatures
  return formatNote({ text: note.text, signatures: [...note.signatures, ...more] })
}

/** Null where one machine writes the ledger, and for a machine that may not sign. */
function ownOf(keys: KeyRing) {
  try {
    return keys.own?.() ?? null
  } catch (error) {
    if (error instanceof FaultError) return null
    throw error
  }
}
