/**
 * Which rules and branches a suite of cases reaches. A rule is reached when it gives a verdict;
 * a branch is a part of a guard seen true in one case and false in another.
 */
import { type AdmittedRuleset, GUARD_PATHS, type Guard, printGuard } from '../../contracts/index.ts'
import { inputsAreBound } from './kernel.ts'
import { compileGuard, type Matcher } from './matcher.ts'
import { type Inputs, type Projection, viewOf } from './projection.ts'

export interface Uncovered {
  readonly action_code: string
  readonly rule_id: string
  /** The part of the guard that no case shows with this value; absent when the rule itself is not reached. */
  readonly branch?: { readonly guard: string; readonly value: boolean }
}

const ALL = viewOf(GUARD_PATHS)

interface Branch {
  readonly text: string
  readonly holds: Matcher
}

/** `given` lists the rule refs that the cases' verdicts named. */
export function uncovered(
  rulesets: readonly AdmittedRuleset[],
  cases: readonly Inputs[],
  given: ReadonlySet<string>,
): readonly Uncovered[] {
  const worlds = cases.filter(inputsAreBound).map(ALL.project)
  return rulesets.flatMap(({ rulesetId, actionCode, rules }) =>
    rules.flatMap(({ ruleId, ruleVersion, guard }) => {
      const place = { action_code: actionCode, rule_id: ruleId }
      const reached = given.has(`${rulesetId}/${ruleId}@${ruleVersion}`)
      return [
        ...(reached ? [] : [place]),
        ...unseenBranches(guard, worlds).map((branch) => ({ ...place, branch })),
      ]
    }),
  )
}

function unseenBranches(
  guard: Guard,
  worlds: readonly Projection[],
): readonly { guard: string; value: boolean }[] {
  return branchesOf(guard).flatMap(({ text, holds }) => {
    const seen = new Set(worlds.map(holds))
    return [true, false]
      .filter((value) => !seen.has(value))
      .map((value) => ({ guard: text, value }))
  })
}

/** The atoms of a guard, each once. */
function branchesOf(guard: Guard): readonly Branch[] {
  const branches = new Map<string, Branch>()
  const visit = (part: Guard): void => {
    if (part.op === 'AND' || part.op === 'OR') part.args.forEach(visit)
    else if (part.op === 'NOT') visit(part.arg)
    else
      branches.set(printGuard(part), {
        text: printGuard(part),
        holds: compileGuard(part, ALL.slotOf),
      })
  }
  visit(guard)
  return [...branches.values()]
}
