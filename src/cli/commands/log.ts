/** `writ log`: the facts of a stream, filtered, paged in the order of seq, or followed as they come. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fault, showName } from '../../base/index.ts'
import { type Fact, parsePrincipal, type Query } from '../../ledger/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { FACT_HEADS, factRow } from '../history/fact-rows.ts'
import { openFact, shownFact } from '../history/facts.ts'
import { momentOption } from '../history/moment.ts'
import { LIMIT, LIMIT_MAX, numberOption } from '../history/number.ts'
import { table } from '../history/table.ts'
import { type ReadSession, streamToRead, withHistory } from '../home.ts'

const POLL_MS = 200

export async function run(call: Call): Promise<Exit> {
  return withHistory(call, async (session) => {
    const query = await queryOf(session, call)
    if (call.options.isOn('follow')) return follow(session, call, query)
    const page = await session.ledger.store.find(query)
    const facts = await Promise.all(
      page.facts.map(async ({ text }) => shownFact(await openFact(session.ledger, text))),
    )
    await print(call, facts, page.next)
    return EXIT.yes
  })
}

async function queryOf(session: ReadSession, call: Call): Promise<Query> {
  const { options } = call
  const now = Date.now()
  const given = {
    type: options.text('type') ?? undefined,
    task: options.text('task') ?? undefined,
    action: options.text('action') ?? undefined,
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

function principalOption(call: Call) {
  const text = call.options.text('principal')
  if (text === null) return undefined
  const principal = parsePrincipal(text)
  if (principal !== null) return principal
  const message = `${showName(text)} is no principal`
  throw new Stop(fault('cli.usage', '', null, { message, hint: '--principal kind:id@namespace' }))
}

async function print(call: Call, facts: readonly Fact[], next: number | null): Promise<void> {
  const { options, terminal } = call
  if (options.isOn('jsonl')) return printLines(call, facts)
  if (options.isOn('json')) {
    const answer = next === null ? { facts } : { facts, next }
    return terminal.out(`${JSON.stringify(answer)}\n`)
  }
  await terminal.out(table(terminal, FACT_HEADS, facts.map(factRow)))
  if (next !== null) terminal.err(`more: --after ${next}\n`)
}

async function printLines({ terminal }: Call, facts: readonly Fact[]): Promise<void> {
  for (const fact of facts) await terminal.out(`${JSON.stringify(fact)}\n`)
}

/** Columns of a width of their own: what comes later is not known yet. */
const WIDTHS = [6, 24, 22, 28]

function followedLine(fact: Fact): string {
  const cells = factRow(fact).map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0))
  return `${cells.join('  ').trimEnd()}\n`
}

/** Runs until it is interrupted. What is behind the mark cannot match any more, so it is not read. */
async function follow({ ledger }: ReadSession, call: Call, query: Query): Promise<Exit> {
  if (query.order === 'newest_first') {
    const message = '`--follow` goes forward; it cannot be combined with `--newest`'
    throw new Stop(fault('cli.usage', '', null, { message }))
  }
  const asLines = call.options.isOn('json') || call.options.isOn('jsonl')
  let cursor = query.cursor ?? -1
  for (;;) {
    const size = (await ledger.store.head(query.stream))?.size ?? 0
    const page = await ledger.store.find({ ...query, cursor })
    for (const { seq, text } of page.facts) {
      const fact = shownFact(await openFact(ledger, text))
      if (asLines) await printLines(call, [fact])
      else await call.terminal.out(followedLine(fact))
      cursor = seq
    }
    if (page.next !== null) continue
    cursor = Math.max(cursor, size - 1)
    await sleep(POLL_MS)
  }
}
