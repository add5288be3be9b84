/**
 * Collects what rules and questions mention: the words of each path, the moments of the window, and
 * the pairs of sets that guards compare. A world needs to distinguish nothing else.
 */
import type { AdmittedRule, Guard, GuardPath, GuardSide, SetPath } from '../../contracts/index.ts'

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
