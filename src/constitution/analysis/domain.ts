/**
 * The finite worlds behind the infinite inputs. A guard can only tell values apart that some rule
 * mentions, so each path is a handful of variables: is it there, is it this mentioned word, does it
 * hold that mentioned word; everything else is "another one", of which there is always one.
 */
import { invariant } from '../../base/index.ts'
import type { Formulas } from './formula.ts'
import type { Literal, Solution } from './solver.ts'

type Model = Extract<Solution, { kind: 'satisfiable' }>['isTrue']

/** A path that holds one value of many: a word, or a moment of a scope's window. */
export class ScalarDomain<V extends string | number> {
  readonly present: Literal
  readonly #equal: ReadonlyMap<V, Literal>

  constructor(formulas: Formulas, values: ReadonlySet<V>, present: Literal = formulas.variable()) {
    this.present = present
    this.#equal = new Map([...values].map((value) => [value, formulas.variable()]))
    for (const literal of this.#equal.values()) formulas.state(-literal, this.present)
    formulas.stateAtMostOne([...this.#equal.values()])
  }

  get values(): readonly V[] {
    return [...this.#equal.keys()]
  }

  equal(value: V): Literal {
    const literal = this.#equal.get(value)
    invariant(literal !== undefined, 'every value a guard mentions is in its domain')
    return literal
  }

  /** The mentioned value, `other`, or `missing`. */
  read(isTrue: Model): { readonly value: V } | 'other' | 'missing' {
    if (!holds(isTrue, this.present)) return 'missing'
    for (const [value, literal] of this.#equal) if (holds(isTrue, literal)) return { value }
    return 'other'
  }
}

/** A path that holds a set of words. */
export class SetDomain {
  readonly present: Literal
  readonly #has: ReadonlyMap<string, Literal>

  constructor(
    formulas: Formulas,
    words: ReadonlySet<string>,
    present: Literal = formulas.variable(),
  ) {
    this.present = present
    this.#has = new Map([...words].map((word) => [word, formulas.variable()]))
    for (const literal of this.#has.values()) formulas.state(-literal, this.present)
  }

  get words(): readonly string[] {
    return [...this.#has.keys()]
  }

  has(word: string): Literal {
    const literal = this.#has.get(word)
    invariant(literal !== undefined, 'every word a guard mentions is in its domain')
    return literal
  }

  read(isTrue: Model): readonly string[] | 'missing' {
    if (!holds(isTrue, this.present)) return 'missing'
    return [...this.#has].filter(([, literal]) => holds(isTrue, literal)).map(([word]) => word)
  }
}

export function holds(isTrue: Model, literal: Literal): boolean {
  return isTrue(Math.abs(literal)) === literal > 0
}

export type { Model }
