/**
 * `writ log --follow`: prints facts as they come, each once and in order. A server that is away for a
 * while is waited for, and a ledger file that was put into the place of another is opened again if it
 * goes on from the same fact.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { FaultError, faultError } from '../../base/index.ts'
import type { Fact, Page, Query } from '../../ledger/index.ts'
import { type LedgerReader, ledgerFileId, openHistory } from '../../store/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import type { ReadSession } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import { factRow, openFact, shownFact } from './facts.ts'

const POLL_MS = 200
/** How long a server may be away while it is followed. */
const RECONNECT_MS_MAX = 30_000
const RECONNECT_PAUSE_MS = 500

/** Runs until it is interrupted. What is behind the mark cannot match any more, so it is not read. */
export async function followFacts(
  { ledger, home }: ReadSession,
  call: CommandCall,
  query: Query,
): Promise<Exit> {
  if (query.order === 'newest_first') {
    throw usageError('`--follow` goes forward; it cannot be combined with `--newest`')
  }
  const follower = new Follower(ledger, home.state, query)
  try {
    for (;;) await step(follower, call)
  } catch (error) {
    if (error instanceof FaultError) call.terminal.err(resumption(follower.cursor))
    throw error
  } finally {
    await follower.close()
  }
}

function resumption(cursor: number): string {
  const after = cursor < 0 ? '' : ` --after ${cursor}`
  return `go on from here: writ log --follow${after}\n`
}

async function step(follower: Follower, call: CommandCall): Promise<void> {
  const page = await follower.next()
  for (const { seq, text } of page.facts) {
    await print(call, shownFact(await openFact(follower.ledger, text)))
    follower.cursor = seq
  }
  if (page.next === null) await follower.rest()
}

async function print({ terminal, options }: CommandCall, fact: Fact): Promise<void> {
  const asLines = options.isOn('json') || options.isOn('jsonl')
  await terminal.out(asLines ? `${JSON.stringify(fact)}\n` : followedLine(fact))
}

/** Columns of a width of their own: what comes later is not known yet. */
const WIDTHS = [6, 24, 22, 28]

function followedLine(fact: Fact): string {
  const cells = factRow(fact).map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0))
  return `${cells.join('  ').trimEnd()}\n`
}

class Follower {
  readonly #given: LedgerReader
  readonly #state: string
  readonly #query: Query
  #ledger: LedgerReader
  #file: string | null
  #size = 0
  #lostAtMs: number | null = null
  /** The last fact that was printed, or looked at and left out. */
  cursor: number

  constructor(ledger: LedgerReader, state: string, query: Query) {
    this.#given = ledger
    this.#ledger = ledger
    this.#state = state
    this.#query = query
    this.#file = ledgerFileId({ directory: state })
    this.cursor = query.cursor ?? -1
  }

  get ledger(): LedgerReader {
    return this.#ledger
  }

  /** The facts behind the cursor. Waits for a server that is away, but not for ever. */
  async next(): Promise<Page> {
    for (;;) {
      try {
        const { store } = this.#ledger
        this.#size = (await store.head(this.#query.stream))?.size ?? 0
        const page = await store.find({ ...this.#query, cursor: this.cursor })
        this.#lostAtMs = null
        return page
      } catch (error) {
        if (!(error instanceof FaultError) || !this.#mayPass(error)) throw error
        await sleep(RECONNECT_PAUSE_MS)
      }
    }
  }

  #mayPass({ fault: { code } }: FaultError): boolean {
    this.#lostAtMs ??= Date.now()
    return code === 'ledger.unreachable' && Date.now() - this.#lostAtMs <= RECONNECT_MS_MAX
  }

  /** Everything there is was printed. */
  async rest(): Promise<void> {
    this.cursor = Math.max(this.cursor, this.#size - 1)
    await sleep(POLL_MS)
    const found = ledgerFileId({ directory: this.#state })
    if (found === null || found === this.#file) return
    await this.#turnTo(await openHistory({ directory: this.#state }))
    this.#file = found
  }

  /** Fails if the ledger that was put here does not hold the last fact that was seen. */
  async #turnTo(other: LedgerReader): Promise<void> {
    const before = this.#ledger
    this.#ledger = other
    if (this.cursor >= 0) {
      const { stream } = this.#query
      const [seen, now] = await Promise.all(
        [before, other].map(async ({ store }) => (await store.read(stream, this.cursor, 1))[0]),
      )
      if (seen?.text !== now?.text) throw notGoingOn(`${stream}/${this.cursor}`)
    }
    if (before !== this.#given) await before.close()
  }

  /** What was handed over is its owner's. */
  async close(): Promise<void> {
    if (this.#ledger !== this.#given) await this.#ledger.close()
  }
}

function notGoingOn(place: string): FaultError {
  const message = `another ledger was put into this place, and it does not hold the fact ${place} that was seen here`
  const hint = 'compare it with a checkpoint that was kept: writ ledger verify --from FILE'
  return faultError('ledger.tampered', place, message, hint)
}
