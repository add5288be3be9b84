/**
 * The error object (C-6a): one violation, written for an agent that will try again. Seven strings: what
 * was expected, where, what was found there, and a snippet of JSON that would be right. It never shows
 * values that must not be shown (C-1).
 */
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
import { exampleAt, expectationAt } from './expectation.ts'
import type { Contract } from './kernel/contract.ts'
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
