/**
 * Compiles a rule: the conditions that the sieve knows how to ask, and a function over a projection
 * for the rest. Two-valued inside (K-2): a missing field makes EQ, IN, INTERSECTS and WINDOW_MATCH
 * false, and EXISTS asks for nothing but presence. There is no other operator, no number is compared
 * but for equality of windows, and nothing can fail.
 */
import type { AdmittedRule, Guard, GuardPath, GuardSide } from '../../contracts/index.ts'
import type { InputValue, Projection, SlotOf } from './projection.ts'
import type { Condition, Sifted } from './sieve.ts'

export type Matcher = (seen: Projection) => boolean

export function compileRule(rule: AdmittedRule, slotOf: SlotOf): Sifted {
  const conditions = scopeConditions(rule, slotOf)
  const rest: Guard[] = []
  for (const part of conjuncts(rule.guard)) {
    const condition = conditionOf(part, slotOf)
    if (condition === null || asksTwice(condition, conditions)) rest.push(part)
    else conditions.push(condition)
  }
  const matchers = rest.map((part) => compileGuard(part, slotOf))
  return { conditions, rest: matchers.length === 0 ? null : every(matchers) }
}

/** The parts of a guard that must all hold: a chain of ANDs is one list. */
function conjuncts(guard: Guard): readonly Guard[] {
  return guard.op === 'AND' ? guard.args.flatMap(conjuncts) : [guard]
}

/** The part as a condition on one slot, or null when it is more than that. */
function conditionOf(part: Guard, slotOf: SlotOf, isNegated = false): Condition | null {
  switch (part.op) {
    case 'NOT':
      return isNegated ? null : conditionOf(part.arg, slotOf, true)
    case 'EQ':
      return scalarCondition(slotOf(part.field), [part.value], isNegated)
    case 'IN':
      return scalarCondition(slotOf(part.field), part.set, isNegated)
    case 'EXISTS':
      return { slot: slotOf(part.field), words: null, isSet: false, isNegated }
    case 'INTERSECTS':
      return isNegated ? null : setCondition(part.left, part.right, slotOf)
    case 'AND':
    case 'OR':
    case 'WINDOW_MATCH':
      return null
    default:
      return part satisfies never
  }
}

function scalarCondition(
  slot: number,
  words: readonly InputValue[],
  isNegated: boolean,
): Condition {
  return { slot, words: new Set(words), isSet: false, isNegated }
}

function setCondition(left: GuardSide, right: GuardSide, slotOf: SlotOf): Condition | null {
  if (typeof left === 'string')
    return typeof right === 'string' ? null : wordsIn(slotOf(left), right)
  return typeof right === 'string' ? wordsIn(slotOf(right), left) : null
}

function wordsIn(slot: number, words: readonly string[]): Condition {
  return { slot, words: new Set(words), isSet: true, isNegated: false }
}

/** The sieve has one bit for a rule and a set: a second question about it is asked by itself. */
function asksTwice({ slot, isSet }: Condition, conditions: readonly Condition[]): boolean {
  return isSet && conditions.some((other) => other.slot === slot && other.isSet)
}

export function compileGuard(guard: Guard, slotOf: SlotOf): Matcher {
  switch (guard.op) {
    case 'AND':
      return every(guard.args.map((argument) => compileGuard(argument, slotOf)))
    case 'OR':
      return some(guard.args.map((argument) => compileGuard(argument, slotOf)))
    case 'NOT': {
      const inner = compileGuard(guard.arg, slotOf)
      return (seen) => !inner(seen)
    }
    case 'EQ':
      return equals(slotOf(guard.field), guard.value)
    case 'IN':
      return isIn(slotOf(guard.field), guard.set)
    case 'EXISTS': {
      const slot = slotOf(guard.field)
      return (seen) => seen[slot] !== undefined
    }
    case 'INTERSECTS':
      return intersects(guard.left, guard.right, slotOf)
    case 'WINDOW_MATCH':
      return windowsMatch(slotOf)
    default:
      return guard satisfies never
  }
}

function every(matchers: readonly Matcher[]): Matcher {
  const [first, second] = matchers
  if (first !== undefined && matchers.length === 1) return first
  if (first !== undefined && second !== undefined && matchers.length === 2)
    return (seen) => first(seen) && second(seen)
  return (seen) => {
    // `index` is below `matchers.length`; the list never shrinks.
    for (let index = 0; index < matchers.length; index++)
      if (!(matchers[index] as Matcher)(seen)) return false
    return true
  }
}

function some(matchers: readonly Matcher[]): Matcher {
  return (seen) => {
    // In range, as in `every`.
    for (let index = 0; index < matchers.length; index++)
      if ((matchers[index] as Matcher)(seen)) return true
    return false
  }
}

function equals(slot: number, value: string | number): Matcher {
  return (seen) => seen[slot] === value
}

const LISTED_MAX = 8

/** A few words are compared one by one, many are looked up. */
function isIn(slot: number, set: readonly string[]): Matcher {
  if (set.length <= LISTED_MAX) {
    const words: readonly unknown[] = set
    return (seen) => words.includes(seen[slot])
  }
  const words: ReadonlySet<unknown> = new Set(set)
  return (seen) => words.has(seen[slot])
}

function intersects(left: GuardSide, right: GuardSide, slotOf: SlotOf): Matcher {
  if (typeof left === 'string' && typeof right === 'string') {
    const [one, two] = [slotOf(left), slotOf(right)]
    return (seen) => shareWord(setIn(seen, one), setIn(seen, two))
  }
  const [path, words] = typeof left === 'string' ? [left, right] : [right, left]
  // Admission lets at most one side be a set of words.
  const slot = slotOf(path as GuardPath)
  return (seen) => shareWord(setIn(seen, slot), words as readonly string[])
}

/** A set path holds a list or is missing. */
function setIn(seen: Projection, slot: number): readonly unknown[] | undefined {
  return seen[slot] as readonly unknown[] | undefined
}

/** Sets are a handful of words: comparing them pairwise beats hashing. */
function shareWord(
  left: readonly unknown[] | undefined,
  right: readonly unknown[] | undefined,
): boolean {
  if (left === undefined || right === undefined) return false
  if (left.length * right.length > PAIRS_MAX) return shareHashedWord(left, right)
  for (let index = 0; index < left.length; index++) {
    const word = left[index]
    if (typeof word === 'string' && right.includes(word)) return true
  }
  return false
}

const PAIRS_MAX = 1024

function shareHashedWord(left: readonly unknown[], right: readonly unknown[]): boolean {
  const words = new Set(left)
  return right.some((word) => typeof word === 'string' && words.has(word))
}

/** Both windows are there, run forwards and are the same. */
function windowsMatch(slotOf: SlotOf): Matcher {
  const stateStart = slotOf('problem_state.window.startTs')
  const stateEnd = slotOf('problem_state.window.endTs')
  const permissionStart = slotOf('permission_set.window.startTs')
  const permissionEnd = slotOf('permission_set.window.endTs')
  return (seen) => {
    const start = seen[stateStart]
    const end = seen[stateEnd]
    if (typeof start !== 'number' || typeof end !== 'number' || end <= start) return false
    return seen[permissionStart] === start && seen[permissionEnd] === end
  }
}

export const SUBJECT_LEAVES = ['projectId', 'groupId', 'plotId', 'blockId'] as const

/** Equality with the permission set's own subject, scale and window. */
function scopeConditions({ scope }: AdmittedRule, slotOf: SlotOf): Condition[] {
  const conditions: Condition[] = []
  const equal = (path: GuardPath, value: InputValue) =>
    conditions.push(scalarCondition(slotOf(path), [value], false))
  if (scope?.subjectRef !== undefined)
    conditions.push(...subjectConditions(scope.subjectRef, slotOf))
  if (scope?.scale !== undefined) equal('permission_set.scale', scope.scale)
  if (scope?.window !== undefined) {
    equal('permission_set.window.startTs', scope.window.startTs)
    equal('permission_set.window.endTs', scope.window.endTs)
  }
  return conditions
}

/** A scope is held to the leaves that it names, and to no other; `inputs_used` takes no part. */
function subjectConditions(
  subject: NonNullable<NonNullable<AdmittedRule['scope']>['subjectRef']>,
  slotOf: SlotOf,
): readonly Condition[] {
  return SUBJECT_LEAVES.flatMap((leaf) => {
    const value = subject[leaf]
    if (value === undefined) return []
    return [scalarCondition(slotOf(`permission_set.subjectRef.${leaf}`), [value], false)]
  })
}

/** Returns the paths that a rule's projection holds: what it declares, and the leaves of its scope. */
export function pathsOfRule({ inputsUsed, scope }: AdmittedRule): readonly GuardPath[] {
  const subject = scope?.subjectRef
  if (subject === undefined) return inputsUsed
  const named = SUBJECT_LEAVES.filter((leaf) => subject[leaf] !== undefined)
  return [...inputsUsed, ...named.map((leaf) => `permission_set.subjectRef.${leaf}` as const)]
}
