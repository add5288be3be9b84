/**
 * Warnings about laws that are legal and may not do what they are meant to. Some would break on acts
 * they do not mean: a law that reads `operation.argv` cannot be evaluated for an operation that has
 * none, nor one that reads the hosts of an act without a network; then the law counts as broken. Others
 * want more approvals than there are humans who can approve: humans come and go, but until then their
 * questions can only wait or be denied.
 */
import { showName } from '../base/index.ts'
import { nodeOf, operationContract, type SchemaNode } from '../contracts/index.ts'
import { type Expression, mayLack, type Scene } from '../expression/index.ts'
import type { LawSet } from './law.ts'
import { readLawText } from './law-text.ts'
import type { LawFault } from './load-laws.ts'

interface Unguarded {
  /** What may be missing, such as `operation.argv`. */
  readonly path: string
  /** The types of operations in which it may be missing. */
  readonly types: readonly string[]
}

/** What the law reads and some acts lack; null when it asks first. */
export function findUnguarded(expression: Expression): Unguarded | null {
  if (!expression.names.has('operation') && !expression.names.has('descriptor')) return null
  const lacking = scenes().flatMap(([type, scene]) => {
    const path = mayLack(expression, scene)
    return path === null ? [] : [{ type, path }]
  })
  const [first] = lacking
  if (first === undefined) return null
  const types = lacking.filter(({ path }) => path === first.path).map(({ type }) => type)
  return { path: first.path, types: [...new Set(types)] }
}

/** The one field that a descriptor may lack: an act without a network names no hosts. */
export const OPTIONAL_HOSTS = 'descriptor.scope.network.hosts'
const NEEDS_NETWORK = 'descriptor.scope.network.required'

/**
 * Two scenes a type of operation, with a network and without: which of the fields of all operations it
 * has, may have, has not.
 */
function scenes(): readonly (readonly [string, Scene])[] {
  const variants = nodeOf(operationContract.schema).$defs?.['Operation']?.anyOf ?? []
  const names = new Set(variants.flatMap(({ properties }) => Object.keys(properties ?? {})))
  return variants.flatMap((variant) =>
    [true, false].map(
      (hasNetwork) => [typeOf(variant), sceneOf(variant, names, hasNetwork)] as const,
    ),
  )
}

function typeOf({ properties }: SchemaNode): string {
  return String(properties?.['type']?.const)
}

function sceneOf(variant: SchemaNode, names: ReadonlySet<string>, hasNetwork: boolean): Scene {
  const { properties = {}, required = [] } = variant
  const absent = new Set<string>()
  const optional = new Set(hasNetwork ? [] : [OPTIONAL_HOSTS])
  for (const name of names) {
    if (!Object.hasOwn(properties, name)) absent.add(`operation.${name}`)
    else if (!required.includes(name)) optional.add(`operation.${name}`)
  }
  const type = typeOf(variant)
  // The contract holds a simple proposal's two types to one another.
  const words = new Map<string, string | boolean>([
    ['operation.type', type],
    ['descriptor.action_type', type],
    [NEEDS_NETWORK, hasNetwork],
  ])
  return { absent, optional, words }
}

/** Returns the largest number of approvals that a law wants, at least 1. */
export function mostApprovals({ laws }: Pick<LawSet, 'laws'>): number {
  return Math.max(1, ...laws.map(({ approvals }) => approvals))
}

/** `text` was loaded as `laws` without a fault. */
export async function fewHumansWarnings(
  text: string,
  { laws }: Pick<LawSet, 'laws'>,
  humans: number,
): Promise<readonly LawFault[]> {
  const reading = await readLawText(text)
  if (!reading.ok) return []
  const own = laws.filter(({ isBuiltIn }) => !isBuiltIn)
  return own.flatMap(({ policyId, approvals }, index) => {
    if (approvals <= Math.max(1, humans)) return []
    const path = `/laws/${index}/approvals`
    const have = humans === 1 ? '1 human of this home has' : `${humans} humans of this home have`
    const message = `${showName(policyId)} wants ${approvals} humans to approve, and ${have} a credential of their own`
    const hint = '`writ principal add`, `writ token create`, and each sets `writ principal pass`'
    return [{ code: 'laws.few_humans' as const, path, message, hint, ...reading.placeOf(path) }]
  })
}
