/**
 * How many runs a property gets, and how large a shape is. `npm test` makes as many runs as show a defect
 * of the kind that the property is about; `npm run soak properties` makes WRIT_RUNS_FACTOR times as many.
 */
const FACTOR = Number(process.env['WRIT_RUNS_FACTOR'] ?? 1)

export function runs(usual: number): number {
  return Math.ceil(usual * FACTOR)
}

const IS_WHOLE = process.env['WRIT_SIZES'] === 'whole'

/** Returns the usual size: enough for recursion to overflow. `npm run soak large` takes the whole one. */
export function sizeOf(usual: number, whole: number): number {
  return IS_WHOLE ? whole : usual
}
