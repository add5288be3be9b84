/**
 * Finds the first rule that matches without testing each. Most conditions of rules read one slot:
 * it equals a word, its set holds a word, or it is present. For every slot the sieve has a bit mask
 * of the rules that each value lets through. Rules that pass all slots then test the rest of their
 * guard.
 *
 * INVARIANT (first stays first): bit n is the n-th rule in the order in which the first match
 * decides, and the lowest open bit is tested first.
 */
import type { Matcher } from './matcher.ts'
import type { InputValue, Projection } from './projection.ts'

/** A condition of a rule on one slot. If `words` is null, the slot only has to be present. */
export interface Condition {
  readonly slot: number
  readonly words: ReadonlySet<InputValue> | null
  /** The slot holds a set, which must share a word. */
  readonly isSet: boolean
  readonly isNegated: boolean
}

/** A rule for the sieve: its conditions on slots, and a matcher for the rest of its guard. */
export interface Sifted {
  readonly conditions: readonly Condition[]
  readonly rest: Matcher | null
}

interface Mesh {
  readonly slot: number
  /** Rules that pass if the slot is missing. */
  readonly missing: number
  /** Rules that pass if the slot holds a value that no rule names; for a set, if it is present. */
  readonly other: number
  /** For a scalar, the rules that pass with this value; for a set, those that ask for this word. */
  readonly byWord: ReadonlyMap<unknown, number>
  /** For a set, the rules that ask for some word of it; null for a scalar. */
  readonly asking: number | null
}

const BITS = 32

/** Returns the index of the first rule that matches, or -1. */
type Sieve = (seen: Projection) => number

export function sieveOf(rules: readonly Sifted[]): Sieve {
  const sieves: Sieve[] = []
  for (let start = 0; start < rules.length; start += BITS)
    sieves.push(smallSieve(rules.slice(start, start + BITS)))
  const [only] = sieves
  if (only !== undefined && sieves.length === 1) return only
  return (seen) => {
    for (let index = 0; index < sieves.length; index++) {
      // `index` is below `sieves.length`.
      const found = (sieves[index] as Sieve)(seen)
      if (found >= 0) return index * BITS + found
    }
    return -1
  }
}

function smallSieve(rules: readonly Sifted[]): Sieve {
  const slots = new Set(rules.flatMap(({ conditions }) => conditions.map(({ slot }) => slot)))
  const meshes = [...slots].map((slot) => meshOf(slot, rules))
  const rests = rules.map(({ rest }) => rest)
  const all = bits(rules, () => true)
  return (seen) => {
    let open = all
    // `index` is below `meshes.length`.
    for (let index = 0; index < meshes.length && open !== 0; index++)
      open &= passing(meshes[index] as Mesh, seen)
    for (; open !== 0; open &= open - 1) {
      const lowest = BITS - 1 - Math.clz32(open & -open)
      const rest = rests[lowest]
      if (rest === null || rest?.(seen) === true) return lowest
    }
    return -1
  }
}

function passing({ slot, missing, other, byWord, asking }: Mesh, seen: Projection): number {
  const value = seen[slot]
  if (value === undefined) return missing
  if (asking === null) return byWord.get(value) ?? other
  // A set slot holds a list or is missing.
  const words = value as readonly unknown[]
  let found = ~asking
  for (let index = 0; index < words.length; index++) found |= byWord.get(words[index]) ?? 0
  return other & found
}

const MISSING = Symbol('missing')
const OTHER = Symbol('other')

function meshOf(slot: number, rules: readonly Sifted[]): Mesh {
  const asked = rules.map(({ conditions }) => conditions.filter((one) => one.slot === slot))
  const words = new Set(asked.flat().flatMap((condition) => [...(condition.words ?? [])]))
  const isSet = asked.some((conditions) => conditions.some((one) => one.isSet))
  const passingWith = (value: InputValue | typeof MISSING | typeof OTHER) =>
    bits(asked, (conditions) => conditions.every((condition) => holds(condition, value)))
  const askingFor = (word: InputValue) =>
    bits(asked, (conditions) => conditions.some((one) => one.isSet && one.words?.has(word)))
  return {
    slot,
    missing: passingWith(MISSING),
    other: passingWith(OTHER),
    byWord: new Map([...words].map((word) => [word, isSet ? askingFor(word) : passingWith(word)])),
    asking: isSet ? bits(asked, (conditions) => conditions.some(asksForWord)) : null,
  }
}

function asksForWord({ isSet, words }: Condition): boolean {
  return isSet && words !== null
}

/** Returns whether a value meets a condition. For a word of a set `byWord` decides, not this. */
function holds(condition: Condition, value: InputValue | typeof MISSING | typeof OTHER): boolean {
  const { words, isNegated } = condition
  if (value === MISSING) return isNegated
  if (words === null || asksForWord(condition)) return !isNegated
  return (value !== OTHER && words.has(value)) !== isNegated
}

function bits<T>(rows: readonly T[], test: (row: T) => boolean | undefined): number {
  let mask = 0
  rows.forEach((row, index) => {
    if (test(row) === true) mask |= 1 << index
  })
  return mask
}
