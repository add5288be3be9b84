/**
 * Finds out whether an expression may be undetermined in a scene where some fields may be missing. It
 * computes the set of possible answers without values. It errs on the side of "may": it treats operands
 * as independent, except that `has(a.b)` guards the other operands of its `&&`.
 */
import { chainOf, sayPath } from './path.ts'
import { type Node, partsOf } from './syntax.ts'

/** What is known of a document before it is there; paths are as a person writes them. */
export interface Scene {
  readonly absent: ReadonlySet<string>
  /** There or not. */
  readonly optional: ReadonlySet<string>
  /** Fields whose value is known. */
  readonly words: ReadonlyMap<string, string | boolean>
}

/** Possible answers, as bits. */
const TRUE = 1
const FALSE = 2
const UNDETERMINED = 4
const EITHER = TRUE | FALSE

/** The first path, in reading order, whose absence may leave the answer open; null when none can. */
export function mayLackIn(node: Node, scene: Scene): string | null {
  if ((answersOf(node, scene) & UNDETERMINED) === 0) return null
  return missingIn(node, scene) ?? null
}

function answersOf(node: Node, scene: Scene): number {
  switch (node.kind) {
    case 'literal':
      return node.value === false ? FALSE : TRUE
    case 'not':
      return opposite(answersOf(node.operand, scene))
    case 'logic': {
      const informed = assuming(node.operator === '&&' ? node.operands : [], scene)
      const masks = node.operands.map((operand) => answersOf(operand, informed))
      if (node.operator === '&&') return masks.reduce(and)
      return opposite(masks.map(opposite).reduce(and))
    }
    case 'implies': {
      const premise = answersOf(node.left, scene)
      const conclusion = answersOf(node.right, assuming(operandsOf(node.left), scene))
      return opposite(and(premise, opposite(conclusion)))
    }
    case 'choice': {
      const condition = answersOf(node.condition, scene)
      const informed = assuming(operandsOf(node.condition), scene)
      const yes = condition & TRUE ? answersOf(node.yes, informed) : 0
      const no = condition & FALSE ? answersOf(node.no, scene) : 0
      return yes | no | (condition & UNDETERMINED)
    }
    case 'compare':
    case 'in':
      return knownComparison(node, scene) ?? reading(node, scene)
    case 'call':
      return node.name === 'has' ? presence(node.args[0], scene) : reading(node, scene)
    // Other nodes only read.
    default:
      return knownFlag(node, scene) ?? reading(node, scene)
  }
}

/** A field that is known to be true or false. */
function knownFlag(node: Node, scene: Scene): number | null {
  const chain = chainOf(node)
  const value = chain === null ? undefined : scene.words.get(sayPath(chain.root, chain.steps))
  if (typeof value !== 'boolean') return null
  return value ? TRUE : FALSE
}

function opposite(mask: number): number {
  return ((mask & TRUE) << 1) | ((mask & FALSE) >> 1) | (mask & UNDETERMINED)
}

/** Every pair of possible answers, joined as `&&` joins them. */
function and(one: number, other: number): number {
  let mask = (one | other) & FALSE
  if (one & other & TRUE) mask |= TRUE
  if (one & UNDETERMINED && other & (TRUE | UNDETERMINED)) mask |= UNDETERMINED
  if (other & UNDETERMINED && one & (TRUE | UNDETERMINED)) mask |= UNDETERMINED
  return mask
}

/** Returns the answers of a part that reads: it fails if a field that it reads is missing. */
function reading(node: Node, scene: Scene): number {
  const paths = pathsIn(node)
  if (paths.some((path) => scene.absent.has(path))) return EITHER | UNDETERMINED
  return paths.some((path) => scene.optional.has(path)) ? EITHER | UNDETERMINED : EITHER
}

function presence(field: Node | undefined, scene: Scene): number {
  const chain = field === undefined ? null : chainOf(field)
  const path = chain === null ? '' : sayPath(chain.root, chain.steps)
  if (scene.absent.has(path)) return FALSE
  return field === undefined || field.kind !== 'select'
    ? EITHER
    : EITHER | reading(field.base, scene)
}

/** Returns the answer of comparing a field of known value with a literal or a list; null otherwise. */
function knownComparison(
  node: Extract<Node, { kind: 'compare' | 'in' }>,
  scene: Scene,
): number | null {
  const sides =
    node.kind === 'in'
      ? [[node.left, node.right]]
      : [
          [node.left, node.right],
          [node.right, node.left],
        ]
  for (const [field, other] of sides) {
    if (field === undefined || other === undefined) continue
    const chain = chainOf(field)
    const word = chain === null ? undefined : scene.words.get(sayPath(chain.root, chain.steps))
    const literals = other.kind === 'list' ? other.items : [other]
    if (word === undefined || !literals.every((one) => one.kind === 'literal')) continue
    const isAmong = literals.some((one) => one.kind === 'literal' && one.value === word)
    if (node.kind === 'in' || node.operator === '==') return isAmong ? TRUE : FALSE
    if (node.operator === '!=') return isAmong ? FALSE : TRUE
  }
  return null
}

function operandsOf(node: Node): readonly Node[] {
  return node.kind === 'logic' && node.operator === '&&' ? node.operands : [node]
}

/** Returns the scene for operands of `&&`: if one is `has(a.b)`, the others count only with `a.b`. */
function assuming(operands: readonly Node[], scene: Scene): Scene {
  const optional = new Set(scene.optional)
  for (const operand of operands) {
    const [field] = operand.kind === 'call' && operand.name === 'has' ? operand.args : []
    const chain = field === undefined ? null : chainOf(field)
    if (chain !== null) optional.delete(sayPath(chain.root, chain.steps))
  }
  return optional.size === scene.optional.size ? scene : { ...scene, optional }
}

/** Every path that is read, and each of its beginnings. */
function pathsIn(node: Node): readonly string[] {
  const paths: string[] = []
  const open = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const chain = chainOf(next)
    if (chain === null) {
      open.push(...partsOf(next))
      continue
    }
    for (let end = 1; end <= chain.steps.length; end++) {
      paths.push(sayPath(chain.root, chain.steps.slice(0, end)))
    }
  }
  return paths
}

function missingIn(node: Node, scene: Scene): string | undefined {
  const paths = pathsIn(node)
  return (
    paths.find((path) => scene.absent.has(path)) ?? paths.find((path) => scene.optional.has(path))
  )
}
