/**
 * Which laws can be broken at all: a law that needs a word in some field is passed over where the
 * field holds another one. What is passed over would have been false (`needs` of expressions).
 */
import { isEarly, type Law } from './law.ts'

interface Column {
  readonly steps: readonly string[]
  readonly byWord: Map<string, Law[]>
  readonly all: Law[]
}

interface LawIndex {
  readonly columns: readonly Column[]
  readonly others: readonly Law[]
}

/** The indexes of a list of laws, one a phase; lists are made once when a file is loaded. */
const INDEXES = new WeakMap<readonly Law[], ReadonlyMap<boolean, LawIndex>>()

/** The laws that may be broken under these values, in no order; only the early ones if so asked. */
export function candidates(
  laws: readonly Law[],
  earlyOnly: boolean,
  values: Readonly<Record<string, unknown>>,
): readonly Law[] {
  const { columns, others } = indexOf(laws, earlyOnly)
  if (columns.length === 0) return others
  const found = [...others]
  for (const { steps, byWord, all } of columns) {
    const word = textAt(values, steps)
    found.push(...(word === null ? all : (byWord.get(word) ?? [])))
  }
  return found
}

function indexOf(laws: readonly Law[], earlyOnly: boolean): LawIndex {
  const known =
    INDEXES.get(laws) ??
    new Map([
      [true, makeIndex(laws.filter(isEarly))],
      [false, makeIndex(laws)],
    ])
  INDEXES.set(laws, known)
  // Both keys were set above.
  return known.get(earlyOnly) as LawIndex
}

function makeIndex(laws: readonly Law[]): LawIndex {
  const columns = new Map<string, Column>()
  const others: Law[] = []
  for (const law of laws) {
    const { needs } = law.expression
    if (needs === null) {
      others.push(law)
      continue
    }
    const column = columns.get(needs.path) ?? newColumn(needs.steps)
    columns.set(needs.path, column)
    column.all.push(law)
    for (const word of needs.words) {
      const same = column.byWord.get(word)
      if (same === undefined) column.byWord.set(word, [law])
      else same.push(law)
    }
  }
  return { columns: [...columns.values()], others }
}

function newColumn(steps: readonly string[]): Column {
  return { steps, byWord: new Map(), all: [] }
}

/** The text at the steps; null for anything else, so that the laws themselves say what is wrong. */
function textAt(
  values: Readonly<Record<string, unknown>>,
  steps: readonly string[],
): string | null {
  let current: unknown = values
  for (const step of steps) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) return null
    if (!Object.hasOwn(current, step)) return null
    // The lines above have checked that it is an object with this key.
    current = (current as Readonly<Record<string, unknown>>)[step]
  }
  return typeof current === 'string' ? current : null
}
