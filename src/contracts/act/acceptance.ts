/**
 * The quick yes for tasks and receipts of sound structure: one pass, no allocation, no messages.
 * Whatever it does not accept is judged again by the checks, which say what is wrong; a property
 * test holds it to them (INVARIANT: quick is never wrong).
 */
import type { Context, JsonObject } from '../kernel/contract.ts'
import { isObject } from '../kernel/contract.ts'
import { RECEIPT_FORBIDS, TASK_FORBIDS } from './forbid.ts'
import type { ActReceipt } from './receipt.ts'
import type { ActTask } from './task.ts'

/** Beyond this many parameters the pairwise comparison of names would cost more than the checks. */
const KEYS_MAX = 16

type ParameterKey = ActTask['parameter_schema']['keys'][number]
type Bag = Readonly<Record<string, unknown>>

export function acceptsTask(document: JsonObject): boolean {
  // Sound structure is what the static type says.
  const task = document as unknown as ActTask
  const { keys } = task.parameter_schema
  if (task.time_window.start_ts > task.time_window.end_ts || keys.length > KEYS_MAX) return false
  if (!coversOneToOne(task.parameters as Bag, keys)) return false
  if (!fitsBag(task.constraints as Bag, keys, TASK_FORBIDS)) return false
  return task.meta === undefined || isFree(task.meta, TASK_FORBIDS)
}

export function acceptsReceipt(document: JsonObject, context: Context): boolean {
  const receipt = document as unknown as ActReceipt
  const { execution_time: time, constraint_check: checked } = receipt
  if (time.start_ts > time.end_ts) return false
  if (!checked.violated && checked.violations.length > 0) return false
  if (!isFree(receipt.resource_usage, RECEIPT_FORBIDS)) return false
  if (!fitsBag(receipt.observed_parameters as Bag, taskKeys(context), RECEIPT_FORBIDS)) return false
  return receipt.meta === undefined || isFree(receipt.meta, RECEIPT_FORBIDS)
}

/** Every key of the schema has one fitting value and the other way round. */
function coversOneToOne(parameters: Bag, keys: readonly ParameterKey[]): boolean {
  let count = 0
  let ordered = true
  for (const name in parameters) {
    if (TASK_FORBIDS.has(name)) return false
    let key = keys[count++]
    if (key === undefined) return false
    // Most documents list parameters in the order of the schema; then no name can stand there twice.
    if (key.name !== name) {
      ordered = false
      key = keys.find((other) => other.name === name)
    }
    if (key === undefined || !fits(key, parameters[name])) return false
  }
  return count === keys.length && (ordered || !hasRepeats(keys))
}

/** Only a task whose keys are plainly well formed serves the quick way. */
function taskKeys(context: Context): readonly ParameterKey[] {
  const task = context['task']
  if (!isObject(task) || !isObject(task['parameter_schema'])) return []
  const { keys } = task['parameter_schema']
  if (!Array.isArray(keys) || keys.length > KEYS_MAX) return []
  return keys.every((key) => isObject(key) && typeof key['name'] === 'string') ? keys : []
}

function hasRepeats(keys: readonly ParameterKey[]): boolean {
  return keys.some((key, index) => keys.findIndex((other) => other.name === key.name) !== index)
}

/** The key is well formed and the value is one of its own; bounds that cross admit no value. */
function fits(key: ParameterKey, value: unknown): boolean {
  const { type } = key
  if (type === 'number') {
    if (typeof value !== 'number' || key.enum !== undefined) return false
    const { min, max } = key
    return (min === undefined || value >= min) && (max === undefined || value <= max)
  }
  if (key.min !== undefined || key.max !== undefined) return false
  if (type === 'boolean') return typeof value === 'boolean' && key.enum === undefined
  return typeof value === 'string' && key.enum?.includes(value) === true
}

function fitsBag(bag: Bag, keys: readonly ParameterKey[], forbids: ReadonlySet<string>): boolean {
  for (const name in bag) {
    if (forbids.has(name)) return false
    const value = bag[name]
    if (typeof value === 'number' || typeof value === 'boolean') continue
    if (typeof value !== 'string' || !isListed(keys, name, value)) return false
  }
  return true
}

function isListed(keys: readonly ParameterKey[], name: string, value: string): boolean {
  for (const key of keys) {
    if (key.name === name)
      return key.type === 'enum' && Array.isArray(key.enum) && key.enum.includes(value)
  }
  return false
}

/** No forbidden key at any depth. */
function isFree(value: object, forbids: ReadonlySet<string>): boolean {
  for (const name in value) {
    if (forbids.has(name)) return false
    const member = (value as Bag)[name]
    if (typeof member === 'object' && member !== null && !isFree(member, forbids)) return false
  }
  return true
}
