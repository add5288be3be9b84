/**
 * Going over a stream from its first fact: leaf, chain and tree are computed again from the bytes
 * alone. What they must equal (chain values, tiles, checkpoints) is compared by whoever holds it.
 *
 * Memory does not grow with the stream.
 */
import {
  canonicalJson,
  DOCUMENT_LIMITS,
  envelopeLimits,
  type Fault,
  fault,
  guardValue,
  isRefusal,
  isUuid,
  parseIsoMomentMs,
} from '../base/index.ts'
import { CHAIN_START, chainNext, type Fact, factLeaf, isPrincipal } from './fact.ts'
import { Growth, type StoredTile } from './growth.ts'
import { equalBytes } from './tree.ts'

export class Audit {
  readonly #growth = Growth.empty()
  #chain: Uint8Array = CHAIN_START

  get size(): number {
    return this.#growth.size
  }

  root(): Uint8Array {
    return this.#growth.root()
  }

  /** Takes the next fact; false when its stored chain value is not the one that follows. */
  take(text: string | Uint8Array, chain: Uint8Array): boolean {
    const leaf = factLeaf(text)
    this.#chain = chainNext(this.#chain, leaf)
    this.#growth.append(leaf)
    return equalBytes(this.#chain, chain)
  }

  /** The tiles that the facts taken since the last call have changed. */
  takeTiles(): readonly StoredTile[] {
    return this.#growth.takeChanges()
  }
}

export type Reading =
  | { readonly ok: true; readonly fact: Fact }
  | { readonly ok: false; readonly fault: Fault }

/** A record's payload lies two levels down. */
const FACT_LIMITS = envelopeLimits(envelopeLimits(DOCUMENT_LIMITS))
const FACT_KEYS = 'fact_id,occurred_at,principal,record,seq,source,stream'

/** Reads the text of a fact strictly: canonical, of the form of L-1, at its place. */
export function readFact(text: string, stream: string, seq: number): Reading {
  const place = `${stream}/${seq}`
  const broken = (message: string): Reading => ({
    ok: false,
    fault: fault('fact.malformed', place, null, { message }),
  })
  const value = parse(text)
  if (value === null) return broken('the fact is not a JSON object')
  if (canonicalJson(value) !== text) return broken('the fact is not in canonical form')
  if (Object.keys(value).sort().join() !== FACT_KEYS) return broken('the fact has other keys')
  const fact = value as unknown as Fact // Its keys are known; each value is looked at below.
  if (fact.seq !== seq || fact.stream !== stream) return broken('the fact stands at another place')
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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return isRefusal(guardValue(value, FACT_LIMITS)) ? null : value
  } catch {
    return null
  }
}
