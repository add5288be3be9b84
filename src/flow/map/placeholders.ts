/**
 * `{index}`, `{count}`, `{item}` and `{item.a.b}` in the texts and paths of a mapped node. A value that
 * becomes a part of a path is one plain name, so that no item leads out of the place that the flow
 * names.
 */
import { canonicalJson, showName } from '../../base/index.ts'
import type { ListFault } from '../../contracts/index.ts'

/** One item of a list, as participants get it. */
export interface MapItem {
  /** From 1. */
  readonly index: number
  readonly count: number
  readonly item: unknown
  /** The item that the map itself belongs to, where a map lies inside another one. */
  readonly outer?: MapItem
}

const PLACEHOLDER = /\{(index|count|item(?:\.[^{}.]+)*)\}/g
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/

/** Fills texts for one item and keeps what cannot be filled. */
export class ItemWords {
  readonly #item: MapItem
  fault: ListFault | null = null

  constructor(item: MapItem) {
    this.#item = item
  }

  text(source: string): string {
    return source.replace(PLACEHOLDER, (_, name: string) => {
      const value = this.#value(name)
      return typeof value === 'string' ? value : canonicalJson(value)
    })
  }

  path(source: string): string {
    return source.replace(PLACEHOLDER, (_, name: string) => {
      const value = this.#value(name)
      const text = typeof value === 'number' ? String(value) : value
      if (typeof text === 'string' && PLAIN_NAME.test(text)) return text
      this.#keep('item_path', `is no plain name, and {${name}} is a part of a path`)
      return '_'
    })
  }

  #value(name: string): unknown {
    const { index, count, item } = this.#item
    if (name === 'index') return index
    if (name === 'count') return count
    let value: unknown = item
    for (const key of name.split('.').slice(1)) {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      // An object that is no list has keys.
      value = isObject && Object.hasOwn(value as object, key) ? (value as Keyed)[key] : undefined
    }
    if (value !== undefined) return value
    this.#keep('item_field', `has no ${showName(name)}`)
    return ''
  }

  #keep(problem: 'item_path' | 'item_field', says: string): void {
    const { index } = this.#item
    this.fault ??= { problem, index, message: `item ${index} ${says}` }
  }
}

type Keyed = Readonly<Record<string, unknown>>

/** A text for all items together. */
export function unfilled(source: string): string {
  return source.replace(PLACEHOLDER, '…')
}

export function hasPlaceholder(source: string): boolean {
  return source.search(PLACEHOLDER) !== -1
}

const LABEL_MAX = 60

/** The name of an item for people: its own text, or what it calls its title, name or id. */
export function labelOf({ item }: MapItem): string {
  const keyed = typeof item === 'object' && item !== null && !Array.isArray(item)
  // An object that is no list has keys.
  const named = keyed ? ['title', 'name', 'id'].map((key) => (item as Keyed)[key]) : [item]
  const label = named.find((one) => typeof one === 'string' || typeof one === 'number')
  const line = String(label ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return line.length > LABEL_MAX ? `${line.slice(0, LABEL_MAX)}…` : line
}
