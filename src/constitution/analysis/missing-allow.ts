/**
 * Finds an ALLOW that depends on a missing field: the verdict is ALLOW while the path is
 * missing, and some value at the path gives another verdict on otherwise equal inputs. Compares two
 * worlds that differ in that one path; only rules that read it can differ between them.
 *
 * A rule with few neighbours gets a question of its own. A rule with many neighbours shares one
 * question with all rules, which is built once for a path and learns from every answer.
 */
import type { GuardPath } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { unified } from './domain.ts'
import { type Inquiry, STEPS_OF_CLASH } from './inquiry.ts'
import { clash, type Requirements } from './requirement.ts'
import { pathsReadBy, type RuleTable, type TableRow } from './rule-table.ts'
import type { SolverLiteral } from './solver.ts'
import type { World } from './world.ts'
import { verdictLiterals } from './world.ts'

/** An ALLOW rule that gives some verdict. */
export interface Suspect {
  readonly row: TableRow
  /** The other rules that may match the same inputs, by rank; null when these are most. */
  readonly neighbours: readonly TableRow[] | null
}

interface MissingAllow {
  readonly row: TableRow
  readonly path: GuardPath
  readonly witness: Inputs
}

/** The second world of a path: the path is present in it, and missing in the first one. */
interface Variation {
  readonly path: GuardPath
  readonly world: World
  /** The path is missing in the first world, and present in the second. */
  readonly because: readonly [missing: SolverLiteral, there: SolverLiteral]
  /** The rules that read the path. */
  readonly readers: ReadonlyMap<TableRow, Reader>
}

interface Reader {
  readonly match: SolverLiteral
  readonly requires: Requirements
}

/** Above this share of all rules, tests every rule instead of the neighbours. */
const FEW_PART = 1 / 8

export function suspectOf(
  row: TableRow,
  neighbours: readonly TableRow[],
  { rows }: RuleTable,
): Suspect {
  return { row, neighbours: neighbours.length > rows.length * FEW_PART ? null : neighbours }
}

/** Returns findings by path, then by the rule's place in the file. `told` receives the done share. */
export function missingAllows(
  inquiry: Inquiry,
  table: RuleTable,
  suspects: readonly Suspect[],
  told: (part: number) => void,
): readonly MissingAllow[] {
  const { paths } = table
  return paths.flatMap((path, place) => {
    const variation = variationOf(inquiry, table, path)
    const questionOfAll = once(() => amongAll(inquiry, table, variation))
    return suspects.flatMap(({ row, neighbours }, index) => {
      told((place + index / suspects.length) / paths.length)
      if (!mayFall(inquiry, row, variation)) return []
      const witness =
        neighbours === null ? questionOfAll()(row) : amongFew(inquiry, row, neighbours, variation)
      return witness === null ? [] : [{ row, path, witness }]
    })
  })
}

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null
  return () => {
    made ??= make()
    return made
  }
}

export function variationOf(inquiry: Inquiry, { rows }: RuleTable, path: GuardPath): Variation {
  const world = inquiry.variation(path)
  const readers = new Map<TableRow, Reader>()
  for (const row of rows) {
    if (!readsPath(row, path)) continue
    const match = world.rule(row.rule)
    readers.set(row, { match, requires: inquiry.requirements.of(match) })
  }
  inquiry.spend(rows.length)
  const because = [-inquiry.world.present(path), world.present(path)] as const
  return { path, world, because, readers }
}

function readsPath({ rule }: TableRow, path: GuardPath): boolean {
  return [...pathsReadBy(rule)].some((read) => unified(read) === unified(path))
}

/**
 * Returns whether the verdict of a rule may change with the path, so that a question is worth its
 * cost. A rule that does not read the path can only be beaten by an earlier rule that reads it.
 */
function mayFall(inquiry: Inquiry, row: TableRow, { because, readers }: Variation): boolean {
  if (row.requires.literals.has(-because[0])) return false
  inquiry.spend(STEPS_OF_CLASH * readers.size)
  for (const [other, { requires }] of readers) {
    const isRival = other === row || (other.rank < row.rank && other.verdict !== 'ALLOW')
    if (isRival && !clash(requires, row.requires)) return true
  }
  return false
}

/** Asks with only those rules that may match the same inputs, in either world. */
export function amongFew(
  inquiry: Inquiry,
  row: TableRow,
  neighbours: readonly TableRow[],
  { world, because, readers }: Variation,
): Inputs | null {
  const beaten = neighbours.filter(({ rank }) => rank < row.rank).map(({ match }) => -match)
  return inquiry.formulas.passing(() => {
    const varied = variedMatches(row, neighbours, readers)
    const { ALLOW: allow } = verdictLiterals(inquiry.formulas, varied)
    return inquiry.find([row.match, ...beaten, ...because, -allow], world)
  })
}

/**
 * Returns the rules that can decide in the second world while `row` decides in the first, by rank.
 * A rule that does not read the path matches as before: no earlier one matches, and later ones
 * decide only if `row` itself stops matching.
 */
function variedMatches(
  row: TableRow,
  neighbours: readonly TableRow[],
  readers: Variation['readers'],
): readonly { verdict: TableRow['verdict']; match: SolverLiteral }[] {
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

/** Builds one question with all rules, to be asked for one rule after the other. */
export function amongAll(
  inquiry: Inquiry,
  { rows }: RuleTable,
  { world, because, readers }: Variation,
): (row: TableRow) => Inputs | null {
  const ranked = [...rows].sort((left, right) => left.rank - right.rank)
  const varied = ranked.map((row) => ({ ...row, match: readers.get(row)?.match ?? row.match }))
  const { ALLOW: allow } = verdictLiterals(inquiry.formulas, varied)
  inquiry.spend(rows.length)
  const matches = ranked.map(({ match }) => match)
  const ask = inquiry.finder(
    [...because, -allow],
    [...matches, ...matches.map((match) => -match)],
    world,
  )
  return (row) => {
    const earlier = ranked.slice(0, ranked.indexOf(row))
    return ask([row.match, ...earlier.map(({ match }) => -match)])
  }
}
