/**
 * Short lines from a socket to another process, one after the other. Whoever waits is told when the
 * other side is gone instead. What comes from inside a sandbox is bounded.
 */
import type { Readable } from 'node:stream'

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
      if (this.#isEnded || isOver) return null
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([woken, over])
    }
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
