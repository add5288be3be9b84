/**
 * How many tokens an answer of a model says that it used, read from the bytes that pass: events of a
 * stream, or one JSON document. Contents are never kept.
 */

export interface TokenUse {
  readonly input: number
  readonly output: number
}

/** Longer lines, and documents longer than this, are not looked at. */
const TEXT_MAX = 4 * 1024 * 1024
const DATA = 'data:'

/** The fields that say it, in the forms of Anthropic, OpenAI (both) and Gemini. */
const INPUT = ['input_tokens', 'prompt_tokens', 'promptTokenCount'] as const
const OUTPUT = ['output_tokens', 'completion_tokens', 'candidatesTokenCount'] as const
/** Where objects with these fields lie in an event or a document. */
const PLACES = [
  ['usage'],
  ['message', 'usage'],
  ['response', 'usage'],
  ['usageMetadata'],
  ['response', 'usageMetadata'],
] as const

export class UsageReader {
  readonly #isStream: boolean
  #rest = ''
  #isTooLong = false
  #input = 0
  #output = 0

  constructor(contentType: string) {
    this.#isStream = /event-stream/i.test(contentType)
  }

  take(bytes: Uint8Array): void {
    if (this.#isTooLong) return
    this.#rest += Buffer.from(bytes).toString('utf8')
    if (this.#isStream) this.#takeLines()
    this.#isTooLong = this.#rest.length > TEXT_MAX
    if (this.#isTooLong) this.#rest = ''
  }

  /** Returns what was said so far; counts of a stream grow, so the largest ones count. */
  end(): TokenUse {
    if (!this.#isStream) this.#read(this.#rest)
    this.#rest = ''
    return { input: this.#input, output: this.#output }
  }

  #takeLines(): void {
    const lines = this.#rest.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      // Only lines that can hold a count are parsed.
      if (line.startsWith(DATA) && /usage/i.test(line)) this.#read(line.slice(DATA.length))
    }
  }

  #read(text: string): void {
    try {
      const document: unknown = JSON.parse(text)
      const all = Array.isArray(document) ? document : [document]
      for (const one of all) for (const place of PLACES) this.#count(at(one, place))
    } catch {
      // What is no JSON says nothing about tokens.
    }
  }

  #count(usage: unknown): void {
    this.#input = Math.max(this.#input, ...INPUT.map((name) => numberAt(usage, name)))
    this.#output = Math.max(this.#output, ...OUTPUT.map((name) => numberAt(usage, name)))
  }
}

function at(value: unknown, place: readonly string[]): unknown {
  let found = value
  for (const name of place) found = fieldOf(found, name)
  return found
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  // It has this field.
  return (value as Readonly<Record<string, unknown>>)[name]
}

function numberAt(value: unknown, name: string): number {
  const found = fieldOf(value, name)
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? Math.floor(found) : 0
}
