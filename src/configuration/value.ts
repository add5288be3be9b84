/**
 * Values of a configuration, and the effect of a change on them, apart from any text. The editors
 * change texts; `edit.ts` compares the value of the changed text with the value that this file
 * computes.
 *
 * Objects are read by their own keys only: `__proto__` is a key like any other.
 */
import { Refused } from './failure.ts'

export type Value = unknown

export type Keys = readonly string[]

export function isTable(value: Value): value is Readonly<Record<string, Value>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

/** The place in a list that a key names; null when it names none of those there are, or the next. */
export function indexOf(key: string, length: number): number | null {
  if (key === '-') return length
  if (!/^(?:0|[1-9]\d{0,8})$/.test(key)) return null
  const index = Number(key)
  return index <= length ? index : null
}

/** Returns the value at a key path; undefined if there is none. */
function valueAt(root: Value, keys: Keys): Value {
  let value = root
  for (const key of keys) {
    if (Array.isArray(value)) {
      const index = indexOf(key, value.length)
      value = index === null ? undefined : value[index]
    } else if (isTable(value) && Object.hasOwn(value, key)) value = value[key]
    else return undefined
  }
  return value
}

/** The value with one key path set; tables on the way are made where there is nothing. */
export function withSet(root: Value, keys: Keys, value: Value, at = 0): Value {
  const key = keys[at]
  if (key === undefined) return value
  if (root === undefined) return { ...entry(key, withSet(undefined, keys, value, at + 1)) }
  if (Array.isArray(root)) {
    const index = indexOf(key, root.length)
    if (index === null) throw wrongType(keys, at, 'a list, which has no such place')
    const copy: Value[] = [...root]
    copy[index] = withSet(root[index], keys, value, at + 1)
    return copy
  }
  if (!isTable(root)) throw wrongType(keys, at, nameOf(root))
  const inner = Object.hasOwn(root, key) ? root[key] : undefined
  return { ...root, ...entry(key, withSet(inner, keys, value, at + 1)) }
}

/** The value without one key path. */
export function withoutKey(root: Value, keys: Keys, at = 0): Value {
  const key = keys[at] as string
  const isLast = at === keys.length - 1
  if (Array.isArray(root)) {
    const index = indexOf(key, root.length)
    if (index === null || index >= root.length) throw nothing(keys)
    if (isLast) return root.filter((_, place) => place !== index)
    return root.map((item, place) => (place === index ? withoutKey(item, keys, at + 1) : item))
  }
  if (!isTable(root)) throw root === undefined ? nothing(keys) : wrongType(keys, at, nameOf(root))
  if (!Object.hasOwn(root, key)) throw nothing(keys)
  const rest = Object.entries(root).filter(([name]) => name !== key)
  // `Object.assign` returns its first argument, an object.
  const kept = Object.assign({}, ...rest.map(([name, item]) => entry(name, item))) as object
  return isLast ? kept : { ...kept, ...entry(key, withoutKey(root[key], keys, at + 1)) }
}

/** Tables along a key path that hold nothing any more go with what they held. */
export function withoutEmpty(root: Value, keys: Keys): Value {
  for (let length = keys.length; length > 0; length--) {
    const place = keys.slice(0, length)
    const value = valueAt(root, place)
    if (value === undefined) continue
    if (!isTable(value) || Object.keys(value).length > 0) return root
    return withoutEmpty(withoutKey(root, place), place.slice(0, -1))
  }
  return root
}

export function isSame(one: Value, other: Value): boolean {
  if (Object.is(one, other)) return true
  if (one instanceof Date || other instanceof Date) {
    return one instanceof Date && other instanceof Date && one.getTime() === other.getTime()
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, index) => isSame(item, other[index]))
  }
  if (!isTable(one) || !isTable(other)) return one === other
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
}

/** Returns an object with one key, which may be `__proto__`. */
export function entry(key: string, value: Value): Record<string, Value> {
  return Object.fromEntries([[key, value]])
}

export function nothing(keys: Keys): Refused {
  return new Refused('config.nothing', 'there is nothing to unset there', keys)
}

export function wrongType(keys: Keys, at: number, what: string): Refused {
  const place = keys.slice(0, at).join(' / ')
  const holder = place === '' ? 'the document' : place
  return new Refused('config.type', `${holder} is ${what}`, keys)
}

function nameOf(value: Value): string {
  if (value === null) return 'null, which holds no keys'
  return `a ${value instanceof Date ? 'moment' : typeof value}, which holds no keys`
}

/** What the editor of a format offers. Texts come without a byte order mark. */
export interface Format {
  /** Returns the value of a text. */
  readonly read: (text: string) => Value
  readonly set: (text: string, keys: Keys, value: Value) => string
  readonly unset: (text: string, keys: Keys) => string
  /** A table that loses its last key may go with it. */
  readonly prunes: boolean
}
