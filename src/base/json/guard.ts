/**
 * Walks a value once and refuses what no document may hold: things that are not JSON, numbers that
 * do not survive a round trip, broken strings, and sizes past the limits (C-3).
 *
 * INVARIANT (bounded walk): recursion ends at `depthMax`, so cycles end too, and the walk stops at
 * `valuesMax`. The happy path builds no strings; the pointer is made while the refusal travels up.
 */
import { at } from '../pointer.ts'
import { show, showName } from '../show.ts'
import type { Limits } from './limits.ts'
import type { Refusal, RefusalCode } from './refusal.ts'

/** What the walk counted: the reader compares `keys` with the text to find duplicate keys. */
export interface Census {
  keys: number
  values: number
}

interface Walk extends Census {
  readonly depthMax: number
  readonly valuesMax: number
  refusal: { code: RefusalCode; message: string; hint?: string; steps: (string | number)[] } | null
}

export function guardValue(value: unknown, limits: Limits): Refusal | Census {
  const walk: Walk = {
    keys: 0,
    values: 0,
    depthMax: limits.depthMax,
    valuesMax: limits.valuesMax,
    refusal: null,
  }
  if (visit(walk, value, 0)) return walk
  return finishRefusal(walk)
}

export function isRefusal(result: Refusal | Census): result is Refusal {
  return 'code' in result
}

function finishRefusal(walk: Walk): Refusal {
  const { code, message, hint, steps } = walk.refusal ?? BROKEN_READ
  const path = steps.reduceRight<string>((parent, step) => at(parent, step), '')
  return hint === undefined ? { code, path, message } : { code, path, message, hint }
}

const BROKEN_READ = {
  code: 'document.not_json' as const,
  message: 'the value cannot be read as JSON',
  hint: undefined,
  steps: [],
}

function visit(walk: Walk, value: unknown, depth: number): boolean {
  if (++walk.values > walk.valuesMax) {
    return refuse(walk, 'document.too_large', `the document has more than ${walk.valuesMax} values`)
  }
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() || refuseSurrogate(walk, value)
    case 'number':
      // Finite, and an integer only within 2^53-1.
      if (
        (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) ||
        isFraction(value)
      )
        return true
      return refuseNumber(walk, value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (depth >= walk.depthMax) {
        return refuse(
          walk,
          'document.too_deep',
          `the document nests deeper than ${walk.depthMax} levels`,
        )
      }
      return Array.isArray(value) ? visitArray(walk, value, depth) : visitObject(walk, value, depth)
    default:
      return refuse(walk, 'document.not_json', `a ${typeof value} is not a JSON value`)
  }
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value)
}

function visitArray(walk: Walk, items: readonly unknown[], depth: number): boolean {
  for (let index = 0; index < items.length; index++) {
    if (!visit(walk, items[index], depth + 1)) return trace(walk, index)
  }
  return true
}

function visitObject(walk: Walk, object: object, depth: number): boolean {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    return refuse(walk, 'document.not_json', 'only plain objects are JSON objects')
  }
  const keys = Object.keys(object)
  walk.keys += keys.length
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    if (!key.isWellFormed()) return refuseSurrogate(walk, key)
    if (!visit(walk, (object as Record<string, unknown>)[key], depth + 1)) return trace(walk, key)
  }
  return true
}

function trace(walk: Walk, step: string | number): false {
  walk.refusal?.steps.push(step)
  return false
}

function refuseSurrogate(walk: Walk, text: string): false {
  return refuse(
    walk,
    'document.lone_surrogate',
    `the string ${showName(text)} holds half of a surrogate pair`,
  )
}

function refuseNumber(walk: Walk, value: number): false {
  const message = Number.isFinite(value)
    ? `the integer ${show(value, '')} is beyond 2^53-1 and would lose digits`
    : `the number ${show(value, '')} is not finite`
  return refuse(walk, 'document.bad_number', message, 'write it as a string if every digit counts')
}

function refuse(walk: Walk, code: RefusalCode, message: string, hint?: string): false {
  walk.refusal =
    hint === undefined ? { code, message, steps: [] } : { code, message, hint, steps: [] }
  return false
}
