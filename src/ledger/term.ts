/**
 * Terms: by what facts are found besides stream and time (L-6). They are read out of the record, never
 * given beside it, so an index can always be made again from the facts.
 */

/** What a query may name, and where each stands in a payload. */
export const TERM_PLACES = {
  action: [['action_id'], ['descriptor', 'action_id']],
  task: [['act_task_id']],
  run: [['run_id']],
} as const satisfies Record<string, readonly (readonly string[])[]>

/** The terms of a record: from its payload, or from `refs` when the payload is kept elsewhere. */
export function termsOf(record: {
  readonly type: string
  readonly payload?: unknown
  readonly refs?: Readonly<Record<string, string>>
}): Readonly<Record<string, string>> {
  const terms: Record<string, string> = {}
  for (const [term, places] of Object.entries(TERM_PLACES)) {
    const value =
      record.payload === undefined
        ? own(record.refs, term)
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
  return steps.reduce(own, value)
}

function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}
