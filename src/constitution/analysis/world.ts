/**
 * One world: the variables that stand for one set of inputs, what always holds between them, and the
 * formula of any guard over them. Only bound inputs are worlds (`binding.ts`): on all others every
 * verdict is UNDETERMINED, whatever the rules say. So both subjects are there and equal, the
 * envelope names its problem state, and the action in question is among the candidates.
 *
 * A second world can share everything with a first one but for some paths: that is how "because this
 * field is missing" is asked.
 */
import type {
  AdmittedRule,
  Guard,
  GuardPath,
  GuardSide,
  ScalarPath,
  SetPath,
} from '../../contracts/index.ts'
import { holds, type Model, ScalarDomain, SetDomain } from './domain.ts'
import type { Formulas } from './formula.ts'
import type { Mentions } from './mention.ts'
import type { Literal } from './solver.ts'

export const SUBJECT_LEAVES = ['projectId', 'groupId', 'plotId', 'blockId'] as const

/** Paths that are one variable in bound inputs share this name. */
export function unified(path: GuardPath): string {
  return path.replace(/^(?:problem_state|permission_set)\.subjectRef\./, 'subjectRef.')
}

export interface WorldPlan {
  readonly mentions: Mentions
  /** The action codes whose verdict is asked: they are candidates. */
  readonly actionCodes: readonly string[]
}

export class World {
  readonly #formulas: Formulas
  readonly #plan: WorldPlan
  readonly #scalars = new Map<string, ScalarDomain<string>>()
  readonly #sets = new Map<string, SetDomain>()
  readonly #bits = new Map<string, Literal>()
  readonly #moments = new Map<string, ScalarDomain<number>>()
  readonly #base: World | null
  readonly #fresh: ReadonlySet<string>

  constructor(
    formulas: Formulas,
    plan: WorldPlan,
    base: World | null = null,
    fresh: Iterable<GuardPath> = [],
  ) {
    this.#formulas = formulas
    this.#plan = plan
    this.#base = base
    this.#fresh = new Set([...fresh].map(unified))
  }

  /** True where the guard is. */
  guard(guard: Guard): Literal {
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
      case 'IN':
        return formulas.some(guard.set.map((word) => this.scalar(guard.field).equal(word)))
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

  rule({ guard, scope, inputsUsed }: AdmittedRule): Literal {
    const literals = [this.guard(guard)]
    if (scope?.subjectRef !== undefined) {
      const whole = inputsUsed.includes('permission_set.subjectRef')
      for (const leaf of SUBJECT_LEAVES) {
        const value = scope.subjectRef[leaf]
        const domain = this.scalar(`permission_set.subjectRef.${leaf}`)
        if (value !== undefined) literals.push(domain.equal(value))
        else if (whole) literals.push(-domain.present)
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

  present(path: GuardPath): Literal {
    if (isSet(path)) return this.set(path).present
    switch (path) {
      case 'problem_state.subjectRef':
      case 'permission_set.subjectRef':
        return this.#formulas.yes
      case 'permission_set.window.startTs':
        return this.moment('startTs').present
      case 'permission_set.window.endTs':
        return this.moment('endTs').present
      case 'problem_state.window.startTs':
      case 'problem_state.window.endTs':
      case 'problem_state.supporting_evidence_refs[]':
      case 'uncertainty_envelope.supporting_evidence_refs[]':
      case 'permission_set.supporting_evidence_refs[]':
      case 'permission_set.action_taxonomy_ref':
        return this.#bit(path)
      default:
        return this.scalar(path).present
    }
  }

  scalar(path: ScalarPath): ScalarDomain<string> {
    return this.#shared(
      this.#scalars,
      unified(path),
      (world) => world.scalar(path),
      () => {
        const words = new Set(
          [...this.#plan.mentions.words]
            .filter(([other]) => unified(other) === unified(path))
            .flatMap(([, set]) => [...set]),
        )
        const always =
          path === 'uncertainty_envelope.problem_state_ref' ? this.#formulas.yes : undefined
        return new ScalarDomain(this.#formulas, words, always)
      },
    )
  }

  set(path: SetPath): SetDomain {
    return this.#shared(
      this.#sets,
      path,
      (world) => world.set(path),
      () => {
        const words = this.#plan.mentions.wordsOf(path)
        if (path !== CANDIDATES) return new SetDomain(this.#formulas, words)
        const domain = new SetDomain(this.#formulas, words, this.#formulas.yes)
        for (const code of this.#plan.actionCodes) this.#formulas.state(domain.has(code))
        return domain
      },
    )
  }

  /** The leaves of the permission set's window. */
  moment(leaf: 'startTs' | 'endTs'): ScalarDomain<number> {
    const name = `permission_set.window.${leaf}`
    return this.#shared(
      this.#moments,
      name,
      (world) => world.moment(leaf),
      () => {
        const { starts, ends } = this.#plan.mentions
        return new ScalarDomain(this.#formulas, leaf === 'startTs' ? starts : ends)
      },
    )
  }

  windowsMatch(): Literal {
    return this.#bit('WINDOW_MATCH', (match) => {
      const start = this.moment('startTs')
      const end = this.moment('endTs')
      for (const leaf of ['problem_state.window.startTs', 'problem_state.window.endTs'] as const) {
        this.#formulas.state(-match, this.present(leaf))
      }
      this.#formulas.state(-match, start.present)
      this.#formulas.state(-match, end.present)
      // A window that does not run forwards matches none.
      for (const from of start.values) {
        for (const to of end.values) {
          if (to <= from) this.#formulas.state(-match, -start.equal(from), -end.equal(to))
        }
      }
    })
  }

  /** A word that nobody mentions stands in both sets; for a set and itself, in that set. */
  shared(left: SetPath, right: SetPath): Literal {
    const name = [left, right].sort().join(' & ')
    return this.#bit(name, (literal) => {
      for (const path of [left, right]) {
        this.#formulas.state(-literal, this.set(path).present)
        if (left !== right) this.#formulas.state(-literal, this.shared(path, path))
      }
    })
  }

  holdsIn(isTrue: Model, literal: Literal): boolean {
    return holds(isTrue, literal)
  }

  #intersects(left: GuardSide, right: GuardSide): Literal {
    if (typeof left === 'string' && typeof right === 'string') {
      const [one, two] = [this.set(left), this.set(right)]
      const common = one.words.map((word) => this.#formulas.every([one.has(word), two.has(word)]))
      return this.#formulas.some([...common, this.shared(left, right)])
    }
    const [path, words] = typeof left === 'string' ? [left, right] : [right, left]
    const domain = this.set(path as SetPath)
    return this.#formulas.some((words as readonly string[]).map((word) => domain.has(word)))
  }

  #bit(name: string, state: (literal: Literal) => void = () => undefined): Literal {
    const inherited = this.#inherits(name) ? this.#base : null
    if (inherited !== null) return inherited.#bit(name, state)
    const known = this.#bits.get(name)
    if (known !== undefined) return known
    const literal = this.#formulas.variable()
    this.#bits.set(name, literal)
    state(literal)
    return literal
  }

  #shared<D>(table: Map<string, D>, name: string, inherit: (world: World) => D, make: () => D): D {
    if (this.#base !== null && this.#inherits(name)) return inherit(this.#base)
    const known = table.get(name)
    if (known !== undefined) return known
    const made = make()
    table.set(name, made)
    return made
  }

  /** What a changed path takes part in is changed with it. */
  #inherits(name: string): boolean {
    if (this.#base === null) return false
    if (name === 'WINDOW_MATCH') return ![...this.#fresh].some((path) => path.includes('.window.'))
    return ![...this.#fresh].some((path) => name === path || name.split(' & ').includes(path))
  }
}

const CANDIDATES = 'permission_set.candidate_actions[].action_code'

function isSet(path: GuardPath): path is SetPath {
  return path === CANDIDATES || path.endsWith('uncertainty_sources[]')
}
