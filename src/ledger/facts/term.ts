/**
 * Terms: the values by which queries find facts, apart from stream and time (L-6). They come from the
 * record itself, so an index can always be rebuilt from the facts.
 */
import { field } from '../../contracts/index.ts'

/** The terms that a query may name, and the places of each in a payload. */
export const TERM_PLACES = {
  action: [['action_id'], ['descriptor', 'action_id']],
  task: [['act_task_id']],
  run: [['run_id']],
} as const satisfies Record<string, readonly (readonly string[])[]>

/**
 * Returns the terms of a record: from its payload, or from `refs` if the payload is kept elsewhere.
 */
export function termsOf(record: {
  readonly type: string
  readonly payload?: unknown
  readonly refs?: Readonly<Record<string, string>>
}): Readonly<Record<string, string>> {
  const terms: Record<string, string> = {}
  for (const [term, places] of Object.entries(TERM_PLACES)) {
    const value =
      record.payload === undefined
        ? field(record.refs, term)
        : places.map((steps) => walk(record.payload, steps)).find(isTerm)
    if (isTerm(value)) terms[term] = value
  }
  return terms
}

const TERM_LENGTH_MAX = 200

function isTerm(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TERM_LENGTH_MAX
}

function walk(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce(field, value)
}

/**
 * A fingerprint of a set of index rows that does not depend on their order: two sums of 32 bits over a
 * keyed hash of each row, and their count. The key is fresh for every verification, so a changed index
 * cannot be made to fit it. It needs no memory for the rows.
 */
export class TermSum {
  readonly #key: Uint32Array
  #low = 0
  #high = 0
  #count = 0

  /** `key` is four random words. */
  constructor(key: Uint32Array) {
    this.#key = key
  }

  add(field: number, value: string, seq: number): void {
    let low = (this.#key[0] ?? 0) ^ field
    let high = (this.#key[1] ?? 0) ^ value.length
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at)
      low = Math.imul(low ^ code, 0x9e3779b1)
      low ^= low >>> 15
      high = Math.imul(high + code, 0x85ebca6b)
      high ^= high >>> 13
    }
    low = mixed(low ^ (seq | 0) ^ (this.#key[2] ?? 0))
    high = mixed(high ^ Math.imul(seq | 0, 0xc2b2ae35) ^ Math.floor(seq / 2 ** 32))
    this.#low = (this.#low + mixed(low ^ high)) >>> 0
    this.#high = (this.#high + mixed(high ^ (this.#key[3] ?? 0))) >>> 0
    this.#count++
  }

  equals(other: TermSum): boolean {
    return this.#low === other.#low && this.#high === other.#high && this.#count === other.#count
  }
}

function mixed(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
