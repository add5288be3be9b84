/**
 * The finite worlds behind the infinite inputs. A guard can only tell values apart that some rule
 * mentions, so each path is a handful of variables: is it there, is it this mentioned word, does it
 * hold that mentioned word; everything else is "another one", of which there is always one.
 */
import { invariant } from '../../base/index.ts'
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
