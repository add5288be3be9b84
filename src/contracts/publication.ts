/**
 * The JSON Schema of a contract as others read it: JSON Schema 2020-12 with an id, a title and full
 * violation codes. What the schema cannot say is in the semantic checks, whose codes are listed.
 */
import { CODES } from '../base/index.ts'
import type { Contract } from './kernel/contract.ts'
import { type CodeAnnotation, nodeOf, type SchemaNode } from './kernel/schema.ts'

export type PublishedSchema = Readonly<Record<string, unknown>>

export function publishSchema(contract: Contract): PublishedSchema {
  // `expand` returns an object for an object.
  const body = expand(nodeOf(contract.schema), contract.prefix) as Record<string, unknown>
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:writ:contract:${contract.name}`,
    title: contract.name,
    description: contract.title,
    ...body,
    'x-codes': codesOf(contract.prefix),
  }
}

/** Every code with the contract's prefix and what it means. */
function codesOf(prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(CODES)
      .filter(([code]) => code.startsWith(`${prefix}.`))
      .map(([code, { says }]) => [code, says]),
  )
}

function expand(node: unknown, outer: string): unknown {
  if (Array.isArray(node)) return node.map((item) => expand(item, outer))
  if (typeof node !== 'object' || node === null) return node
  const prefix = (node as SchemaNode)['x-prefix'] ?? outer // Every object in a schema may carry one.
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'x-prefix')
      .map(([key, value]) => [
        key,
        // The value of `x-code` is an annotation.
        key === 'x-code' ? expandCodes(value as CodeAnnotation, prefix) : expand(value, prefix),
      ]),
  )
}

function expandCodes(annotation: CodeAnnotation, prefix: string): unknown {
  if (typeof annotation === 'string') return `${prefix}.${annotation}`
  return Object.fromEntries(
    Object.entries(annotation).map(([keyword, code]) => [keyword, `${prefix}.${code}`]),
  )
}
