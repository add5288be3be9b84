/**
 * The heads of a ledger's streams: read from their stored notes, and signed together as the checkpoint
 * of the home.
 *
 * INVARIANT (the ledger names its key): the key in use is the last signer of the host's newest
 * checkpoint. What the file `keys/current` says changes nothing.
 */
import { faultError } from '../../base/index.ts'
import {
  HOST_STREAM,
  type Page,
  parseCheckpoint,
  parseNote,
  type SignedHead,
  type Store,
  signHomeCheckpoint,
} from '../../ledger/index.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { type LedgerKey, signerFor } from '../keys/ed25519.ts'
import { lostStream } from './stream-start.ts'
import { signingKey, storedFact } from './stream-state.ts'

export interface HeadRow {
  readonly name: string
  readonly origin: string
  readonly note: string
}

/** Returns a head as its stored note tells it. Fails if the note is no checkpoint. */
export function readHead({ name: stream, origin, note }: HeadRow): SignedHead {
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
  if (checkpoint === null) {
    throw faultError('ledger.tampered', stream, `the newest checkpoint of \`${stream}\` is none`)
  }
  const { size, root } = checkpoint
  return { stream, origin, size, root, checkpoint: note }
}

/** Returns the ledger's own name: the origin of its streams without the stream. */
export function ledgerNameOf({ origin, stream }: Pick<SignedHead, 'origin' | 'stream'>): string {
  return origin.slice(0, -(stream.length + 1))
}

/** Returns the key that signs now. Fails if its private half is not among the keys. */
export function keyInUse(host: SignedHead, keys: KeyRing): LedgerKey {
  return signingKey(host.stream, host.origin, host.checkpoint, keys)
}

/** Returns the heads of all streams. Fails if the host's stream names one that has none. */
export async function wholeHeads(store: Store): Promise<readonly SignedHead[]> {
  const names = await begunStreams(store)
  const heads = await store.heads()
  const lost = names.find((name) => !heads.some(({ stream }) => stream === name))
  if (lost !== undefined) throw lostStream(lost)
  return heads
}

const PAGE = 1_000

async function begunStreams(store: Store): Promise<readonly string[]> {
  const names: string[] = []
  const query = { stream: HOST_STREAM, type: 'key_rotated_v1', limit: PAGE } as const
  for (let cursor: number | null = -1; cursor !== null; ) {
    const page: Page = await store.find({ ...query, order: 'oldest_first', cursor })
    for (const { seq, text } of page.facts) {
      const { record } = storedFact(text, HOST_STREAM, seq)
      // Facts of this type always hold their payload, unless they were changed.
      const payload = record.payload as { readonly stream?: unknown } | undefined
      if (typeof payload?.stream === 'string') names.push(payload.stream)
    }
    cursor = page.next
  }
  return names
}

/** Signs the heads of all streams, as one moment has them. */
export async function signHome(store: Store, keys: KeyRing): Promise<string> {
  const heads = await wholeHeads(store)
  const host = heads.find(({ stream }) => stream === HOST_STREAM)
  if (host === undefined) {
    throw faultError('ledger.stream_missing', HOST_STREAM)
  }
  const name = ledgerNameOf(host)
  const note = signHomeCheckpoint(name, heads, [signerFor(keyInUse(host, keys), name)])
  if (note === null) throw faultError('ledger.stream_missing', HOST_STREAM)
  return note
}
