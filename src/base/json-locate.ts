/**
 * Reads a refused text again, character by character, to say where and why (C-3). Slow and exact;
 * called only when the fast reader has already said no. Iterative, so depth costs no stack.
 */
import { invariant } from './fault.ts'
import type { JsonLimits, JsonRefusal, JsonRefusalCode } from './json-limits.ts'
import { isFraction } from './json-reader.ts'
import { at } from './pointer.ts'
import { isSecretPlace, show, showName } from './show.ts'

interface Frame {
  readonly path: string
  readonly names: Set<string> | null
  step: string | number
}

/** Finds the first reason in text order; `known` is the guard's answer for a text that parses. */
export function locateRefusal(text: string, limits: JsonLimits, known?: JsonRefusal): JsonRefusal {
  const found = new Locator(text, limits).run()
  return found ?? known ?? { code: 'document.not_json', path: '', message: 'the text is not JSON' }
}

class Locator {
  readonly #text: string
  readonly #limits: JsonLimits
  readonly #stack: Frame[] = []
  #index = 0
  #values = 0
  #wantsValue = true

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  /** The first refusal in text order, or null when the text is sound. */
  run(): JsonRefusal | null {
    if (this.#text.charCodeAt(0) === 0xfeff) {
      return this.#refuse(
        'document.not_json',
        'the text begins with a byte order mark',
        'remove the mark',
      )
    }
    do {
      this.#skipSpace()
      const refusal = this.#wantsValue ? this.#value() : this.#afterValue()
      if (refusal !== null) return refusal
    } while (this.#wantsValue || this.#stack.length > 0)
    this.#skipSpace()
    return this.#index < this.#text.length ? this.#unexpected('the end of the text') : null
  }

  /** One value begins here: scalars are read whole, containers are opened. */
  #value(): JsonRefusal | null {
    this.#wantsValue = false
    if (++this.#values > this.#limits.valuesMax) {
      return this.#refuse(
        'document.too_large',
        `the document has more than ${this.#limits.valuesMax} values`,
      )
    }
    const unit = this.#text[this.#index]
    if (unit === '{') return this.#open(new Set())
    if (unit === '[') return this.#open(null)
    if (unit === '"') return this.#stringValue()
    return this.#literal()
  }

  #open(names: Set<string> | null): JsonRefusal | null {
    if (this.#stack.length >= this.#limits.depthMax) {
      return this.#refuse(
        'document.too_deep',
        `the document nests deeper than ${this.#limits.depthMax} levels`,
      )
    }
    this.#index++
    this.#skipSpace()
    const path = this.#path()
    if (this.#text[this.#index] === (names === null ? ']' : '}')) {
      this.#index++
      return null
    }
    this.#stack.push({ path, names, step: names === null ? 0 : '' })
    if (names !== null) return this.#key()
    this.#wantsValue = true
    return null
  }

  /** After a value: a comma and the next member, or the end of its container. */
  #afterValue(): JsonRefusal | null {
    const frame = this.#stack.at(-1)
    invariant(frame !== undefined, 'the loop of run() ends when the last container is closed')
    const unit = this.#text[this.#index]
    if (unit === (frame.names === null ? ']' : '}')) {
      this.#index++
      this.#stack.pop()
      this.#wantsValue = false
      return null
    }
    if (unit !== ',') return this.#unexpected(frame.names === null ? '`,` or `]`' : '`,` or `}`')
    this.#index++
    this.#skipSpace()
    if (frame.names !== null) return this.#key()
    frame.step = (frame.step as number) + 1 // The step of a list is an index.
    this.#wantsValue = true
    return null
  }

  #key(): JsonRefusal | null {
    const frame = this.#stack.at(-1) as Frame // A key is read only inside an object.
    if (this.#text[this.#index] !== '"') return this.#unexpected('a key in quotation marks')
    const name = this.#string()
    if (typeof name !== 'string') return name
    if (!name.isWellFormed()) return this.#brokenKey(name)
    frame.step = name
    if (frame.names?.has(name)) {
      return this.#refuse(
        'document.duplicate_key',
        `the key ${showName(name)} occurs twice in one object`,
      )
    }
    frame.names?.add(name)
    this.#skipSpace()
    if (this.#text[this.#index] !== ':') return this.#unexpected('`:`')
    this.#index++
    this.#wantsValue = true
    return null
  }

  #stringValue(): JsonRefusal | null {
    const text = this.#string()
    if (typeof text !== 'string') return text
    if (text.isWellFormed()) return null
    const shown = show(text, this.#path())
    return this.#refuse(
      'document.lone_surrogate',
      `the string ${shown} holds half of a surrogate pair`,
    )
  }

  /** Placed at the object: a pointer to the key itself would hold the broken half too. */
  #brokenKey(name: string): JsonRefusal {
    const frame = this.#stack.pop()
    invariant(frame !== undefined, 'a key belongs to an object')
    return this.#refuse(
      'document.lone_surrogate',
      `the key ${showName(name)} holds half of a surrogate pair`,
    )
  }

  #string(): string | JsonRefusal {
    const start = this.#index
    let index = start + 1
    for (;;) {
      const unit = this.#text.charCodeAt(index)
      if (Number.isNaN(unit)) return this.#stringRefusal(index, 'the string has no end')
      if (unit === 0x22) break
      if (unit < 0x20)
        return this.#stringRefusal(index, 'the string holds a bare control character')
      index += unit === 0x5c ? 2 : 1
    }
    this.#index = index + 1
    try {
      // The slice begins and ends with a quotation mark.
      return JSON.parse(this.#text.slice(start, index + 1)) as string
    } catch {
      return this.#stringRefusal(start, 'the string holds an unknown escape')
    }
  }

  #stringRefusal(index: number, message: string): JsonRefusal {
    this.#index = index
    return this.#refuse('document.not_json', message)
  }

  #literal(): JsonRefusal | null {
    LITERAL.lastIndex = this.#index
    const text = LITERAL.exec(this.#text)?.[0]
    if (text === undefined) return this.#unexpected('a value')
    const number = Number(text)
    if (Number.isNaN(number) || Number.isSafeInteger(number) || isFraction(number)) {
      this.#index += text.length
      return null
    }
    const shown = this.#shown(text)
    return this.#refuse(
      'document.bad_number',
      Number.isFinite(number)
        ? `the integer ${shown} is beyond 2^53-1 and would lose digits`
        : `the number ${shown} is not finite`,
      'write it as a string if every digit counts',
    )
  }

  #unexpected(expected: string): JsonRefusal {
    if (this.#index >= this.#text.length) {
      return this.#refuse('document.not_json', `the text ends where ${expected} was expected`)
    }
    const found = String.fromCodePoint(this.#text.codePointAt(this.#index) ?? 0)
    return this.#refuse(
      'document.not_json',
      `found ${this.#shown(found)} where ${expected} was expected`,
    )
  }

  /** Shows a piece of the text, unless it lies in a secret place. */
  #shown(piece: string): string {
    return isSecretPlace(this.#path()) ? show(piece, this.#path()) : showName(piece)
  }

  #path(): string {
    const frame = this.#stack.at(-1)
    return frame === undefined ? '' : at(frame.path, frame.step)
  }

  #refuse(code: JsonRefusalCode, message: string, hint?: string): JsonRefusal {
    const before = this.#text.slice(0, this.#index)
    const line = before.split('\n').length
    const column = this.#index - before.lastIndexOf('\n')
    const placed = {
      code,
      // What is no document has no places: line and column say where.
      path: code === 'document.not_json' ? '' : this.#path(),
      message: `${message} (line ${line}, column ${column})`,
    }
    return hint === undefined ? placed : { ...placed, hint }
  }

  #skipSpace(): void {
    while (SPACE.has(this.#text.charCodeAt(this.#index))) this.#index++
  }
}

/** Sticky: matched at one place, each digit once. */
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
