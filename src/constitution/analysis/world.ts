/**
 * A world: the variables that represent one set of inputs, and the formula of any guard over them.
 * Worlds describe bound inputs only (`kernel.ts`): for others every ruleset gives UNDETERMINED. So
 * both subjects are present and equal, the envelope names its problem state, and the action in
 * question is among the candidates.
 *
 * A second world can share all variables with a first one except those of one path. Comparing the
 * two answers whether a verdict depends on that path.
 *
 * `encodeRuleset` encodes a ruleset in a world: for each rule the literal "the rule matches", and for each verdict
 * the literal "the ruleset gives this verdict" (K-3). Halves are joined in turn, so nesting stays
 * shallow.
 */
import {
  type AdmittedRule,
  type AdmittedRuleset,
  GUARD_PATHS,
  type Guard,
  type GuardPath,
  type GuardSide,
  pathRow,
  type ScalarPath,
  type SetPath,
  type VerdictWord,
  WINDOW_LEAVES,
} from '../../contracts/index.ts'
import { rankRules } from '../kernel/verdict.ts'
import { type Mentions, ScalarDomain, SetDomain, unified } from './domain.ts'
import type { Formulas } from './formula.ts'
import type { SolverLiteral } from './solver.ts'

export const SUBJECT_LEAVES = ['projectId', 'groupId', 'plotId', 'blockId'] as const
export const CANDIDATES = 'permission_set.candidate_actions[].action_code'
/** Paths that contracts do not require. A witness has all others if the solution allows it. */
const OPTIONAL = /supporting_evidence_refs|action_taxonomy_ref|subjectRef\.(?:group|plot|block)Id/

export interface WorldPlan {
  readonly mentions: Mentions
  /** The action codes whose verdict is asked: they are candidates. */
  readonly actionCodes: readonly string[]
}

export class World {
  readonly #formulas: Formulas
  readonly #plan: WorldPlan
  readonly #base: World | null
  /** The unified name of the path that differs from the base. */
  readonly #fresh: string | null
  readonly #made = new Map<string, unknown>()

  constructor(
    formulas: Formulas,
    plan: WorldPlan,
    base: World | null = null,
    fresh: GuardPath | null = null,
  ) {
    this.#formulas = formulas
    this.#plan = plan
    this.#base = base
    this.#fresh = fresh === null ? null : unified(fresh)
    this.#prepare()
  }

  /** Makes every variable now, because `Formulas.passing` allows no new variables. */
  #prepare(): void {
    for (const path of GUARD_PATHS) this.present(path)
    for (const leaf of ['startTs', 'endTs'] as const) this.moment(leaf)
    this.windowsMatch()
    for (const [left, right] of this.#plan.mentions.pairs) this.shared(left, right)
  }

  /** Returns the literal that is true if the guard is. */
  guard(guard: Guard): SolverLiteral {
    const formulas = this.#formulas
    switch (guard.op) {
      case 'AND':
        return formulas.every(guard.args.map((argument) => this.guard(argument)))
      case 'OR':
        return formulas.some(guard.args.map((argument) => this.guard(argument)))
      case 'NOT':
        return -this.guard(guard.arg)
      case 'EQ':
        return this.scalar(guard.field).equal(guard.value)
      case 'IN': {
        const domain = this.scalar(guard.field)
        return formulas.some(guard.set.map((word) => domain.equal(word)))
      }
      case 'EXISTS':
        return this.present(guard.field)
      case 'INTERSECTS':
        return this.#intersects(guard.left, guard.right)
      case 'WINDOW_MATCH':
        return this.windowsMatch()
      default:
        return guard satisfies never
    }
  }

  rule({ guard, scope }: AdmittedRule): SolverLiteral {
    const literals = [this.guard(guard)]
    if (scope?.subjectRef !== undefined) {
      for (const leaf of SUBJECT_LEAVES) {
        const value = scope.subjectRef[leaf]
        if (value === undefined) continue
        literals.push(this.scalar(`permission_set.subjectRef.${leaf}`).equal(value))
      }
    }
    if (scope?.scale !== undefined)
      literals.push(this.scalar('permission_set.scale').equal(scope.scale))
    if (scope?.window !== undefined) {
      literals.push(this.moment('startTs').equal(scope.window.startTs))
      literals.push(this.moment('endTs').equal(scope.window.endTs))
    }
    return this.#formulas.every(literals)
  }

  present(path: GuardPath): SolverLiteral {
    const { kind } = pathRow(path)
    switch (kind) {
      case 'set': // `SetPath` names the paths of this kind.
        return this.set(path as SetPath).present
      case 'scalar': // `ScalarPath` names the paths of this kind.
        return this.scalar(path as ScalarPath).present
      case 'object':
        return this.#formulas.yes
      case 'window':
      case 'existence':
        return this.#presence(path)
      default:
        return kind satisfies never
    }
  }

  scalar(path: ScalarPath): ScalarDomain<string> {
    const name = unified(path)
    return this.#make(`value of ${name}`, [name], () => {
      const always = path === 'uncertainty_envelope.problem_state_ref'
      const present = always ? this.#formulas.yes : this.#presence(path)
      return new ScalarDomain(this.#formulas, this.#plan.mentions.wordsOf(path), present)
    })
  }

  set(path: SetPath): SetDomain {
    return this.#make(`value of ${path}`, [path], () => {
      const words = this.#plan.mentions.wordsOf(path)
      return path === CANDIDATES
        ? new SetDomain(this.#formulas, words, this.#formulas.yes, this.#plan.actionCodes)
        : new SetDomain(this.#formulas, words, this.#presence(path))
    })
  }

  /** The leaves of the permission set's window. */
  moment(leaf: 'startTs' | 'endTs'): ScalarDomain<number> {
    const path = `permission_set.window.${leaf}` as const
    return this.#make(`value of ${path}`, [path], () => {
      const { starts, ends } = this.#plan.mentions
      const values = leaf === 'startTs' ? starts : ends
      return new ScalarDomain(this.#formulas, values, this.#presence(path))
    })
  }

  /**
   * Returns the literal "both windows are present, run forwards and are equal". That they run
   * forwards needs no formula: admission checks it for the windows that scopes name. Rules cannot
   * distinguish other windows, and one of those always runs forwards.
   */
  windowsMatch(): SolverLiteral {
    const same = this.#make('the windows are the same', WINDOW_LEAVES, () =>
      this.#formulas.variable(),
    )
    return this.#formulas.every([same, ...WINDOW_LEAVES.map((leaf) => this.present(leaf))])
  }

  /**
   * Returns the literal "both sets hold the same unmentioned word"; for one set twice, "the set
   * holds an unmentioned word". Each set must hold one, also if one of the two belongs to another
   * world.
   */
  shared(left: SetPath, right: SetPath): SolverLiteral {
    if (left === right) return this.#holdsUnmentioned(left)
    const pair = [left, right].sort()
    const same = this.#make(pair.join(' shares with '), pair, () => this.#formulas.variable())
    const own = [this.#holdsUnmentioned(left), this.#holdsUnmentioned(right)]
    return this.#formulas.every([same, ...own])
  }

  #holdsUnmentioned(path: SetPath): SolverLiteral {
    const more = this.#make(`more in ${path}`, [path], () => this.#formulas.variable())
    return this.#formulas.every([more, this.set(path).present])
  }

  #intersects(left: GuardSide, right: GuardSide): SolverLiteral {
    if (typeof left === 'string' && typeof right === 'string') return this.#meet(left, right)
    const [path, words] = typeof left === 'string' ? [left, right] : [right, left]
    // The contract refuses a comparison of two lists, so one side is a path and the other a list.
    const domain = this.set(path as SetPath)
    return this.#formulas.some((words as readonly string[]).map((word) => domain.has(word)))
  }

  /** Cached, because the formula is as long as the vocabularies of both sets. */
  #meet(left: SetPath, right: SetPath): SolverLiteral {
    const pair = [left, right].sort()
    return this.#make(pair.join(' meets '), pair, () => {
      const [one, two] = [this.set(left), this.set(right)]
      const common = one.words.map((word) => this.#formulas.every([one.has(word), two.has(word)]))
      return this.#formulas.some([...common, this.shared(left, right)])
    })
  }

  #presence(path: GuardPath): SolverLiteral {
    const name = unified(path)
    return this.#make(`presence of ${name}`, [name], () =>
      this.#formulas.variable(!OPTIONAL.test(path)),
    )
  }

  /** Returns a cached part. Takes it from the base unless it depends on the path that differs. */
  #make<T>(name: string, paths: readonly string[], make: () => T): T {
    if (this.#base !== null && !paths.some((path) => path === this.#fresh))
      return this.#base.#make(name, paths, make)
    // The name says what kind of thing was made.
    const known = this.#made.get(name) as T | undefined
    if (known !== undefined) return known
    const made = make()
    this.#made.set(name, made)
    return made
  }
}

export interface EncodedRuleset {
  /** By the rule's place in the file. */
  readonly matches: readonly SolverLiteral[]
  readonly verdict: Readonly<Record<VerdictWord, SolverLiteral>>
}

export function encodeRuleset(
  formulas: Formulas,
  world: World,
  ruleset: AdmittedRuleset,
): EncodedRuleset {
  const rows = ruleset.rules.map((rule) => ({ match: world.rule(rule), verdict: rule.verdict }))
  const ranked = rankRules(ruleset.combineStrategy, rows).map(({ rule }) => rule)
  return { matches: rows.map(({ match }) => match), verdict: verdictLiterals(formulas, ranked) }
}

interface RankedMatch {
  readonly match: SolverLiteral
  readonly verdict: VerdictWord
}

/** Returns a literal for each verdict of rules in the order in which the first match decides. */
export function verdictLiterals(
  formulas: Formulas,
  ranked: readonly RankedMatch[],
): EncodedRuleset['verdict'] {
  const { allow, deny } = outcomeOf(formulas, ranked)
  return { ALLOW: allow, DENY: deny, UNDETERMINED: formulas.every([-allow, -deny]) }
}

interface Outcome {
  readonly said: SolverLiteral
  readonly allow: SolverLiteral
  readonly deny: SolverLiteral
}

function outcomeOf(formulas: Formulas, ranked: readonly RankedMatch[]): Outcome {
  const [only] = ranked
  const { no } = formulas
  if (only === undefined) return { said: no, allow: no, deny: no }
  if (ranked.length === 1) {
    const { match, verdict } = only
    return {
      said: match,
      allow: verdict === 'ALLOW' ? match : no,
      deny: verdict === 'DENY' ? match : no,
    }
  }
  const middle = ranked.length >> 1
  const first = outcomeOf(formulas, ranked.slice(0, middle))
  const second = outcomeOf(formulas, ranked.slice(middle))
  const otherwise = (literal: SolverLiteral) => formulas.every([-first.said, literal])
  return {
    said: formulas.some([first.said, second.said]),
    allow: formulas.some([first.allow, otherwise(second.allow)]),
    deny: formulas.some([first.deny, otherwise(second.deny)]),
  }
}
