/**
 * What tasks and receipts share: the forbid lists and the walk that applies them, the reading of a
 * task's parameter_schema, and shapes.
 */
import * as Type from 'typebox'
import { at, type Code, show, showName } from '../../base/index.ts'
import { elements, field, isObject, type JsonObject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'

export const TASK_FORBIDS: ReadonlySet<string> = new Set([
  'problem_state_id',
  'lifecycle_state',
  'recommendation',
  'suggestion',
  'proposal',
  'agronomy',
  'prescription',
  'severity',
  'priority',
  'expected_outcome',
  'effectiveness',
  'quality',
  'desirability',
  'next_action',
  'follow_up',
  'autotrigger',
  'auto',
  'profile',
  'preset',
  'mode',
  'success_criteria',
])

export const RECEIPT_FORBIDS: ReadonlySet<string> = new Set([
  'agronomy',
  'prescription',
  'severity',
  'priority',
  'effectiveness',
  'quality',
  'desirability',
  'recommendation',
  'next_action',
  'follow_up',
  'problem_state_id',
  'lifecycle_state',
  'success_score',
  'yield',
  'profit',
  'mode',
  'profile',
  'preset',
])

/**
 * The two forbid lists of AO-ACT (seed 000 §A.3, seed 000 §B.3) and the walk that applies them:
 * exact, case-sensitive, at any depth, through arrays. Reports every forbidden key at or below
 * `path`. Depth is bounded by the guard.
 */
export function reportForbidden(
  value: unknown,
  path: string,
  forbids: ReadonlySet<string>,
  code: Code,
  report: Report,
): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      if (typeof item === 'object') reportForbidden(item, at(path, index), forbids, code, report)
    }
    return
  }
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (forbids.has(key)) {
      report.add(code, at(path, key), `the key ${showName(key)} is forbidden at any depth`)
    }
    if (typeof member === 'object' && member !== null) {
      reportForbidden(member, at(path, key), forbids, code, report)
    }
  }
}

export interface ParameterKey {
  /** Place in parameter_schema.keys. */
  readonly index: number
  readonly name: string
  readonly type: unknown
  readonly min: number | null
  readonly max: number | null
  readonly list: readonly string[]
}

/** The readable keys of a parameter_schema, by name; the first of two equal names counts. */
type ParameterTable = ReadonlyMap<string, ParameterKey>

/**
 * Reads a task's parameter_schema and judges values by it. The rule for strings (seed 000 §0.2) is the
 * same for parameters, constraints and observed parameters.
 */
export function parameterTable(parameterSchema: unknown): ParameterTable {
  const table = new Map<string, ParameterKey>()
  const keys = elements(field(parameterSchema, 'keys'))
  for (let index = 0; index < keys.length; index++) {
    const key = readKey(keys[index], index)
    if (key !== null && !table.has(key.name)) table.set(key.name, key)
  }
  return table
}

function readKey(key: unknown, index: number): ParameterKey | null {
  const name = field(key, 'name')
  if (typeof name !== 'string') return null
  const min = field(key, 'min')
  const max = field(key, 'max')
  return {
    index,
    name,
    type: field(key, 'type'),
    min: typeof min === 'number' ? min : null,
    max: typeof max === 'number' ? max : null,
    list: elements(field(key, 'enum')).filter((word) => typeof word === 'string'),
  }
}

/** The codes that one bag of values gives. */
export interface BagCodes {
  readonly composite: Code
  readonly valueType: Code
  readonly freeString: Code
  readonly notInList: Code
}

/**
 * Judges one bag of loose values: scalars only, and a string only where an enum key lists it.
 * `table` is null when the schema is not at hand: then no string can be judged.
 */
export function judgeBag(
  bag: unknown,
  path: string,
  table: ParameterTable | null,
  codes: BagCodes,
  report: Report,
): void {
  if (!isObject(bag)) return
  for (const name of Object.keys(bag)) judgeValue(bag, name, path, table, codes, report)
}

function judgeValue(
  bag: JsonObject,
  name: string,
  path: string,
  table: ParameterTable | null,
  codes: BagCodes,
  report: Report,
): void {
  const value = bag[name]
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return
    case 'string':
      return judgeString(value, name, at(path, name), table, codes, report)
    // No other type is a value of a parameter.
    default: {
      const place = at(path, name)
      const [code, what] =
        value === null
          ? ([codes.valueType, 'null is no value here'] as const)
          : ([codes.composite, 'a value is a number, a boolean or an enum string'] as const)
      report.add(code, place, `${what}: found ${show(value, place)}`)
    }
  }
}

function judgeString(
  value: string,
  name: string,
  place: string,
  table: ParameterTable | null,
  codes: BagCodes,
  report: Report,
): void {
  if (table === null) {
    report.add(
      codes.freeString,
      place,
      `the string ${show(value, place)} cannot be judged without the task`,
      'give the task as `task` in the context (`--context`)',
    )
    return
  }
  const key = table.get(name)
  if (key?.type !== 'enum') {
    report.add(
      codes.freeString,
      place,
      `${showName(name)} is no enum key, and so not the string ${show(value, place)}`,
    )
  } else if (!key.list.includes(value)) {
    report.add(
      codes.notInList,
      place,
      `${show(value, place)} is not in the enum list of ${showName(name)}`,
      report.guess(value, key.list),
    )
  }
}

const RFC3986 = "[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]"

/**
 * Shapes that task and receipt share. An id, hash or URI-like token: never a sentence (seed 000
 * §A.2).
 */
export const PointerRef = Type.String({
  pattern: `^[A-Za-z0-9]${RFC3986}{0,511}$`,
  'x-code': { pattern: 'ref_not_pointer' },
  'x-says': 'an id, hash or URI-like token of 1 to 512 characters',
})

/** A span in milliseconds; that it runs forwards is a semantic check. */
export const Span = Type.Object(
  { start_ts: Type.Number(), end_ts: Type.Number() },
  { additionalProperties: false },
)
