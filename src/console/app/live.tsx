/**
 * Facts as they come. Each renews what the open page shows of its kind. A broken connection is made
 * again by itself, and goes on from the last event.
 */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { pageKey } from './page-key.ts'
import { queries } from './queries.ts'

type LiveState = 'off' | 'live' | 'lost'

const LiveContext = createContext<LiveState>('off')

export function useLive(): LiveState {
  return useContext(LiveContext)
}

const WAIT_MS = 500
const WAIT_MS_MAX = 8_000
const GATHER_MS = 150
/** The service sends a sign of life every 15 seconds. */
const SILENCE_MS_MAX = 40_000

/** Families of queries by the beginnings of fact types; every fact renews questions and actions. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^session/, 'sessions'],
  [/^(?:evaluation|session)/, 'session-acts'],
  [/^(?:run|flow|attempt|artifact|phase|review|claim|evidence)/, 'runs'],
  [/^ao_act|task|receipt|^dispatch|^device/, 'tasks'],
  [/^(?:laws|override|grant|halt|resume)/, 'laws'],
  [/^(?:principal|credential|passkey|token|witness)/, 'people'],
]

class FactFeed {
  readonly #tell: (state: LiveState) => void
  readonly #stopped = new AbortController()
  readonly #families = new Set<string>()
  #last: string | null = null
  #timer: number | null = null

  constructor(tell: (state: LiveState) => void) {
    this.#tell = tell
  }

  stop(): void {
    this.#stopped.abort()
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped
    for (let wait = WAIT_MS; !signal.aborted; ) {
      if (pageKey() !== null && (await this.#read())) wait = WAIT_MS
      if (signal.aborted) return
      this.#tell(pageKey() === null ? 'off' : 'lost')
      await new Promise((resolve) => setTimeout(resolve, wait))
      wait = pageKey() === null ? WAIT_MS : Math.min(2 * wait, WAIT_MS_MAX)
    }
  }

  /** Reads until the connection ends; returns whether there was one. */
  async #read(): Promise<boolean> {
    const lost = new AbortController()
    const signal = AbortSignal.any([this.#stopped.signal, lost.signal])
    let silence = 0
    try {
      const headers = { 'writ-page-key': pageKey() ?? '', accept: 'text/event-stream' }
      const last = this.#last === null ? {} : { 'last-event-id': this.#last }
      const answer = await fetch('/v1/events', { headers: { ...headers, ...last }, signal })
      if (!answer.ok || answer.body === null) return false
      this.#tell('live')
      // What happened while there was no connection.
      void queries.invalidateQueries({ refetchType: 'active' })
      let rest = ''
      for await (const piece of textOf(answer.body)) {
        clearTimeout(silence)
        silence = window.setTimeout(() => lost.abort(), SILENCE_MS_MAX)
        const events = `${rest}${piece}`.split('\n\n')
        rest = events.pop() ?? ''
        for (const event of events) this.#take(event)
      }
      return true
    } catch {
      return false
    } finally {
      clearTimeout(silence)
    }
  }

  #take(event: string): void {
    const lines = event.split('\n')
    const id = lines.find((line) => line.startsWith('id:'))
    const type = lines
      .find((line) => line.startsWith('event:'))
      ?.slice('event:'.length)
      .trim()
    if (id !== undefined) this.#last = id.slice('id:'.length).trim()
    if (type === undefined) return
    for (const family of ['questions', 'actions', 'ledger']) this.#families.add(family)
    for (const [pattern, family] of FAMILIES) if (pattern.test(type)) this.#families.add(family)
    this.#timer ??= window.setTimeout(() => this.#renew(), GATHER_MS)
  }

  #renew(): void {
    // An answer on its way renews all by itself, once the page of its question is left.
    if (queries.isMutating() > 0) {
      this.#timer = window.setTimeout(() => this.#renew(), GATHER_MS)
      return
    }
    this.#timer = null
    for (const family of this.#families) void queries.invalidateQueries({ queryKey: [family] })
    this.#families.clear()
  }
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield decoder.decode(value, { stream: true })
  }
}

export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const [state, setState] = useState<LiveState>('off')
  useEffect(() => {
    const feed = new FactFeed(setState)
    void feed.run()
    return () => feed.stop()
  }, [])
  return <LiveContext value={state}>{children}</LiveContext>
}
