/**
 * Short lines from a socket to another process, one after the other. A waiting caller gets null when the
 * other side is gone. What comes from inside a sandbox is bounded.
 */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

const PENDING_MAX = 64 * 1024

export class Lines {
  readonly #ready: string[] = []
  #partial = ''
  #isEnded = false
  #wake: (() => void) | null = null

  constructor(source: Readable) {
    source.setEncoding('utf8')
    source.on('data', (text: string) => this.#take(text))
    source.on('error', () => this.#end())
    source.on('close', () => this.#end())
    source.on('end', () => this.#end())
  }

  /** The next line, or null when there will be none. One caller waits at a time. */
  async next(): Promise<string | null> {
    for (;;) {
      const line = this.#ready.shift()
      if (line !== undefined) return line
      if (this.#isEnded) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** The next line, or null when there is none by the time `end` has come. */
  async nextOr(end: Promise<unknown>): Promise<string | null> {
    let isOver = false
    const over = end.then(() => {
      isOver = true
    })
    for (;;) {
      const line = this.#ready.shift()
      if (line !== undefined) return line
      if (this.#isEnded) return null
      if (isOver) return this.#last()
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([woken, over])
    }
  }

  /** What was written before the end lies in the socket; a turn of the loop brings it. */
  async #last(): Promise<string | null> {
    for (let turn = 0; turn < 2 && this.#ready.length === 0; turn++) await nextTurn()
    return this.#ready.shift() ?? null
  }

  /** What has come and was not asked for. */
  rest(): string {
    return [...this.#ready, this.#partial].join('\n').trim()
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split('\n')
    this.#partial = (lines.pop() ?? '').slice(0, PENDING_MAX)
    if (this.#ready.length < PENDING_MAX) this.#ready.push(...lines)
    this.#awake()
  }

  #end(): void {
    this.#isEnded = true
    this.#awake()
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}
