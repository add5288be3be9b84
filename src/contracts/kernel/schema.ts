/**
 * Annotations that a schema carries for its violations. `x-code` names the code (without prefix)
 * that a broken keyword gives: one for all keywords of the node, or one per keyword. A missing
 * property looks at `required` of that property's node, a key too many at `unknown` of the object's
 * node; both are otherwise `required` and `unknown_key`.
 */

import type { TSchema, TString } from 'typebox'
import * as Type from 'typebox'

export type Keyword =
  | 'type'
  | 'enum'
  | 'const'
  | 'pattern'
  | 'minLength'
  | 'minItems'
  | 'maxItems'
  | 'minProperties'
  | 'minimum'
  | 'maximum'
  | 'anyOf'
  | 'required'
  | 'unknown'

export type CodeAnnotation = string | { readonly [K in Keyword | '*']?: string }

/**
 * The JSON Schema vocabulary that writ's contracts use; a test holds the schemas to it. Absent on
 * purpose: `maxLength` and longer `minLength` (the compiler counts graphemes, the standard counts
 * code points: `sized()` writes them as patterns), and `uniqueItems` (the compiler compares hashes:
 * a semantic check does it).
 */
export interface SchemaNode {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly minProperties?: number
  readonly items?: SchemaNode
  readonly minItems?: number
  readonly maxItems?: number
  readonly enum?: readonly (string | number | boolean | null)[]
  readonly const?: string | number | boolean | null
  readonly pattern?: string
  readonly minLength?: 1
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly SchemaNode[]
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly $ref?: string
  readonly 'x-code'?: CodeAnnotation
  /** What the pattern or the enumeration asks for, in words that follow "expected". */
  readonly 'x-says'?: string
  /**
   * Of a union of objects: the property whose constant chooses the branch; or the keys of which each
   * branch, being closed, has exactly one, so that its presence chooses.
   */
  readonly 'x-choose'?: string | readonly string[]
  /** The document that starts here is another contract's: from here on, codes have its prefix. */
  readonly 'x-prefix'?: string
  /** Of a published schema: what it means, with values that it accepts. */
  readonly description?: string
  readonly examples?: readonly unknown[]
}

/** TypeBox schemas are JSON Schema objects; this is the view of them that the walker reads. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode
}

/** A schema that was not made by the types above, such as one with a list of types. */
export function foreignType(type: never): Error {
  return new Error(`a schema has the type ${JSON.stringify(type)}, which the vocabulary has not`)
}

export function annotatedCode(node: SchemaNode, keyword: Keyword): string | null {
  const annotation = node['x-code']
  if (annotation === undefined) return null
  if (typeof annotation !== 'string') return annotation[keyword] ?? starCode(annotation, keyword)
  return keyword === 'required' || keyword === 'unknown' ? null : annotation
}

function starCode(annotation: Exclude<CodeAnnotation, string>, keyword: Keyword): string | null {
  if (keyword === 'required' || keyword === 'unknown') return null
  return annotation['*'] ?? null
}

/**
 * A string of `min` to `max` code points, as a pattern. Without a maximum the pattern ends early: a
 * repetition to the end of a text of megabytes overflows the stack of the pattern engine.
 */
export function sized(min: number, max: number | null, code?: CodeAnnotation): TString {
  const says = max === null ? `at least ${min} characters` : `${min} to ${max} characters`
  const pattern = max === null ? `^[\\s\\S]{${min}}` : `^[\\s\\S]{${min},${max}}$`
  return Type.String(
    code === undefined ? { pattern, 'x-says': says } : { pattern, 'x-says': says, 'x-code': code },
  )
}

/** A UUID by shape, as `isUuid` of base judges it. */
export const UUID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
