/**
 * The document under repair: a copy made at the first change, and the list of every change (C-6).
 * Nothing is repaired silently because nothing here changes a field without writing it down.
 *
 * A repair's `from` and `to` are values, null where there is none; of a key that was read under
 * another name (rules `*.alias`, `*.container`, `*.unwrap`) they are the two names.
 */
import { at } from '../../base/index.ts'
import { isObject, type JsonObject, type Repair } from '../kernel/contract.ts'

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

/**
 * A list of objects under repair: the elements as drafts, and what was dropped or added. The path of a
 * repair holds for the list at the time of that repair (see `Repair`).
 */
export class Items {
  readonly #document: ObjectDraft
  readonly #name: string
  readonly #source: readonly unknown[]
  #drafts: ObjectDraft[] = []

  /** Opens a list of the document; what is no object is dropped. */
  constructor(document: ObjectDraft, name: string, source: readonly unknown[]) {
    this.#document = document
    this.#name = name
    this.#source = source
    for (const item of source) {
      if (isObject(item)) this.#drafts.push(new ObjectDraft(item, this.#place(), document.repairs))
      else document.repairs.add('plan.item_dropped', this.#place(), item, null)
    }
  }

  get drafts(): readonly ObjectDraft[] {
    return this.#drafts
  }

  /** Returns the pointer of the next element. */
  #place(): string {
    return at(`/${this.#name}`, this.#drafts.length)
  }

  append(object: JsonObject, rule: string): void {
    this.#document.repairs.add(rule, this.#place(), null, object)
    this.#drafts.push(new ObjectDraft(object, this.#place(), this.#document.repairs))
  }

  /** Keeps the elements that `keeps` says yes to; those that follow a dropped one move up. */
  filter(keeps: (draft: ObjectDraft) => boolean, rule: string): void {
    const before = this.#drafts
    this.#drafts = []
    for (const draft of before) {
      const place = this.#place()
      draft.path = place
      if (keeps(draft)) this.#drafts.push(draft)
      else this.#document.repairs.add(rule, place, draft.object, null)
    }
  }

  /** Writes the list back into the document, unless nothing in it changed. */
  close(): void {
    const list = this.#drafts.map((draft) => draft.object)
    const isSame =
      list.length === this.#source.length &&
      list.every((object, index) => object === this.#source[index])
    if (!isSame) this.#document.replace(this.#name, list)
  }
}
