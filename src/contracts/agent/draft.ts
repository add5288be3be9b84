/**
 * The document under repair: a copy made at the first change, and the list of every change (C-6).
 * Nothing is repaired silently because nothing here changes a field without writing it down.
 *
 * A repair's `from` and `to` are values, null where there is none; of a key that was read under
 * another name (rules `*.alias`, `*.container`, `*.unwrap`) they are the two names.
 */
import { at } from '../../base/index.ts'
import type { JsonObject, Repair } from '../kernel/contract.ts'

/** The list of repairs, in the order in which they were made. */
export class Repairs {
  readonly list: Repair[] = []

  add(rule: string, path: string, from: unknown, to: unknown): void {
    this.list.push({ path, from: from ?? null, to: to ?? null, rule })
  }
}

export class ObjectDraft {
  /** JSON Pointer to the object; it changes when a list before it loses an item. */
  path: string
  readonly repairs: Repairs
  #object: Record<string, unknown>
  #isCopy = false

  constructor(source: JsonObject, path: string, repairs: Repairs) {
    this.path = path
    this.repairs = repairs
    // Never written to before `#own` has replaced it by a copy.
    this.#object = source as Record<string, unknown>
  }

  /** The object with all repairs so far; the source itself before the first repair. */
  get object(): JsonObject {
    return this.#object
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name)
  }

  get(name: string): unknown {
    return this.has(name) ? this.#object[name] : undefined
  }

  /** Sets a field and records it; a scalar that is there already is no repair. */
  set(name: string, value: unknown, rule: string): void {
    const from = this.get(name)
    if (this.has(name) && Object.is(from, value)) return
    this.#own()[name] = value
    this.repairs.add(rule, at(this.path, name), from, value)
  }

  /** Sets a field whose inner repairs were recorded one by one. */
  replace(name: string, value: unknown): void {
    if (!Object.is(this.get(name), value)) this.#own()[name] = value
  }

  /**
   * Reads the first alias that has a value, when the canonical key has none (null is no value); that
   * alias is dropped. Aliases that were not read are unknown keys and stay.
   */
  rename(name: string, aliases: readonly string[], rule: string): string | null {
    if (hasValue(this.get(name))) return null
    const alias = aliases.find((key) => hasValue(this.get(key)))
    if (alias === undefined) return null
    this.move(alias, name, rule)
    return alias
  }

  /** Moves a field to another key of the same object. */
  move(from: string, to: string, rule: string): void {
    // Copied without the key: deleting it would make a slow object of every node of a large plan.
    const { [from]: value, ...rest } = this.#object
    rest[to] = value
    this.#object = rest
    this.#isCopy = true
    this.repairs.add(rule, at(this.path, from), from, to)
  }

  #own(): Record<string, unknown> {
    if (!this.#isCopy) {
      this.#object = { ...this.#object }
      this.#isCopy = true
    }
    return this.#object
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null
}
