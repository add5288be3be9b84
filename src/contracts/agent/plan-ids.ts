/**
 * Ids of a plan. Planners name tasks as they like; the plan wants UUIDs. Each distinct foreign id
 * gets one fresh UUID, the same wherever it is used. START and END are no tasks: see
 * `plan-chain.ts`.
 */
import { isUuid } from '../../base/index.ts'

/** An id as text: a string that is not blank, or a number; null for what names nothing. */
export function idText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text
}

export class Ids {
  readonly #newId: () => string
  readonly #byText = new Map<string, string>()

  constructor(newId: () => string) {
    this.#newId = newId
  }

  fresh(): string {
    return this.#newId()
  }

  /** Returns the UUID of an id; null when the value is no id. */
  resolve(value: unknown): string | null {
    const text = idText(value)
    if (text === null || isUuid(text)) return text
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const id = this.#newId()
    this.#byText.set(text, id)
    return id
  }

  /** As `resolve`, but returns a fresh UUID where the value is no id. */
  require(value: unknown): string {
    return this.resolve(value) ?? this.#newId()
  }
}
