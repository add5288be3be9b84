/** For an ALLOW rule the DENY rules that match some of the same inputs. */
import type { Inputs } from '../projection.ts'
import type { Inquiry } from './inquiry.ts'
import type { Look } from './look.ts'
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
  /** A model in which the rule matches: it may show an overlap before anything is asked. */
  sample: Look,
): Overlap | null {
  const denies = neighbours
    .filter(({ verdict }) => verdict === 'DENY')
    .filter(({ match }) => sample.holds(match) || inquiry.model([allow.match, match]) !== null)
    .sort((left, right) => left.index - right.index)
  const [first] = denies
  const witness = first === undefined ? null : inquiry.find([allow.match, first.match])
  return witness === null ? null : { denies, witness }
}
