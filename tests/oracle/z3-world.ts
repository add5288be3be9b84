/**
 * Rules in the terms of z3, written from the specification alone: words are numbers, sets are bit
 * vectors, moments are integers with their real order. It shares nothing with the analysis it is
 * compared with but the documents themselves.
 */
/* biome-ignore-all lint/suspicious/noExplicitAny: an oracle reads documents as they come */
import type { Arith, BitVec, Bool, Context, Solver } from 'z3-solver'

type Z = Context<'writ'>
type Truth = Bool<'writ'>
type Whole = Arith<'writ'>
type Tree = any

export const SCALARS = [
  'problem_state.subjectRef.projectId',
  'problem_state.subjectRef.groupId',
  'problem_state.subjectRef.plotId',
  'problem_state.subjectRef.blockId',
  'problem_state.problem_type',
  'problem_state.confidence',
  'problem_state.problem_scope',
  'problem_state.state_layer_hint',
  'problem_state.rate_class_hint',
  'uncertainty_envelope.problem_state_ref',
  'permission_set.subjectRef.projectId',
  'permission_set.subjectRef.groupId',
  'permission_set.subjectRef.plotId',
  'permission_set.subjectRef.blockId',
  'permission_set.scale',
]
export const SETS = [
  'problem_state.uncertainty_sources[]',
  'uncertainty_envelope.uncertainty_sources[]',
  'permission_set.candidate_actions[].action_code',
]
export const WINDOW_LEAVES = [
  'problem_state.window.startTs',
  'problem_state.window.endTs',
  'permission_set.window.startTs',
  'permission_set.window.endTs',
]
export const EXISTENCE_ONLY = [
  'problem_state.supporting_evidence_refs[]',
  'uncertainty_envelope.supporting_evidence_refs[]',
  'permission_set.supporting_evidence_refs[]',
  'permission_set.action_taxonomy_ref',
]
const LEAVES = ['projectId', 'groupId', 'plotId', 'blockId']

/**
 * Every word as a number from 1, and as a bit. Eight more bits are words that no guard mentions:
 * three sets can differ in eight kinds of them and no more.
 */
export class Words {
  readonly #numbers = new Map<string, number>()
  static readonly SPARE = 8

  constructor(...documents: readonly unknown[]) {
    const visit = (value: unknown): void => {
      if (typeof value === 'string')
        this.#numbers.set(value, this.#numbers.get(value) ?? this.#numbers.size + 1)
      else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit)
    }
    documents.forEach(visit)
  }

  of(word: string): number {
    const number = this.#numbers.get(word)
    if (number === undefined) throw new Error(`the word ${word} has no number`)
    return number
  }

  get width(): number {
    return this.#numbers.size + 1 + Words.SPARE
  }

  mask(words: readonly string[]): bigint {
    return words.reduce((mask, word) => mask | (1n << BigInt(this.of(word))), 0n)
  }
}

/** What the three documents hold: for each path whether it is there, and its value. */
export interface Holdings {
  readonly present: ReadonlyMap<string, Truth>
  readonly scalar: ReadonlyMap<string, Whole>
  readonly moment: ReadonlyMap<string, Whole>
  readonly set: ReadonlyMap<string, BitVec<number, 'writ'>>
}

export class Z3World {
  readonly z: Z
  readonly words: Words
  readonly #actionCode: string

  constructor(z: Z, words: Words, actionCode: string) {
    this.z = z
    this.words = words
    this.#actionCode = actionCode
  }

  /** Fresh documents, the same as `base` but for `changed`. */
  holdings(name: string, base: Holdings | null = null, changed: readonly string[] = []): Holdings {
    const { Bool, Int, BitVec } = this.z
    const make = <T>(
      paths: readonly string[],
      old: ReadonlyMap<string, T> | undefined,
      fresh: (id: string) => T,
    ) =>
      new Map(
        paths.map((path) => {
          const kept = changed.includes(path) ? undefined : old?.get(path)
          return [path, kept ?? fresh(`${name}:${path}`)] as const
        }),
      )
    return {
      present: make(
        [...SCALARS, ...SETS, ...WINDOW_LEAVES, ...EXISTENCE_ONLY],
        base?.present,
        (id) => Bool.const(`${id}?`),
      ),
      scalar: make(SCALARS, base?.scalar, (id) => Int.const(id)),
      moment: make(WINDOW_LEAVES, base?.moment, (id) => Int.const(id)),
      set: make(SETS, base?.set, (id) => BitVec.const(id, this.words.width)),
    }
  }

  /** The inputs are bound, the action is a candidate, and what is missing holds nothing. */
  assume(solver: Solver<'writ'>, held: Holdings): void {
    const { Implies, Not, BitVec } = this.z
    const present = (path: string) => need(held.present, path)
    for (const leaf of LEAVES) {
      const [left, right] = ['problem_state', 'permission_set'].map(
        (document) => `${document}.subjectRef.${leaf}`,
      ) as [string, string]
      solver.add(present(left).eq(present(right)))
      solver.add(need(held.scalar, left).eq(need(held.scalar, right)))
    }
    for (const path of SETS) {
      const none = BitVec.val(0, this.words.width)
      solver.add(Implies(Not(present(path)), need(held.set, path).eq(none)))
    }
    solver.add(present('uncertainty_envelope.problem_state_ref'))
    const candidates = 'permission_set.candidate_actions[].action_code'
    solver.add(present(candidates))
    solver.add(this.#shares(need(held.set, candidates), [this.#actionCode]))
  }

  guard(guard: Tree, held: Holdings): Truth {
    const { And, Or, Not, Bool, BitVec } = this.z
    switch (guard.op) {
      case 'AND':
        return And(...guard.args.map((one: Tree) => this.guard(one, held)))
      case 'OR':
        return Or(...guard.args.map((one: Tree) => this.guard(one, held)))
      case 'NOT':
        return Not(this.guard(guard.arg, held))
      case 'EQ':
        return this.#equals(guard.field, guard.value, held)
      case 'IN':
        return Or(...guard.set.map((word: string) => this.#equals(guard.field, word, held)))
      case 'EXISTS':
        return guard.field.endsWith('.subjectRef')
          ? Bool.val(true)
          : need(held.present, guard.field)
      case 'INTERSECTS': {
        const side = (one: string | readonly string[]) =>
          typeof one === 'string'
            ? need(held.set, one)
            : BitVec.val(this.words.mask(one), this.words.width)
        return side(guard.left).and(side(guard.right)).neq(BitVec.val(0, this.words.width))
      }
      default:
        return this.#windowsMatch(held)
    }
  }

  rule({ guard, scope }: Tree, held: Holdings): Truth {
    const { And } = this.z
    const parts = [this.guard(guard, held)]
    for (const leaf of LEAVES) {
      const path = `permission_set.subjectRef.${leaf}`
      const wanted = scope?.subjectRef?.[leaf]
      if (wanted !== undefined) parts.push(this.#equals(path, wanted, held))
    }
    if (scope?.scale !== undefined)
      parts.push(this.#equals('permission_set.scale', scope.scale, held))
    for (const [leaf, moment] of Object.entries(scope?.window ?? {})) {
      const path = `permission_set.window.${leaf}`
      parts.push(need(held.present, path), need(held.moment, path).eq(Number(moment)))
    }
    return And(...parts)
  }

  #equals(path: string, word: string, held: Holdings): Truth {
    return this.z.And(need(held.present, path), need(held.scalar, path).eq(this.words.of(word)))
  }

  #shares(set: BitVec<number, 'writ'>, words: readonly string[]): Truth {
    const { BitVec } = this.z
    const { width } = this.words
    return set.and(BitVec.val(this.words.mask(words), width)).neq(BitVec.val(0, width))
  }

  #windowsMatch(held: Holdings): Truth {
    const [stateStart, stateEnd, start, end] = WINDOW_LEAVES.map((leaf) =>
      need(held.moment, leaf),
    ) as [Whole, Whole, Whole, Whole]
    return this.z.And(
      ...WINDOW_LEAVES.map((leaf) => need(held.present, leaf)),
      stateStart.eq(start),
      stateEnd.eq(end),
      end.gt(start),
    )
  }
}

function need<T>(map: ReadonlyMap<string, T>, path: string): T {
  const found = map.get(path)
  if (found === undefined) throw new Error(`nothing stands for ${path}`)
  return found
}
