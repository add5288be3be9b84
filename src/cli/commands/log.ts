/**
 * `writ log`: the history of a stream as acts, or its facts, filtered, paged in the order of seq, or
 * followed as they come.
 */
import { showName } from '../../base/index.ts'
import { type Fact, parsePrincipal, type Query } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { type ReadSession, streamsToRead, streamToRead, withHistory } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import type { ActHistory } from '../history/act.ts'
import { ACTS, actsOf } from '../history/act.ts'
import { ACT_HEADS, actRow } from '../history/act-text.ts'
import { FACT_HEADS, factRow, openFact, shownFact } from '../history/facts.ts'
import { followFacts } from '../history/follow.ts'
import { HALF_DONE, halfDone, markHalfDone } from '../history/half-done.ts'
import { LIMIT, LIMIT_MAX, momentOption, numberOption } from '../history/option-values.ts'
import { wholeActionId } from '../history/short-id.ts'
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
