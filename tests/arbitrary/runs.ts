/**
 * How many runs a property gets. `npm test` makes as many as show a defect of the kind that the
 * property is about; `npm run soak properties` makes WRIT_RUNS_FACTOR times as many.
 */
const FACTOR = Number(process.env['WRIT_RUNS_FACTOR'] ?? 1)

export function runs(usual: number): number {
  return Math.ceil(usual * FACTOR)
}
