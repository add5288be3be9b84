/**
 * How many tokens an answer of a model says that it used, read from the bytes that pass: events of a
 * stream, or one JSON document. Contents are never kept.
 */

export interface TokenUse {
  /** All that went in. */
  readonly input: number
  /** What the model's host had kept of it from before. */
  readonly cached: number
  readonly output: number
}

export const NO_TOKENS: TokenUse = { input: 0, cached: 0, output: 0 }

/** Longer lines, and documents longer than this, are not looked at. */
const TEXT_MAX = 4 * 1024 * 1024
const DATA = 'data:'
const NEWLINE = 10
/** Text without it holds no count. */
const WORD = 'usage'

/** The fields that say it, in the forms of Anthropic, OpenAI (both) and Gemini. */
const INPUT = ['input_tokens', 'prompt_tokens', 'promptTokenCount'] as const
/** Anthropic names these besides the tokens that went in. */
const WRITTEN = 'cache_creation_input_tokens'
const READ = 'cache_read_input_tokens'
/** The others count them among those that went in. */
const KEPT = [
  ['prompt_tokens_details', 'cached_tokens'],
  ['input_tokens_details', 'cached_tokens'],
  ['cachedContentTokenCount'],
] as const
/** Gemini names them besides the words of the answer. */
const THOUGHT = 'thoughtsTokenCount'
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
  #use = NO_TOKENS

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
    return this.#use
  }

  /** Whether a word began in the piece before and ends in this one. */
  #isCutWord(bytes: Buffer): boolean {
    if (this.#rest.length === 0) return false
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
    const { input, cached, output } = this.#use
    const read = numberAt(usage, READ)
    const kept = KEPT.map((place) => wholeNumber(at(usage, place)))
    const taken = most(INPUT, usage) + read + numberAt(usage, WRITTEN)
    this.#use = {
      input: Math.max(input, taken),
      cached: Math.max(cached, read, ...kept),
      output: Math.max(output, most(OUTPUT, usage) + numberAt(usage, THOUGHT)),
    }
  }
}

function most(names: readonly string[], usage: unknown): number {
  return Math.max(...names.map((name) => numberAt(usage, name)))
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
  return wholeNumber(fieldOf(value, name))
}

function wholeNumber(found: unknown): number {
  return typeof found === 'number' && Number.isFinite(found) && found > 0 ? Math.floor(found) : 0
}
