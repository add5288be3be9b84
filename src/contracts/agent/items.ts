/**
 * A list of objects under repair: the elements as drafts, and what was dropped or added. The path of a
 * repair holds for the list at the time of that repair (see `Repair`).
 */
import { at } from '../../base/index.ts'
import { isObject, type JsonObject } from '../kernel/contract.ts'
import { ObjectDraft } from './draft.ts'

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
