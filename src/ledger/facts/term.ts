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
