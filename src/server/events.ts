/**
 * Facts as they come (H-3). One look at the heads serves all readers. A reader that begins behind is
 * read to until it has what the others have, and then gets what they get: nothing is left out and
 * nothing comes twice.
 */
import { type Cursor, formatCursor } from '../api/index.ts'
import { field } from '../contracts/index.ts'
import { openFact, shownFact } from '../history/index.ts'
import { type Caller, HOST_STREAM, mayKnow, type OpenedFact, termsOf } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'

const LOOK_MS = 200
const HEARTBEAT_MS = 15_000
const PAGE = 200

type OpenHome = Pick<HostedHome, 'ledger'> & {
  readonly home: Pick<HostedHome['home'], 'id'>
}

interface EventFilter {
  readonly stream?: string
  readonly type?: string
  readonly run?: string
  readonly session?: string
}

/** Where events of one reader go. */
interface EventSink {
  /** False when the reader takes nothing more: it is dropped, and goes on from its cursor later. */
  write(text: string): boolean
  end(): void
}

interface Reader {
  readonly caller: Caller
  readonly filter: EventFilter
  readonly sink: EventSink
  readonly seen: Map<string, number>
}

export class EventHub {
  readonly #home: OpenHome
  readonly #readers = new Set<Reader>()
  /** How many facts of each stream all readers have been given. */
  readonly #sizes = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #heartbeatAtMs = Date.now()
  #isLooking = false
  /** Readers that are being read to. */
  #joining = 0
  #begun: Promise<void> | null = null

  constructor(home: OpenHome) {
    this.#home = home
  }

  /** Begins at the cursor, or with the next fact without one. Returns how to leave. */
  async join(
    caller: Caller,
    filter: EventFilter,
    cursor: Cursor | null,
    sink: EventSink,
  ): Promise<() => void> {
    this.#joining += 1
    try {
      this.#begun ??= this.#begin()
      await this.#begun
      return await this.#joinBegun(caller, filter, cursor, sink)
    } finally {
      this.#joining -= 1
      if (this.#readers.size === 0) this.#rest()
    }
  }

  async #joinBegun(
    caller: Caller,
    filter: EventFilter,
    cursor: Cursor | null,
    sink: EventSink,
  ): Promise<() => void> {
    // A reader learns nothing of streams that it may not know of, not even their sizes.
    const sizes = [...(cursor === null ? this.#sizes : nextOf(cursor))]
    const seen = new Map(sizes.filter(([stream]) => isWanted(caller, filter, stream)))
    const reader: Reader = { caller, filter, sink, seen }
    let isGone = false
    const leave = (): void => {
      isGone = true
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#rest()
    }
    // No turn is given away between the last look and joining, so nothing is missed.
    while (!isGone && this.#behind(reader)) if (!(await this.#catchUp(reader))) leave()
    if (!isGone) this.#readers.add(reader)
    return leave
  }

  get readers(): number {
    return this.#readers.size
  }

  close(): void {
    for (const { sink } of this.#readers) sink.end()
    this.#readers.clear()
    this.#rest()
  }

  async #begin(): Promise<void> {
    for (const { stream, size } of await this.#home.ledger.store.heads())
      this.#sizes.set(stream, size)
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  /** Stops looking when the last reader has left. */
  #rest(): void {
    if (this.#joining > 0) return
    this.#begun = null
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#sizes.clear()
  }

  #behind({ seen, caller, filter }: Reader): boolean {
    return [...this.#sizes].some(
      ([stream, size]) => isWanted(caller, filter, stream) && (seen.get(stream) ?? 0) < size,
    )
  }

  async #catchUp(reader: Reader): Promise<boolean> {
    for (const [stream, size] of this.#sizes) {
      if (!isWanted(reader.caller, reader.filter, stream)) continue
      const from = reader.seen.get(stream) ?? 0
      if (from >= size) continue
      for (const fact of await this.#read(stream, from, Math.min(PAGE, size - from))) {
        if (!this.#give(reader, stream, fact)) return false
      }
    }
    return true
  }

  #look(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#deliver()
      // The ledger may be away for a while; the next look finds what came meanwhile.
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #deliver(): Promise<void> {
    for (const { stream, size } of await this.#home.ledger.store.heads()) {
      for (let from = this.#sizes.get(stream) ?? 0; from < size; ) {
        const facts = await this.#read(stream, from, Math.min(PAGE, size - from))
        if (facts.length === 0) break
        from += facts.length
        for (const reader of this.#readers) this.#giveAll(reader, stream, facts)
        this.#sizes.set(stream, from)
      }
    }
    this.#beat()
  }

  #giveAll(reader: Reader, stream: string, facts: readonly OpenedFact[]): void {
    if (!isWanted(reader.caller, reader.filter, stream)) return
    for (const fact of facts) {
      if (this.#give(reader, stream, fact)) continue
      this.#readers.delete(reader)
      return
    }
  }

  /** A fact that does not pass the filter moves the cursor of the next one that does. */
  #give(reader: Reader, stream: string, fact: OpenedFact): boolean {
    const { seen, filter, sink } = reader
    if (fact.seq < (seen.get(stream) ?? 0)) return true
    seen.set(stream, fact.seq + 1)
    if (!passes(filter, fact)) return true
    const id = formatCursor({ home: this.#home.home.id, streams: Object.fromEntries(seen) })
    const data = JSON.stringify(shownFact(fact))
    return sink.write(`id: ${id}\nevent: ${fact.record.type}\ndata: ${data}\n\n`)
  }

  /** Tells readers, and what lies between, that the line is alive; without an id. */
  #beat(): void {
    if (Date.now() - this.#heartbeatAtMs < HEARTBEAT_MS) return
    this.#heartbeatAtMs = Date.now()
    for (const reader of this.#readers) {
      if (!reader.sink.write(': alive\n\n')) this.#readers.delete(reader)
    }
  }

  async #read(stream: string, from: number, limit: number): Promise<readonly OpenedFact[]> {
    const { ledger } = this.#home
    const facts: OpenedFact[] = []
    for (const { text } of await ledger.store.read(stream, from, limit)) {
      facts.push(await openFact(ledger, text))
    }
    return facts
  }
}

/** The cursor names for each stream how many facts the reader has. */
function nextOf({ streams }: Cursor): ReadonlyMap<string, number> {
  return new Map(Object.entries(streams))
}

function isWanted(caller: Caller, { stream }: EventFilter, found: string): boolean {
  if (stream !== undefined) return found === stream && mayKnow(caller, found)
  return found !== HOST_STREAM && mayKnow(caller, found)
}

function passes({ type, run, session }: EventFilter, { record, payload }: OpenedFact): boolean {
  if (type !== undefined && record.type !== type) return false
  const whole = { ...record, payload: payload ?? undefined }
  if (run !== undefined && termsOf(whole)['run'] !== run) return false
  if (session === undefined) return true
  // Of the session itself, or of what was settled in it.
  return [payload, field(payload, 'session')].some((one) => field(one, 'session_id') === session)
}
