/**
 * Audits a stream from its first fact: computes leaves, chain and tree again from the bytes alone.
 * The caller compares tiles and checkpoints; `take` compares the chain values that the caller
 * passes.
 *
 * Memory does not grow with the stream.
 */
import {
  DOCUMENT_LIMITS,
  envelopeLimits,
  type Fault,
  fault,
  guardValue,
  HASH_BYTES,
  isCanonicalText,
  isRefusal,
  isSurelyCanonical,
  isUuid,
  parseIsoMomentMs,
  sha256Into,
} from '../../base/index.ts'
import { CHAIN_START, type Fact, factLeaf, isPrincipal } from '../facts/fact.ts'
import { Growth, type StoredTile } from '../tree/growth.ts'
import { ENTRY_BYTES_MAX } from '../tree/tile.ts'
import { equalBytes, nodeHashAt } from '../tree/tree.ts'

export class Audit {
  readonly #growth = Growth.empty()
  readonly #chain = CHAIN_START.slice()
  readonly #leaf = new Uint8Array(HASH_BYTES)

  get size(): number {
    return this.#growth.size
  }

  root(): Uint8Array {
    return this.#growth.root()
  }

  /**
   * Takes the next fact. Returns false if its stored chain value, as bytes or in upper-case hex, is
   * not the computed one.
   */
  take(text: string | Uint8Array, chain: Uint8Array | string): boolean {
    this.#leaf.set(factLeaf(text))
    return this.#follow(chain)
  }

  /** The same for a fact with the leaf's 0x00 already in front, as blocks of facts are read. */
  takePrefixed(entry: Uint8Array, chain: Uint8Array): boolean {
    sha256Into(entry, this.#leaf, 0)
    return this.#follow(chain)
  }

  /** Returns the tiles that changed since the last call. */
  takeTiles(): readonly StoredTile[] {
    return this.#growth.takeChanges()
  }

  #follow(chain: Uint8Array | string): boolean {
    nodeHashAt(this.#chain, 0, this.#leaf, 0, this.#chain, 0)
    this.#growth.append(this.#leaf)
    return typeof chain === 'string' ? isHexOf(chain, this.#chain) : equalBytes(this.#chain, chain)
  }
}

const DIGITS = '0123456789ABCDEF'

/** Compares hex with bytes. Databases return text faster than bytes, so it is not decoded. */
function isHexOf(text: string, bytes: Uint8Array): boolean {
  if (text.length !== 2 * bytes.length) return false
  for (let at = 0; at < bytes.length; at++) {
    // `at` is below `bytes.length`.
    const byte = bytes[at] as number
    if (text.charCodeAt(2 * at) !== DIGITS.charCodeAt(byte >> 4)) return false
    if (text.charCodeAt(2 * at + 1) !== DIGITS.charCodeAt(byte & 15)) return false
  }
  return true
}

export type ParsedFact =
  | { readonly ok: true; readonly fact: Fact }
  | { readonly ok: false; readonly fault: Fault }

/** A record's payload lies two levels down. */
const FACT_LIMITS = envelopeLimits(envelopeLimits(DOCUMENT_LIMITS))
const FACT_KEYS = 'fact_id,occurred_at,principal,record,seq,source,stream'

/** Reads the text of a fact strictly: canonical, of the form of L-1, at its place. */
export function readFact(text: string, stream: string, seq: number): ParsedFact {
  const place = `${stream}/${seq}`
  const broken = (message: string): ParsedFact => ({
    ok: false,
    fault: fault('fact.malformed', place, null, { message }),
  })
  const value = parse(text)
  if (value === null) return broken('the fact is not a JSON object')
  if (!isSound(text, value)) return broken('the fact is not in canonical form')
  // Canonical keys are in order.
  if (Object.keys(value).join() !== FACT_KEYS) return broken('the fact has other keys')
  const fact = value as unknown as Fact // Its keys are known; each value is looked at below.
  if (fact.seq !== seq || fact.stream !== stream)
    return broken('the fact is recorded at another place')
  if (typeof fact.fact_id !== 'string' || !isUuid(fact.fact_id)) return broken('the id is no UUID')
  if (typeof fact.occurred_at !== 'string' || parseIsoMomentMs(fact.occurred_at) === null) {
    return broken('the time is no ISO 8601 moment')
  }
  if (typeof fact.source !== 'string') return broken('the source is no text')
  if (!isPrincipal(fact.principal)) return broken('the principal is none')
  if (typeof fact.record?.type !== 'string') return broken('the record has no type')
  return { ok: true, fact }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text)
    return typeof value !== 'object' || value === null || Array.isArray(value) ? null : value
  } catch {
    return null
  }
}

/** Nothing that a document may not hold, in canonical form; most facts are seen so at a glance. */
function isSound(text: string, value: object): boolean {
  // So short a text holds fewer values than the limit.
  const isShort = text.length <= ENTRY_BYTES_MAX
  if (isShort && isSurelyCanonical(text, FACT_LIMITS.depthMax)) return true
  return !isRefusal(guardValue(value, FACT_LIMITS)) && isCanonicalText(text, value)
}
