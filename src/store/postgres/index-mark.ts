/**
 * The mark of the query index in PostgreSQL: how far the index goes, with the chain value of the last
 * fact in it, signed with the ledger's key.
 *
 * INVARIANT (a mark is the ledger's own): every role that may append can call the SQL function that
 * moves marks, but only a host with the ledger's key can sign a mark that counts.
 */
import { FaultError } from '../../base/index.ts'
import {
  decodeBase64,
  encodeBase64,
  parseVerifierKey,
  type Verifier,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { publicKeyOf, signerFor } from '../keys/ed25519.ts'
import { readPublicKeys } from '../keys/keys.ts'
import { signingKey } from '../streams/stream-state.ts'

/** A stream as marks name it. */
export interface MarkedStream {
  readonly name: string
  readonly origin: string
  /** Its newest checkpoint, which says whose turn it is to sign. */
  readonly note: string
}

export interface MarkKeys {
  /** Returns the key of that id under that name; null when it is not one of the ledger's. */
  verifier(origin: string, keyId: number): Verifier | null
  /** Returns null on a host that has no key to sign with. */
  sign(stream: MarkedStream, text: string): { keyId: number; signature: Uint8Array } | null
}

const SEQ_DIGITS = 16
/** The part of a mark that the facts decide: the seq, and the chain value of that fact. */
const BOUND = /^(\d{16}) [0-9a-f]{64}$/

export function boundOf(seq: number, chain: string): string {
  return `${String(seq).padStart(SEQ_DIGITS, '0')} ${chain}`
}

/** Returns the mark as it is stored; null when nothing here can sign it. */
export function sealMark(keys: MarkKeys, stream: MarkedStream, bound: string): string | null {
  const signed = keys.sign(stream, textOf(stream, bound))
  if (signed === null) return null
  const bytes = new Uint8Array(4 + signed.signature.length)
  new DataView(bytes.buffer).setUint32(0, signed.keyId)
  bytes.set(signed.signature, 4)
  return `${bound} ${encodeBase64(bytes)}`
}

/** Returns how many facts a stored mark covers; null when no key of the ledger signed it. */
export function openMark(keys: MarkKeys, stream: MarkedStream, stored: string): number | null {
  const at = stored.lastIndexOf(' ')
  const [bound, bytes] = [stored.slice(0, at), decodeBase64(stored.slice(at + 1))]
  const [, seq] = BOUND.exec(bound) ?? []
  if (seq === undefined || bytes === null || bytes.length < 5) return null
  const keyId = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
  const verifier = keys.verifier(stream.origin, keyId)
  if (verifier?.verify(textOf(stream, bound), bytes.subarray(4)) !== true) return null
  return Number(seq) + 1
}

/** No checkpoint begins like this: its first line is an origin, which holds no space. */
function textOf({ origin }: MarkedStream, bound: string): string {
  return `writ index mark\n${origin}\n${bound}\n`
}

/** The keys of a host that appends. */
export function markKeysOf(keys: KeyRing): MarkKeys {
  return {
    verifier(origin, keyId) {
      const key = keys.find(origin, keyId)
      const known = key === null ? null : publicKeyOf(key, origin)
      const found = known ?? keys.certified?.(origin, keyId) ?? null
      return found === null ? null : verifierFor(found)
    },
    sign({ name, origin, note }, text) {
      try {
        const signer = signerFor(signingKey(name, origin, note, keys), origin)
        return { keyId: signer.keyId, signature: signer.sign(text) }
      } catch (error) {
        if (error instanceof FaultError) return null
        throw error
      }
    },
  }
}

/** The public keys in a directory, for readers. Without any no mark counts and the facts are read. */
export function publicMarkKeys(directory: string | null): MarkKeys {
  return {
    verifier(origin, keyId) {
      for (const text of directory === null ? [] : readPublicKeys(directory)) {
        const key = parseVerifierKey(text)
        const named = key === null ? null : verifierKey(origin, key.type, key.publicKey)
        if (named?.keyId === keyId) return verifierFor(named)
      }
      return null
    },
    sign: () => null,
  }
}
