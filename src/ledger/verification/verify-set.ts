/**
 * A set of hashes that holds millions of them in little memory: 128 bits of each, in one flat table.
 * What is compared are parts of SHA-256, so two different things meet by chance never.
 */
const WORDS = 4
const SLOTS_MIN = 1024

export class HashSet {
  #words = new Uint32Array(SLOTS_MIN * WORDS)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(hash: Uint8Array): boolean {
    return this.#isFull(this.#find(this.#words, wordsOf(hash)))
  }

  /** False when it was there already. */
  add(hash: Uint8Array): boolean {
    const words = wordsOf(hash)
    const slot = this.#find(this.#words, words)
    if (this.#isFull(slot)) return false
    this.#words.set(words, slot)
    this.#size++
    if (this.#size * WORDS * 2 > this.#words.length) this.#grow()
    return true
  }

  #isFull(slot: number): boolean {
    return isTaken(this.#words, slot)
  }

  /** The slot of these words, or the free one where they belong. */
  #find(table: Uint32Array, words: Uint32Array): number {
    const mask = table.length / WORDS - 1
    for (let index = (words[0] as number) & mask; ; index = (index + 1) & mask) {
      const slot = index * WORDS
      if (!isTaken(table, slot) || isSame(table, slot, words)) return slot
    }
  }

  #grow(): void {
    const larger = new Uint32Array(this.#words.length * 2)
    for (let slot = 0; slot < this.#words.length; slot += WORDS) {
      if (!isTaken(this.#words, slot)) continue
      const words = this.#words.subarray(slot, slot + WORDS)
      larger.set(words, this.#find(larger, words))
    }
    this.#words = larger
  }
}

/** Scratch space of one question at a time; nothing reads it after the call that filled it. */
const ASKED = new Uint32Array(WORDS)
const BYTES = new Uint8Array(ASKED.buffer)

/** The last word is never 0 in a full slot. */
function wordsOf(hash: Uint8Array): Uint32Array {
  for (let at = 0; at < BYTES.length; at++) BYTES[at] = hash[at] as number
  if (ASKED[WORDS - 1] === 0) ASKED[WORDS - 1] = 1
  return ASKED
}

function isTaken(table: Uint32Array, slot: number): boolean {
  return table[slot + WORDS - 1] !== 0
}

function isSame(table: Uint32Array, slot: number, words: Uint32Array): boolean {
  for (let word = 0; word < WORDS; word++) if (table[slot + word] !== words[word]) return false
  return true
}
