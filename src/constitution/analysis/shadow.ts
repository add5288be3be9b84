/** Finds rules that earlier rules always beat, and names a minimal set of these. */
import type { Inquiry } from './inquiry.ts'
import type { Look } from './look.ts'
import type { TableRow } from './rule-table.ts'
import type { SolverLiteral } from './solver.ts'

/** Returns rules that together beat this one on all its inputs, by rank; null if it ever decides. */
export function shadowsOf(
  inquiry: Inquiry,
  row: TableRow,
  neighbours: readonly TableRow[],
  /** A model in which the rule matches. */
  sample: Look,
): readonly TableRow[] | null {
  const earlier = neighbours.filter(({ rank }) => rank < row.rank)
  if (earlier.every(({ match }) => !sample.holds(match))) return null
  const beaten = earlier.map(({ match }) => -match)
  const core = inquiry.refusals([row.match], beaten)(beaten)
  if (core === null) return null
  const needed = new Set(withoutSpare(inquiry, row.match, [...new Set(core)]))
  // Rules with equal guards share one literal; only the first of them is named.
  return earlier.filter(({ match }) => needed.delete(-match))
}

/** Removes literals one by one as long as the rest is still unsatisfiable. */
function withoutSpare(
  inquiry: Inquiry,
  match: SolverLiteral,
  core: readonly SolverLiteral[],
): readonly SolverLiteral[] {
  const refusalOf = inquiry.refusals([match], core)
  let kept = core
  for (const candidate of core) {
    if (!kept.includes(candidate)) continue
    kept = refusalOf(kept.filter((one) => one !== candidate)) ?? kept
  }
  return kept
}
