/**
 * The machine-readable contract summary (seed 001 §0), read off the schemas: per scope the version,
 * the keys that every answer has, and the words that its enumerations allow. A test holds it equal
 * to the block in seed 001 §0.
 */
import type { Contract } from '../kernel/contract.ts'
import { nodeOf, type SchemaNode } from '../kernel/schema.ts'
import { xiaoboAction } from './action.ts'
import { planJson } from './plan.ts'
import { xiaojingReview } from './review.ts'
import { findScope } from './scope.ts'

export interface ScopeSummary {
  readonly schema_version: string
  readonly required_keys: readonly string[]
  readonly enums: Readonly<Record<string, readonly unknown[]>>
}

/** The scopes that seed 001 §0 sums up; the others follow one of these. */
const SUMMARISED: readonly (readonly [scope: string, contract: Contract])[] = [
  ['TASK_ACTION', xiaoboAction],
  ['PLAN_REVIEW', xiaojingReview],
  ['TASK_CHECK', xiaojingReview],
  ['PLAN_GEN', planJson],
]

export function contractSummary(): Readonly<Record<string, ScopeSummary>> {
  return Object.fromEntries(
    SUMMARISED.map(([scope, contract]) => [scope, summarise(scope, contract)]),
  )
}

function summarise(scope: string, contract: Contract): ScopeSummary {
  const schema = nodeOf(contract.schema)
  const enums = new Map<string, Set<unknown>>()
  collectEnums(schema, '', enums)
  const target = findScope(scope)?.reviewTarget ?? null
  if (target !== null) enums.set('review_target', new Set([target]))
  return {
    schema_version: contract.name,
    required_keys: requiredKeys(schema),
    enums: Object.fromEntries([...enums].map(([path, words]) => [path, [...words]])),
  }
}

/** Of a union: the keys that every branch asks for. */
function requiredKeys(node: SchemaNode): readonly string[] {
  const [first, ...others] = (node.anyOf ?? [node]).map(({ required }) => required ?? [])
  return (first ?? []).filter((key) => others.every((keys) => keys.includes(key)))
}

/** Every enumeration below mandatory keys; the constants that choose a branch are one, too. */
function collectEnums(node: SchemaNode, path: string, enums: Map<string, Set<unknown>>): void {
  if (node.enum !== undefined) addWords(enums, path, node.enum)
  if (node.items !== undefined) collectEnums(node.items, `${path}[*]`, enums)
  for (const branch of node.anyOf ?? []) collectEnums(branch, path, enums)
  for (const key of node.required ?? []) {
    collectEnums(node.properties?.[key] ?? {}, path === '' ? key : `${path}.${key}`, enums)
  }
  const chooser = node['x-choose']
  if (typeof chooser !== 'string') return
  addWords(
    enums,
    chooser,
    (node.anyOf ?? []).map((branch) => branch.properties?.[chooser]?.const),
  )
}

function addWords(enums: Map<string, Set<unknown>>, path: string, words: readonly unknown[]): void {
  const known = enums.get(path) ?? new Set()
  for (const word of words) known.add(word)
  enums.set(path, known)
}
