/**
 * Laws that would break on acts they do not mean: a law that reads `operation.argv` cannot be
 * evaluated for an operation that has none, and then counts as broken. Told as a warning when the
 * file is loaded, since the law is legal and may even mean it.
 */
import { nodeOf, operationContract, type SchemaNode } from '../contracts/index.ts'
import { type Expression, mayLack, type Scene } from '../expression/index.ts'

export interface Unguarded {
  /** What may be missing, such as `operation.argv`. */
  readonly path: string
  /** The types of operations in which it may be. */
  readonly types: readonly string[]
}

/** What the law reads and some operations lack; null when it asks first. */
export function findUnguarded(expression: Expression): Unguarded | null {
  if (!expression.names.has('operation')) return null
  const lacking = scenes().flatMap(([type, scene]) => {
    const path = mayLack(expression, scene)
    return path === null ? [] : [{ type, path }]
  })
  const [first] = lacking
  if (first === undefined) return null
  const types = lacking.filter(({ path }) => path === first.path).map(({ type }) => type)
  return { path: first.path, types }
}

/** One scene a type of operation: which of the fields of all operations it has, may have, has not. */
function scenes(): readonly (readonly [string, Scene])[] {
  const variants = nodeOf(operationContract.schema).$defs?.['Operation']?.anyOf ?? []
  const names = new Set(variants.flatMap(({ properties }) => Object.keys(properties ?? {})))
  return variants.map((variant) => [typeOf(variant), sceneOf(variant, names)])
}

function typeOf({ properties }: SchemaNode): string {
  return String(properties?.['type']?.const)
}

function sceneOf(variant: SchemaNode, names: ReadonlySet<string>): Scene {
  const { properties = {}, required = [] } = variant
  const absent = new Set<string>()
  const optional = new Set<string>()
  for (const name of names) {
    if (!Object.hasOwn(properties, name)) absent.add(`operation.${name}`)
    else if (!required.includes(name)) optional.add(`operation.${name}`)
  }
  const type = typeOf(variant)
  // The contract holds a simple proposal's two types to one another.
  const words = new Map([
    ['operation.type', type],
    ['descriptor.action_type', type],
  ])
  return { absent, optional, words }
}
