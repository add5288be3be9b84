/** For an ALLOW rule the DENY rules that match some of the same inputs. */
import type { Inputs } from '../kernel/projection.ts'
import type { Inquiry } from './inquiry.ts'
import { Look } from './look.ts'
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
  /** A model in which the rule matches. */
  sample: Look,
): Overlap | null {
  const denies = neighbours
    .filter(({ verdict }) => verdict === 'DENY')
    .filter((deny) => sample.holds(deny.match) || canMeet(inquiry, allow, deny))
    .sort((left, right) => left.index - right.index)
  const [first] = denies
  const witness = first === undefined ? null : inquiry.find([allow.match, first.match])
  return witness === null ? null : { denies, witness }
}

/** The other's own sample may show it before anything is asked. */
function canMeet(inquiry: Inquiry, allow: TableRow, deny: TableRow): boolean {
  const look = new Look(inquiry.formulas, deny.sample)
  const isShown = look.holds(allow.match)
  inquiry.spend(look.steps)
  return isShown || inquiry.model([allow.match, deny.match]) !== null
}
