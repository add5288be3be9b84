/**
 * The values that a simple guard allows. A guard is simple if it is a conjunction of comparisons of
 * fields with literals. The domains of simple guards show whether two guards overlap, and whether
 * several leave a gap.
 *
 * INVARIANT (only what is certain): a guard of any other form has no domain and gets no warning.
 */
import type { Expression } from '../../expression/index.ts'

type Tree = Expression['tree']

/** Numbers from `low` to `high`; each bound may itself be left out. */
interface Range {
  readonly kind: 'range'
  readonly low: number
  readonly isLowOut: boolean
  readonly high: number
  readonly isHighOut: boolean
}

/** These values, or all others. Texts are quoted, so that `"true"` and `true` differ. */
interface Values {
  readonly kind: 'values'
  readonly values: ReadonlySet<string>
  readonly isComplement: boolean
}

type FieldDomain = Range | Values

/** By path of the field. */
export type Domain = ReadonlyMap<string, FieldDomain>

/** Returns the domain of a guard; null if the guard is not simple. */
export function domainOf(tree: Tree): Domain | null {
  const atoms = tree.kind === 'logic' && tree.operator === '&&' ? tree.operands : [tree]
  const domain = new Map<string, FieldDomain>()
  for (const atom of atoms) {
    const one = atomOf(atom)
    if (one === null) return null
    const known = domain.get(one.path)
    const both = known === undefined ? one.domain : meet(known, one.domain)
    if (both === null) return null
    domain.set(one.path, both)
  }
  return domain
}

interface Atom {
  readonly path: string
  readonly domain: FieldDomain
}

function atomOf(tree: Tree): Atom | null {
  if (tree.kind === 'not') {
    const path = pathOf(tree.operand)
    return path === null ? null : { path, domain: values([false], false) }
  }
  if (tree.kind === 'in') return membership(tree.left, tree.right)
  if (tree.kind !== 'compare') {
    const path = pathOf(tree)
    return path === null ? null : { path, domain: values([true], false) }
  }
  const { left, right, operator } = tree
  const forward = pathOf(left)
  if (forward !== null) return comparison(forward, operator, literalOf(right))
  const backward = pathOf(right)
  return backward === null ? null : comparison(backward, TURNED[operator], literalOf(left))
}

const TURNED = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

function membership(left: Tree, right: Tree): Atom | null {
  const path = pathOf(left)
  if (path === null || right.kind !== 'list') return null
  const literals = right.items.map(literalOf)
  if (!literals.every((one) => typeof one === 'string' || typeof one === 'boolean')) return null
  return { path, domain: values(literals, false) }
}

function comparison(
  path: string,
  operator: keyof typeof TURNED,
  literal: string | number | boolean | null,
): Atom | null {
  if (literal === null) return null
  if (typeof literal !== 'number') {
    if (operator !== '==' && operator !== '!=') return null
    return { path, domain: values([literal], operator === '!=') }
  }
  const { POSITIVE_INFINITY: top, NEGATIVE_INFINITY: bottom } = Number
  switch (operator) {
    case '==':
      return { path, domain: range(literal, false, literal, false) }
    case '<':
    case '<=':
      return { path, domain: range(bottom, false, literal, operator === '<') }
    case '>':
    case '>=':
      return { path, domain: range(literal, operator === '>', top, false) }
    case '!=':
      return null
    default:
      return operator satisfies never
  }
}

function range(low: number, isLowOut: boolean, high: number, isHighOut: boolean): Range {
  return { kind: 'range', low, isLowOut, high, isHighOut }
}

function values(list: readonly (string | boolean)[], isComplement: boolean): Values {
  return { kind: 'values', values: new Set(list.map((one) => JSON.stringify(one))), isComplement }
}

/** `state.score`: a variable and the fields below it. */
function pathOf(tree: Tree): string | null {
  const steps: string[] = []
  let node = tree
  while (node.kind === 'select') {
    steps.push(node.name)
    node = node.base
  }
  if (node.kind !== 'name' || steps.length === 0) return null
  return [node.name, ...steps.reverse()].join('.')
}

function literalOf(tree: Tree): string | number | boolean | null {
  if (tree.kind === 'negate') {
    const inner = literalOf(tree.operand)
    return typeof inner === 'number' ? -inner : null
  }
  if (tree.kind !== 'literal' || tree.type === 'null') return null
  if (typeof tree.value === 'bigint') return null
  return tree.value
}

/** What both allow; null when the two are of different kinds, or nothing is left. */
function meet(one: FieldDomain, other: FieldDomain): FieldDomain | null {
  if (one.kind === 'range' && other.kind === 'range') return meetRanges(one, other)
  if (one.kind !== 'values' || other.kind !== 'values') return null
  if (one.isComplement && other.isComplement) {
    return { ...one, values: new Set([...one.values, ...other.values]) }
  }
  const [listed, judge] = one.isComplement ? [other, one] : [one, other]
  const left = [...listed.values].filter((value) => judge.values.has(value) !== judge.isComplement)
  return left.length === 0 ? null : { kind: 'values', values: new Set(left), isComplement: false }
}

function meetRanges(one: Range, other: Range): Range | null {
  const isOneLower = one.low > other.low || (one.low === other.low && one.isLowOut)
  const isOneUpper = one.high < other.high || (one.high === other.high && one.isHighOut)
  const { low, isLowOut } = isOneLower ? one : other
  const { high, isHighOut } = isOneUpper ? one : other
  if (low > high || (low === high && (isLowOut || isHighOut))) return null
  return range(low, isLowOut, high, isHighOut)
}

/** A value that a range holds, for a message. */
function inside({ low, isLowOut, high, isHighOut }: Range): number {
  if (low === high) return low
  if (Number.isFinite(low) && !isLowOut) return low
  if (Number.isFinite(high) && !isHighOut) return high
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2
  if (Number.isFinite(low)) return low + 1
  return Number.isFinite(high) ? high - 1 : 0
}

/** Describes values for which both guards are open; null if none are known. */
export function overlapOf(one: Domain, other: Domain): string | null {
  const words: string[] = []
  for (const path of new Set([...one.keys(), ...other.keys()])) {
    const [left, right] = [one.get(path), other.get(path)]
    const both = left === undefined || right === undefined ? (left ?? right) : meet(left, right)
    if (both === null || both === undefined) return null
    words.push(`${path} is ${exampleOf(both)}`)
  }
  return words.join(' and ')
}

function exampleOf(domain: FieldDomain): string {
  if (domain.kind === 'range') return String(inside(domain))
  const [first] = domain.values
  return domain.isComplement ? `not ${first}` : (first ?? '')
}

/**
 * Describes a value that no guard allows; null if none is known. All guards must test the same single
 * field. `words` lists every value of the field, or is null if that list is unknown.
 */
export function gapOf(domains: readonly Domain[], words: readonly string[] | null): string | null {
  const [first] = domains
  const path = first === undefined || first.size !== 1 ? undefined : [...first.keys()][0]
  if (path === undefined) return null
  const parts: FieldDomain[] = []
  for (const domain of domains) {
    const part = domain.get(path)
    if (domain.size !== 1 || part === undefined || part.kind !== first?.get(path)?.kind) return null
    parts.push(part)
  }
  const gap = parts.every((part) => part.kind === 'range')
    ? gapOfRanges(parts, COUNTS.has(path))
    : // The loop above let only parts of one kind pass, and these are not ranges.
      gapOfValues(parts as readonly Values[], words)
  return gap === null ? null : `${path} is ${gap}`
}

function gapOfValues(parts: readonly Values[], words: readonly string[] | null): string | null {
  const open = (value: string): boolean =>
    parts.some((part) => part.values.has(value) !== part.isComplement)
  const named = new Set(parts.flatMap((part) => [...part.values]))
  const all =
    words?.map((word) => JSON.stringify(word)) ?? (isTruth(named) ? ['true', 'false'] : null)
  const missing = (all ?? [...named]).find((value) => !open(value))
  if (missing !== undefined) return missing
  return all !== null || parts.some((part) => part.isComplement) ? null : 'none of these words'
}

function isTruth(named: ReadonlySet<string>): boolean {
  return [...named].every((value) => value === 'true' || value === 'false')
}

/** Fields that the host counts: whole numbers from 0. */
const COUNTS: ReadonlySet<string> = new Set(
  ['tool_calls', 'attempt_count', 'rejection_count'].map((name) => `state.${name}`),
)

function gapOfRanges(parts: readonly Range[], isCount: boolean): string | null {
  const sorted = [...parts].sort(
    (one, other) => one.low - other.low || Number(one.isLowOut) - Number(other.isLowOut),
  )
  let high = isCount ? 0 : Number.NEGATIVE_INFINITY
  let isHighOut = isCount
  for (const part of sorted) {
    const touches = part.low < high || (part.low === high && !(part.isLowOut && isHighOut))
    if (!touches && !(high === Number.NEGATIVE_INFINITY && part.low === high)) {
      const gap = gapBetween(high, isHighOut, part.low, part.isLowOut)
      const whole = isHighOut ? Math.ceil(high) : Math.floor(high) + 1
      if (!isCount) return gap
      if (whole < part.low || (whole === part.low && part.isLowOut)) return String(whole)
    }
    if (part.high > high || (part.high === high && !part.isHighOut)) {
      high = part.high
      isHighOut = part.isHighOut
    }
  }
  return high === Number.POSITIVE_INFINITY
    ? null
    : gapBetween(high, isHighOut, Number.POSITIVE_INFINITY, false)
}

/** Beyond `low`, or at it when it was left out, and below `high`. */
function gapBetween(low: number, isLowIn: boolean, high: number, isHighIn: boolean): string {
  return String(inside(range(low, !isLowIn, high, !isHighIn)))
}
