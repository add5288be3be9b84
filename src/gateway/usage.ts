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
const NEWLINE = 10
/** Text without it holds no count. */
const WORD = 'usage'

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
  /** Of the last line, or of the document; pieces are joined only if they can hold a count. */
  #rest: Buffer[] = []
  #length = 0
  #hasWord = false
  #isTooLong = false
  #input = 0
  #output = 0

  constructor(contentType: string) {
    this.#isStream = /event-stream/i.test(contentType)
  }

  take(bytes: Buffer): void {
    if (this.#isTooLong) return
    const hasWord = bytes.includes(WORD)
    this.#hasWord ||= hasWord || this.#isCutWord(bytes)
    const end = this.#isStream ? bytes.lastIndexOf(NEWLINE) + 1 : 0
    if (end > 0) {
      if (this.#hasWord) this.#takeLines(Buffer.concat([...this.#rest, bytes.subarray(0, end)]))
      this.#forget()
    }
    const left = bytes.subarray(end)
    this.#hasWord ||= hasWord && left.includes(WORD)
    if (left.length > 0) this.#rest.push(left)
    this.#length += left.length
    this.#isTooLong = this.#length > TEXT_MAX
    if (this.#isTooLong) this.#forget()
  }

  /** Returns what was said so far; counts of a stream grow, so the largest ones count. */
  end(): TokenUse {
    if (!this.#isStream && this.#hasWord) this.#read(Buffer.concat(this.#rest).toString('utf8'))
    this.#forget()
    return { input: this.#input, output: this.#output }
  }

  /** Whether a word began in the piece before and ends in this one. */
  #isCutWord(bytes: Buffer): boolean {
    const cut = WORD.length - 1
    const before = this.#rest.slice(-cut).map((piece) => piece.subarray(-cut))
    return Buffer.concat([...before, bytes.subarray(0, cut)]).includes(WORD)
  }

  #forget(): void {
    this.#rest = []
    this.#length = 0
    this.#hasWord = false
  }

  #takeLines(lines: Buffer): void {
    for (const line of lines.toString('utf8').split('\n')) {
      if (line.startsWith(DATA) && line.includes(WORD)) this.#read(line.slice(DATA.length))
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
