/** For an ALLOW rule the DENY rules that match some of the same inputs. */
import type { Inputs } from '../projection.ts'
import type { Inquiry } from './inquiry.ts'
import type { TableRow } from './rule-table.ts'

export interface Overlap {
  /** In file order; never empty. */
  readonly denies: readonly TableRow[]
  /** Inputs that the rule and the first of `denies` match. */
  readonly witness: Inputs
}

export function overlapOf(
  inquiry: Inquiry,
  allow: TableRow,
  neighbours: readonly TableRow[],
): Overlap | null {
  const denies = neighbours
    .filter(({ verdict }) => verdict === 'DENY')
    .filter((deny) => meets(inquiry, allow, deny))
    .sort((left, right) => left.index - right.index)
  const [first] = denies
  const witness = first === undefined ? null : inquiry.find([allow.match, first.match])
  return witness === null ? null : { denies, witness }
}

/** A model that is at hand may show it; otherwise it is asked. */
function meets(inquiry: Inquiry, left: TableRow, right: TableRow): boolean {
  return (
    inquiry.formulas.holds(right.match, left.sample) ||
    inquiry.formulas.holds(left.match, right.sample) ||
    inquiry.model([left.match, right.match]) !== null
  )
}
