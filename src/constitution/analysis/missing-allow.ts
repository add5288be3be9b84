/**
 * An ALLOW that is reached because a field is missing: ALLOW comes out while the path is
 * missing, and would not if some value stood there and everything else stayed as it is. Two worlds
 * are compared that differ in that one path; only rules that read it can differ between them.
 */
import type { GuardPath } from '../../contracts/index.ts'
import type { Inputs } from '../projection.ts'
import { verdictLiterals } from './encoded-ruleset.ts'
import { type Inquiry, STEPS_OF_CLASH } from './inquiry.ts'
import { unified } from './mention.ts'
import { clash, type Requirements } from './requirement.ts'
import { pathsReadBy, type RuleTable, type TableRow } from './rule-table.ts'
import type { Literal } from './solver.ts'
import type { World } from './world.ts'

/** The rules as they are when something stands at a path where nothing stood. */
export interface Variation {
  readonly path: GuardPath
  readonly world: World
  /** The path is missing in the one world, and there in the other. */
  readonly because: readonly [missing: Literal, there: Literal]
  /** The rules that read the path. */
  readonly readers: ReadonlyMap<TableRow, Reader>
}

interface Reader {
  readonly match: Literal
  readonly requires: Requirements
}

/** One for each path that some rule reads. */
export function variationsOf(inquiry: Inquiry, { rows, paths }: RuleTable): readonly Variation[] {
  const namesReadBy = new Map(
    rows.map((row) => [row, new Set([...pathsReadBy(row.rule)].map(unified))]),
  )
  return paths.map((path) => {
    const world = inquiry.variation(path)
    const readers = rows.filter((row) => namesReadBy.get(row)?.has(unified(path)))
    const varied = readers.map((row) => {
      const match = world.rule(row.rule)
      return [row, { match, requires: inquiry.requirements.of(match) }] as const
    })
    inquiry.spend(rows.length)
    const because = [-inquiry.world.present(path), world.present(path)] as const
    return { path, world, because, readers: new Map(varied) }
  })
}

/** Inputs on which this rule gives ALLOW because the path is missing; null when there are none. */
export function missingAllow(
  inquiry: Inquiry,
  row: TableRow,
  /** The other rules that may match the same inputs, by rank. */
  neighbours: readonly TableRow[],
  { world, because, readers }: Variation,
): Inputs | null {
  if (row.requires.literals.has(-because[0])) return null
  inquiry.spend(STEPS_OF_CLASH * readers.size)
  const rivals = [...readers].filter(([other, { requires }]) => {
    const isRival = other === row || (other.rank < row.rank && other.verdict !== 'ALLOW')
    return isRival && !clash(requires, row.requires)
  })
  // A rule that does not read the path still matches, so an earlier one that does must speak up.
  if (rivals.length === 0) return null
  return inquiry.formulas.passing(() => {
    const { ALLOW: allow } = verdictLiterals(
      inquiry.formulas,
      variedMatches(row, neighbours, readers),
    )
    const beaten = neighbours.filter(({ rank }) => rank < row.rank).map(({ match }) => -match)
    return inquiry.find([row.match, ...beaten, ...because, -allow], world)
  })
}

/**
 * All that can decide in the second world while the rule gives the verdict in the first, by rank. What
 * does not read the path is as it was: of the earlier ones none matches, and the later ones have a say
 * only where the rule itself may fall silent.
 */
function variedMatches(
  row: TableRow,
  neighbours: readonly TableRow[],
  readers: Variation['readers'],
): readonly { verdict: TableRow['verdict']; match: Literal }[] {
  const isReader = readers.has(row)
  const steady = isReader
    ? neighbours.filter((other) => other.rank > row.rank && !readers.has(other))
    : [row]
  const varied = [...readers].filter(
    ([other, { requires }]) =>
      other === row || ((isReader || other.rank < row.rank) && !clash(requires, row.requires)),
  )
  return [
    ...steady.map(({ rank, verdict, match }) => ({ rank, verdict, match })),
    ...varied.map(([{ rank, verdict }, { match }]) => ({ rank, verdict, match })),
  ].sort((left, right) => left.rank - right.rank)
}
