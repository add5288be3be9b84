/**
 * `writ log`: the history of a stream as acts, or its facts, filtered, paged in the order of seq, or
 * followed as they come.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { FaultError, faultError, showName } from '../../base/index.ts'
import {
  ACTS,
  type ActHistory,
  actsOf,
  HALF_DONE,
  halfDone,
  markHalfDone,
  openFact,
  shownFact,
  wholeActionId,
} from '../../history/index.ts'
import { type Fact, type Page, parsePrincipal, type Query } from '../../ledger/index.ts'
import { type LedgerReader, ledgerFileId, openHistory } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { type ReadSession, streamsToRead, streamToRead, withHistory } from '../call/home.ts'
import { ACT_HEADS, actRow } from '../history/act-text.ts'
import { FACT_HEADS, factRow } from '../history/fact-row.ts'
import { LIMIT, LIMIT_MAX, momentOption, numberOption } from '../history/option-values.ts'
import { table } from '../history/text.ts'

/** Options that speak of facts, not of acts. */
const OF_FACTS = ['type', 'task', 'action', 'after'] as const

export async function run(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const query = await queryOf(session, call)
    const { options } = call
    const isMachine = options.isOn('json') || options.isOn('jsonl') || options.isOn('follow')
    const isOfFacts = options.isOn('facts') || OF_FACTS.some((name) => options.text(name) !== null)
    if (!isMachine && !isOfFacts) {
      const limit = numberOption(call, 'limit', LIMIT_MAX) ?? ACTS
      // One more than is shown tells whether there are older ones.
      const acts = await actsOf(session.ledger, query, limit + 1)
      if (acts.length > 0) return printActs(session, call, acts, limit)
    }
    if (call.options.isOn('follow')) return followFacts(session, call, query)
    const page = await session.ledger.store.find(query)
    const facts = await Promise.all(
      page.facts.map(async ({ text }) => shownFact(await openFact(session.ledger, text))),
    )
    await print(call, facts, page.next)
    return EXIT.yes
  })
}

/** The newest at the end, next to where the person reads on. */
async function printActs(
  { home }: ReadSession,
  call: CommandCall,
  found: readonly ActHistory[],
  limit: number,
): Promise<Exit> {
  const { terminal, options } = call
  const acts = found.slice(0, limit)
  const open = await halfDone(home)
  const marked = acts.map((act) => markHalfDone(act, open))
  const rows = (options.isOn('newest') ? marked : marked.toReversed()).map(actRow)
  await terminal.out(table(terminal, ACT_HEADS, rows))
  if (open.size > 0) terminal.err(`${HALF_DONE}\n`)
  if (found.length > limit) {
    const more = Math.min(10 * Math.max(limit, 1), LIMIT_MAX)
    terminal.err(`there are older acts: writ log --limit ${more} lists up to ${more}\n`)
  }
  const { paint } = terminal
  const next = [
    'writ show ACT tells everything about one; writ undo takes the last one back, writ rollback ACT another;',
    'writ log --facts lists the facts themselves',
  ]
  if (terminal.isTty) for (const line of next) await terminal.out(`${paint.dim(line)}\n`)
  return EXIT.yes
}

async function queryOf(session: ReadSession, call: CommandCall): Promise<Query> {
  const { options } = call
  const now = Date.now()
  const given = {
    type: options.text('type') ?? undefined,
    task: options.text('task') ?? undefined,
    action: await actionOption(session, call),
    since: momentOption(call, 'since', now),
    until: momentOption(call, 'until', now),
    principal: principalOption(call),
    cursor: numberOption(call, 'after', Number.MAX_SAFE_INTEGER),
  }
  const asked = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    ...asked,
    stream: await streamToRead(session, call),
    limit: numberOption(call, 'limit', LIMIT_MAX) ?? LIMIT,
    order: options.isOn('newest') ? 'newest_first' : 'oldest_first',
  }
}

async function actionOption(session: ReadSession, call: CommandCall): Promise<string | undefined> {
  const text = call.options.text('action')
  if (text === null) return undefined
  return wholeActionId(session.ledger, await streamsToRead(session, call), text)
}

function principalOption(call: CommandCall) {
  const text = call.options.text('principal')
  if (text === null) return undefined
  const principal = parsePrincipal(text)
  if (principal !== null) return principal
  throw usageError(`${showName(text)} is no principal`, '--principal kind:id@namespace')
}

async function print(
  call: CommandCall,
  facts: readonly Fact[],
  next: number | null,
): Promise<void> {
  const { options, terminal } = call
  if (options.isOn('jsonl')) return printLines(call, facts)
  if (options.isOn('json')) {
    const answer = next === null ? { facts } : { facts, next }
    return terminal.out(`${JSON.stringify(answer)}\n`)
  }
  if (facts.length === 0) return terminal.out(isFiltered(call) ? NO_MATCH : NOTHING_YET)
  await terminal.out(table(terminal, FACT_HEADS, facts.map(factRow)))
  if (next !== null) terminal.err(`more: --after ${next}\n`)
}

const NOTHING_YET = 'nothing yet: `writ exec -- COMMAND` runs the first act\n'
const NO_MATCH = 'nothing matches\n'
const FILTERS = [...OF_FACTS, 'since', 'until', 'principal', 'stream']

function isFiltered({ options }: CommandCall): boolean {
  return FILTERS.some((name) => options.text(name) !== null)
}

async function printLines({ terminal }: CommandCall, facts: readonly Fact[]): Promise<void> {
  for (const fact of facts) await terminal.out(`${JSON.stringify(fact)}\n`)
}

const POLL_MS = 200
/** How long a server may be away while it is followed. */
const RECONNECT_MS_MAX = 30_000
const RECONNECT_PAUSE_MS = 500

/**
 * Prints facts as they come, each once and in order, until it is interrupted. A server that is away for
 * a while is waited for, and a ledger file that was put into the place of another is opened again if it
 * goes on from the same fact. What is behind the mark cannot match any more, so it is not read.
 */
async function followFacts(
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
    await printNext(call, shownFact(await openFact(follower.ledger, text)))
    follower.cursor = seq
  }
  if (page.next === null) await follower.rest()
}

async function printNext({ terminal, options }: CommandCall, fact: Fact): Promise<void> {
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
        if (page.facts.length > 0) await this.#ledger.compareHeads()
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
