/**
 * The finite worlds behind the infinite inputs. A guard can only tell values apart that some rule
 * mentions, so each path is a handful of variables: is it there, is it this mentioned word, does it
 * hold that mentioned word; everything else is "another one", of which there is always one.
 *
 * `Mentions` collects what rules and questions mention: the words of each path,
 * the moments of the window, and the pairs of sets that guards compare. A world needs no more.
 */
import { invariant } from '../../base/index.ts'
import type { AdmittedRule, Guard, GuardPath, GuardSide, SetPath } from '../../contracts/index.ts'
import type { Formulas } from './formula.ts'
import type { Solution, SolverLiteral } from './solver.ts'

export type Model = Extract<Solution, { kind: 'satisfiable' }>['isTrue']

/** A path that holds one value of many: a word, or a moment of a scope's window. */
export class ScalarDomain<V extends string | number> {
  readonly present: SolverLiteral
  readonly #formulas: Formulas
  readonly #choices: ReadonlyMap<V, SolverLiteral>

  constructor(formulas: Formulas, values: ReadonlySet<V>, present: SolverLiteral) {
    const group = formulas.exclusiveGroup()
    this.present = present
    this.#formulas = formulas
    this.#choices = new Map([...values].map((value) => [value, formulas.variable(false, group)]))
  }

  get values(): readonly V[] {
    return [...this.#choices.keys()]
  }

  equal(value: V): SolverLiteral {
    const choice = this.#choices.get(value)
    invariant(choice !== undefined, 'every value a guard mentions is in its domain')
    return this.#formulas.every([this.present, choice])
  }

  /** The mentioned value, `other`, or `missing`. */
  read(look: Look): { readonly value: V } | 'other' | 'missing' {
    if (!look.holds(this.present)) return 'missing'
    for (const [value, choice] of this.#choices) if (look.holds(choice)) return { value }
    return 'other'
  }
}

/** A path that holds a set of words; those in `always` are in it. */
export class SetDomain {
  readonly present: SolverLiteral
  readonly #formulas: Formulas
  readonly #holds: ReadonlyMap<string, SolverLiteral>

  constructor(
    formulas: Formulas,
    words: ReadonlySet<string>,
    present: SolverLiteral,
    always: readonly string[] = [],
  ) {
    this.present = present
    this.#formulas = formulas
    this.#holds = new Map(
      [...words].map((word) => [word, always.includes(word) ? formulas.yes : formulas.variable()]),
    )
  }

  get words(): readonly string[] {
    return [...this.#holds.keys()]
  }

  has(word: string): SolverLiteral {
    const holds = this.#holds.get(word)
    invariant(holds !== undefined, 'every word a guard mentions is in its domain')
    return this.#formulas.every([this.present, holds])
  }

  read(look: Look): readonly string[] | 'missing' {
    if (!look.holds(this.present)) return 'missing'
    return [...this.#holds].flatMap(([word, holds]) => (look.holds(holds) ? [word] : []))
  }
}

/** A look at one model: what holds in it, with every conjunction worked out once. */
export class Look {
  readonly #formulas: Formulas
  readonly #isTrue: Model
  readonly #known = new Map<number, boolean>()
  #steps = 0

  constructor(formulas: Formulas, isTrue: Model) {
    this.#formulas = formulas
    this.#isTrue = isTrue
  }

  /** How many formulas were looked at since the beginning. */
  get steps(): number {
    return this.#steps
  }

  holds(literal: SolverLiteral): boolean {
    return this.#plain(Math.abs(literal)) === literal > 0
  }

  #plain(variable: number): boolean {
    this.#steps++
    const parts = this.#formulas.partsOf(variable)
    if (parts === null) return this.#isTrue(variable)
    const known = this.#known.get(variable)
    if (known !== undefined) return known
    const holds = parts.every((part) => this.holds(part))
    this.#known.set(variable, holds)
    return holds
  }
}

const SUBJECT = /^(?:problem_state|permission_set)\.subjectRef\./

/** Returns one name for paths that have the same value in bound inputs. */
export function unified(path: GuardPath): string {
  return path.replace(SUBJECT, 'subjectRef.')
}

const NONE: ReadonlySet<string> = new Set()

export class Mentions {
  readonly starts = new Set<number>()
  readonly ends = new Set<number>()
  readonly #words = new Map<string, Set<string>>()
  readonly #pairs = new Map<string, readonly [SetPath, SetPath]>()

  /** Sets that some guard compares with each other, each pair once. */
  get pairs(): readonly (readonly [SetPath, SetPath])[] {
    return [...this.#pairs.values()]
  }

  addRule({ guard, scope }: AdmittedRule): void {
    this.addGuard(guard)
    for (const [leaf, value] of Object.entries(scope?.subjectRef ?? {})) {
      // The contract admits only the four leaves of a subject, and each has a path.
      this.#word(`permission_set.subjectRef.${leaf}` as GuardPath, value)
    }
    if (scope?.scale !== undefined) this.#word('permission_set.scale', scope.scale)
    if (scope?.window !== undefined) {
      this.starts.add(scope.window.startTs)
      this.ends.add(scope.window.endTs)
    }
  }

  addGuard(guard: Guard): void {
    switch (guard.op) {
      case 'AND':
      case 'OR':
        for (const argument of guard.args) this.addGuard(argument)
        return
      case 'NOT':
        return this.addGuard(guard.arg)
      case 'EQ':
        return this.#word(guard.field, guard.value)
      case 'IN':
        for (const word of guard.set) this.#word(guard.field, word)
        return
      case 'INTERSECTS':
        return this.#sides(guard.left, guard.right)
      case 'EXISTS':
      case 'WINDOW_MATCH':
        return
      default:
        guard satisfies never
    }
  }

  addCandidates(codes: readonly string[]): void {
    for (const code of codes) this.#word('permission_set.candidate_actions[].action_code', code)
  }

  wordsOf(path: GuardPath): ReadonlySet<string> {
    return this.#words.get(unified(path)) ?? NONE
  }

  /** Adds the words of each compared set to the other one, so that both know all shared words. */
  close(): void {
    for (const [left, right] of [...this.pairs, ...this.pairs]) {
      for (const word of this.wordsOf(left)) this.#word(right, word)
      for (const word of this.wordsOf(right)) this.#word(left, word)
    }
  }

  #sides(left: GuardSide, right: GuardSide): void {
    if (typeof left === 'string' && typeof right === 'string') {
      const [one, two] = [left, right].sort() as [SetPath, SetPath] // the same two
      this.#pairs.set(`${one} ${two}`, [one, two])
    } else if (typeof left === 'string') {
      for (const word of right as readonly string[]) this.#word(left, word)
    } else if (typeof right === 'string') {
      for (const word of left) this.#word(right, word)
    }
  }

  #word(path: GuardPath, word: string): void {
    const name = unified(path)
    const words = this.#words.get(name)
    if (words === undefined) this.#words.set(name, new Set([word]))
    else words.add(word)
  }
}
