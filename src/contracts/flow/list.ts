/**
 * Lists that a node is mapped over. Items are data that a participant may have written, so a list is
 * bounded and its items are plain before any of it becomes a part of a run.
 */
import { canonicalJson, showName, utf8Length } from '../../base/index.ts'
import { isObject } from '../kernel/contract.ts'

/** The most items of one list. */
export const ITEMS_MAX = 1_000
const ITEM_BYTES_MAX = 16 * 1024
const LIST_BYTES_MAX = 1024 * 1024
const DEPTH_MAX = 8

export type ListProblem =
  | 'missing'
  | 'unreadable'
  | 'not_json'
  | 'no_field'
  | 'not_list'
  | 'too_many'
  | 'too_large'
  | 'too_deep'
  | 'item_twice'
  | 'item_key'
  | 'item_field'
  | 'item_path'
  | 'path_twice'

export interface ListFault {
  readonly problem: ListProblem
  /** The item, from 1; null for a fault of the list as a whole. */
  readonly index: number | null
  readonly message: string
}

/** Returns the first reason why a value is no list to map over; null if it is one. */
export function listFault(value: unknown, max = ITEMS_MAX): ListFault | null {
  if (!Array.isArray(value)) return fault('not_list', null, 'the value is no list')
  const most = Math.min(max, ITEMS_MAX)
  if (value.length > most)
    return fault('too_many', null, `the list has ${value.length} items, and ${most} are allowed`)
  const known = new Map<string, number>()
  let bytes = 0
  for (const [place, item] of value.entries()) {
    const index = place + 1
    const found = itemFault(item, index)
    if (found !== null) return found
    const text = canonicalJson(item)
    const size = utf8Length(text)
    bytes += size
    if (size > ITEM_BYTES_MAX || bytes > LIST_BYTES_MAX)
      return fault('too_large', index, sizeText(index, size))
    const first = known.get(text)
    if (first !== undefined)
      return fault('item_twice', index, `items ${first} and ${index} are the same`)
    known.set(text, index)
  }
  return null
}

function fault(problem: ListProblem, index: number | null, message: string): ListFault {
  return { problem, index, message }
}

function sizeText(index: number, bytes: number): string {
  return bytes > ITEM_BYTES_MAX
    ? `item ${index} has ${bytes} bytes, and ${ITEM_BYTES_MAX} are allowed`
    : `the list is larger than ${LIST_BYTES_MAX} bytes at item ${index}`
}

/** Looks at an item level by level, so that no depth of it is a depth of calls. */
function itemFault(item: unknown, index: number): ListFault | null {
  let level: unknown[] = [item]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX)
      return fault('too_deep', index, `item ${index} is more than ${DEPTH_MAX} levels deep`)
    const below: unknown[] = []
    for (const value of level) {
      if (Array.isArray(value)) below.push(...value)
      if (!isObject(value)) continue
      const strange = Object.keys(value).find((key) => !isPlainKey(key))
      if (strange !== undefined)
        return fault('item_key', index, `item ${index} has the key ${showName(strange)}`)
      below.push(...Object.values(value))
    }
    level = below
  }
  return null
}

const KEY = /^[\p{L}\p{N}_][\p{L}\p{N}_ -]{0,63}$/u
const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

function isPlainKey(key: string): boolean {
  return KEY.test(key) && !RESERVED.has(key)
}
