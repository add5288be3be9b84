/**
 * The error object (C-6a): one violation, written for an agent that will try again. Seven strings: what
 * was expected, where, what was found there, and a snippet of JSON that would be right. It never shows
 * values that must not be shown (C-1).
 *
 * What a schema asks for at a place, in words and as an example: the constructive half of a
 * violation. Best effort by nature: where a schema branches and the document does not say which
 * branch it means, the first that knows the place is taken.
 */

import type { TSchema } from 'typebox'
import {
  at,
  CODES,
  type Code,
  nearest,
  pointerSteps,
  readPointer,
  show,
  showName,
} from '../base/index.ts'
import { type Contract, field } from './kernel/contract.ts'
import { nodeOf, type SchemaNode } from './kernel/schema.ts'
import type { Violation } from './kernel/violation.ts'

export interface Mismatch {
  readonly error_code: 'SCHEMA_MISMATCH' | 'UNKNOWN_CONTRACT'
  /** The scope, as it was given. */
  readonly schema: string
  /** The contract's name; empty when there is none. */
  readonly schema_version: string
  readonly json_path: string
  readonly expected: string
  readonly actual: string
  /** A JSON text. */
  readonly example_fix: string
}

const EXAMPLE_DEPTH_MAX = 4
const EXAMPLE_UUID = '00000000-0000-4000-8000-000000000000'

/** The error of a document that was read and is wrong. */
export function mismatchOf(
  scope: string,
  contract: Contract,
  violation: Violation,
  document: unknown,
): Mismatch {
  const { code, path } = violation
  return {
    error_code: 'SCHEMA_MISMATCH',
    schema: scope,
    schema_version: contract.name,
    json_path: jsonPath(document, path),
    expected: SAID[code] ?? expectationAt(contract.schema, document, path) ?? CODES[code].says,
    actual: actualAt(document, path),
    example_fix: JSON.stringify(exampleAt(contract.schema, document, violation)),
  }
}

/** Returns the error of a text or value that is no document at all (C-3). */
export function refusalMismatch(
  scope: string,
  contract: Contract | null,
  violation: Violation,
): Mismatch {
  const example =
    contract === null ? {} : exampleAt(contract.schema, undefined, { ...violation, path: '' })
  return {
    error_code: 'SCHEMA_MISMATCH',
    schema: scope,
    schema_version: contract?.name ?? '',
    json_path: jsonPath(undefined, violation.path),
    expected: 'a JSON document within the limits of its contract',
    actual: violation.message,
    example_fix: JSON.stringify(example),
  }
}

/** The error of a scope that is none. */
export function unknownMismatch(scope: string, names: readonly string[]): Mismatch {
  return {
    error_code: 'UNKNOWN_CONTRACT',
    schema: scope,
    schema_version: '',
    json_path: '$',
    expected: `one of ${names.join(', ')}`,
    actual: unquoted(showName(scope)),
    example_fix: JSON.stringify({ as: nearest(scope, names) ?? 'TASK_ACTION' }),
  }
}

/** What the semantic checks ask for; the schema says the rest. */
const SAID: { readonly [C in Code]?: string } = {
  'review.target': 'the target that this scope reviews',
  'review.score_range': 'a whole number from 0 to 100',
  'review.score_gate': 'APPROVE from a score of 90 on, MODIFY or REQUEST_EXTERNAL_INPUT below',
  'plan.unknown_ref': 'an id of this plan',
  'plan.duplicate_id': 'an id that is used once',
  'plan.cycle': 'edges that form no cycle',
  'plan.and_or': 'AND or OR, the same on all DECOMPOSE edges of one parent',
  'plan.group_id': 'the name of the group of alternatives',
  'plan.root': 'a root_task_id that is the id of a GOAL node',
}

function actualAt(document: unknown, path: string): string {
  const value = readPointer(document, path)
  return value === undefined ? 'missing' : unquoted(show(value, path))
}

/** Without the backticks that set a value off inside a sentence. */
function unquoted(shown: string): string {
  return shown.replace(/^`|`$/g, '')
}

/** Returns `$.nodes[3].node_type`; a key that is no plain name becomes a JSON string in brackets. */
function jsonPath(document: unknown, pointer: string): string {
  let text = '$'
  let parent: unknown = document
  for (const step of pointerSteps(pointer)) {
    // Of a text that was refused there is no document: a number can only be an index there.
    const isIndex = Array.isArray(parent) || (document === undefined && /^\d+$/.test(step))
    if (isIndex) text += `[${step}]`
    else text += PLAIN_NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
    parent = readPointer(parent, at('', step))
  }
  return text
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Returns what the schema expects at `path`, in words that follow "expected"; null if it is silent. */
function expectationAt(schema: TSchema, document: unknown, path: string): string | null {
  const node = nodeAt(nodeOf(schema), document, path)
  return node === null ? null : describe(node, nodeOf(schema))
}

/**
 * A value that would be right at the violated place, under its key: `{"node_type":"ACTION"}`. The
 * elements of a list come with the list, the document itself comes bare.
 */
function exampleAt(schema: TSchema, document: unknown, violation: Violation): unknown {
  const root = nodeOf(schema)
  const steps = [...pointerSteps(violation.path)]
  const node = nodeAt(root, document, violation.path)
  const actual = readPointer(document, violation.path)
  let example =
    suggested(violation, document) ?? (node === null ? null : exampleOf(node, root, actual, 0))
  for (let last = steps.pop(); last !== undefined; last = steps.pop()) {
    const isElement = /^\d+$/.test(last)
    example = isElement ? [example] : { [last]: example }
    if (!isElement) break
  }
  return example
}

/** What the semantic checks would accept, where a schema cannot say it. */
function suggested({ code, path }: Violation, document: unknown): unknown {
  switch (code) {
    case 'review.score_gate':
      return Number(field(document, 'total_score')) >= 90 ? 'APPROVE' : 'MODIFY'
    case 'review.target':
      return field(document, 'review_target') === 'PLAN' ? 'NODE' : 'PLAN'
    case 'plan.and_or':
      // An AND, explicit or implied, is wrong only if a sibling says OR.
      return (readPointer(document, path) ?? 'AND') === 'AND' ? 'OR' : 'AND'
    case 'plan.group_id':
      return 'GROUP_1'
    case 'plan.root':
      return path === '/plan/root_task_id' ? null : 'GOAL'
    case 'plan.unknown_ref':
      return path.endsWith('/plan_id') ? readPointer(document, '/plan/plan_id') : firstId(document)
    case 'plan.cycle':
      return turned(readPointer(document, path))
    // Other codes have no single value that would be right.
    default:
      return null
  }
}

function firstId(document: unknown): unknown {
  return readPointer(document, '/nodes/0/task_id') ?? null
}

function turned(edge: unknown): unknown {
  return { from_task_id: field(edge, 'to_task_id'), to_task_id: field(edge, 'from_task_id') }
}

/** The schema of a place, null where the schema says nothing about it. */
function nodeAt(root: SchemaNode, document: unknown, path: string): SchemaNode | null {
  let node: SchemaNode | null = root
  let value = document
  for (const step of pointerSteps(path)) {
    node = node === null ? null : childOf(choose(node, root, value, step), root, step)
    value = Array.isArray(value) ? value[Number(step)] : field(value, step)
  }
  return node === null ? null : resolve(node, root)
}

function resolve(node: SchemaNode, root: SchemaNode): SchemaNode {
  if (node.$ref === undefined) return node
  return root.$defs?.[node.$ref.replace('#/$defs/', '')] ?? {}
}

/** Of a union, the branch that the document means, else the first that knows the step. */
function choose(node: SchemaNode, root: SchemaNode, value: unknown, step: string): SchemaNode {
  const here = resolve(node, root)
  if (here.anyOf === undefined) return here
  const branches = here.anyOf.map((branch) => choose(branch, root, value, step))
  const chooser = here['x-choose']
  const meant = branches.find(
    ({ properties }) =>
      typeof chooser === 'string' && properties?.[chooser]?.const === field(value, chooser),
  )
  return meant ?? branches.find((branch) => childOf(branch, root, step) !== null) ?? {}
}

function childOf(node: SchemaNode, root: SchemaNode, step: string): SchemaNode | null {
  const here = resolve(node, root)
  if (here.items !== undefined) return here.items
  if (here.properties !== undefined && Object.hasOwn(here.properties, step)) {
    return here.properties[step] ?? null
  }
  const rest = here.additionalProperties
  return typeof rest === 'object' ? rest : null
}

function describe(node: SchemaNode, root: SchemaNode): string | null {
  const here = resolve(node, root)
  if (here.const !== undefined) return String(here.const)
  if (here.enum !== undefined) return `one of ${here.enum.join(', ')}`
  if (here['x-says'] !== undefined) return here['x-says']
  if (here.anyOf !== undefined) return describeUnion(here, root)
  if (here.type === 'string' && here.minLength !== undefined) return 'a string that is not empty'
  if (here.type === 'array' && here.minItems !== undefined) return 'a list that is not empty'
  return here.type === undefined ? null : TYPE_WORDS[here.type]
}

function describeUnion({ anyOf = [], 'x-choose': chooser }: SchemaNode, root: SchemaNode): string {
  if (typeof chooser !== 'string') {
    return [...new Set(anyOf.map((branch) => describe(branch, root) ?? 'any value'))].join(' or ')
  }
  const words = anyOf.map((branch) => resolve(branch, root).properties?.[chooser]?.const)
  return `an object whose ${chooser} is one of ${words.join(', ')}`
}

const TYPE_WORDS = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
} as const

/** A value that the schema accepts, as small as can be; patterns other than UUIDs are not spelt. */
function exampleOf(node: SchemaNode, root: SchemaNode, actual: unknown, depth: number): unknown {
  const here = resolve(node, root)
  if (depth > EXAMPLE_DEPTH_MAX) return null
  if (here.const !== undefined) return here.const
  if (here.enum !== undefined) {
    const near = typeof actual === 'string' ? nearest(actual, here.enum.map(String)) : null
    return near ?? here.enum[0]
  }
  if (here.anyOf !== undefined) return exampleOf(here.anyOf[0] ?? {}, root, actual, depth + 1)
  switch (here.type) {
    case 'object':
      return exampleObject(here, root, depth)
    case 'array':
      return here.minItems === undefined
        ? []
        : [exampleOf(here.items ?? {}, root, undefined, depth + 1)]
    case 'string':
      return here['x-says'] === 'a UUID' ? EXAMPLE_UUID : 'text'
    case 'number':
    case 'integer':
      return here.minimum ?? 0
    case 'boolean':
      return true
    // A schema without a type takes any value.
    default:
      return null
  }
}

function exampleObject(node: SchemaNode, root: SchemaNode, depth: number): unknown {
  return Object.fromEntries(
    (node.required ?? []).map((key) => [
      key,
      exampleOf(node.properties?.[key] ?? {}, root, undefined, depth + 1),
    ]),
  )
}
