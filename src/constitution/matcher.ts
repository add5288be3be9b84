/**
 * Compiles a rule to a function over a projection. Two-valued inside (K-2): a missing field makes EQ,
 * IN, INTERSECTS and WINDOW_MATCH false, and EXISTS asks for nothing but presence. There is no other
 * operator, no number is compared but for equality of windows, and nothing can fail.
 */
import type { AdmittedRule, Guard, GuardPath, GuardSide } from '../contracts/index.ts'
import { type Projection, SLOTS } from './projection.ts'

export type Matcher = (seen: Projection) => boolean

export function compileRule(rule: AdmittedRule): Matcher {
  const guard = compileGuard(rule.guard)
  const scope = compileScope(rule)
  return scope === null ? guard : (seen) => scope(seen) && guard(seen)
}

export function compileGuard(guard: Guard): Matcher {
  switch (guard.op) {
    case 'AND':
      return every(guard.args.map(compileGuard))
    case 'OR':
      return some(guard.args.map(compileGuard))
    case 'NOT': {
      const inner = compileGuard(guard.arg)
      return (seen) => !inner(seen)
    }
    case 'EQ':
      return equals(guard.field, guard.value)
    case 'IN': {
      const slot = SLOTS[guard.field]
      const words: ReadonlySet<unknown> = new Set(guard.set)
      return (seen) => words.has(seen[slot])
    }
    case 'EXISTS': {
      const slot = SLOTS[guard.field]
      return (seen) => seen[slot] !== undefined
    }
    case 'INTERSECTS':
      return intersects(guard.left, guard.right)
    case 'WINDOW_MATCH':
      return windowsMatch
    default:
      return guard satisfies never
  }
}

function every(matchers: readonly Matcher[]): Matcher {
  const [first, second] = matchers
  if (first !== undefined && second !== undefined && matchers.length === 2)
    return (seen) => first(seen) && second(seen)
  return (seen) => {
    for (let index = 0; index < matchers.length; index++)
      if (!(matchers[index] as Matcher)(seen)) return false
    return true
  }
}

function some(matchers: readonly Matcher[]): Matcher {
  return (seen) => {
    for (let index = 0; index < matchers.length; index++)
      if ((matchers[index] as Matcher)(seen)) return true
    return false
  }
}

function equals(path: GuardPath, value: string | number): Matcher {
  const slot = SLOTS[path]
  return (seen) => seen[slot] === value
}

function intersects(left: GuardSide, right: GuardSide): Matcher {
  const readLeft = side(left)
  const readRight = side(right)
  return (seen) => shareWord(readLeft(seen), readRight(seen))
}

function side(side: GuardSide): (seen: Projection) => readonly unknown[] | undefined {
  if (typeof side !== 'string') return () => side
  const slot = SLOTS[side]
  // A set path holds a list or is missing.
  return (seen) => seen[slot] as readonly unknown[] | undefined
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

const STATE_START = SLOTS['problem_state.window.startTs']
const STATE_END = SLOTS['problem_state.window.endTs']
const PERMISSION_START = SLOTS['permission_set.window.startTs']
const PERMISSION_END = SLOTS['permission_set.window.endTs']

/** Both windows are there, run forwards and are the same. */
function windowsMatch(seen: Projection): boolean {
  const start = seen[STATE_START]
  const end = seen[STATE_END]
  if (typeof start !== 'number' || typeof end !== 'number' || end <= start) return false
  return seen[PERMISSION_START] === start && seen[PERMISSION_END] === end
}

const SUBJECT_LEAVES = ['projectId', 'groupId', 'plotId', 'blockId'] as const

/** Equality with the permission set's own subject, scale and window. */
function compileScope({ scope, inputsUsed }: AdmittedRule): Matcher | null {
  if (scope === null) return null
  const matchers: Matcher[] = []
  if (scope.subjectRef !== undefined)
    matchers.push(...subjectMatchers(scope.subjectRef, inputsUsed))
  if (scope.scale !== undefined) matchers.push(equals('permission_set.scale', scope.scale))
  if (scope.window !== undefined) {
    matchers.push(equals('permission_set.window.startTs', scope.window.startTs))
    matchers.push(equals('permission_set.window.endTs', scope.window.endTs))
  }
  return every(matchers)
}

/**
 * A rule that declares the whole subject is held to the whole: a leaf that its scope does not name
 * must be missing. A rule that declares leaves sees, and is held to, only those that it names.
 */
function subjectMatchers(
  subject: NonNullable<NonNullable<AdmittedRule['scope']>['subjectRef']>,
  inputsUsed: readonly GuardPath[],
): readonly Matcher[] {
  const whole = inputsUsed.includes('permission_set.subjectRef')
  return SUBJECT_LEAVES.filter((leaf) => whole || subject[leaf] !== undefined).map((leaf) => {
    const slot = SLOTS[`permission_set.subjectRef.${leaf}`]
    const value = subject[leaf]
    return (seen) => seen[slot] === value
  })
}

/** The paths that a rule's projection holds: what it declares, and the leaves of a whole subject. */
export function pathsOfRule({ inputsUsed, scope }: AdmittedRule): readonly GuardPath[] {
  if (scope?.subjectRef === undefined || !inputsUsed.includes('permission_set.subjectRef'))
    return inputsUsed
  return [
    ...inputsUsed,
    ...SUBJECT_LEAVES.map((leaf) => `permission_set.subjectRef.${leaf}` as const),
  ]
}
