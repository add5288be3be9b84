/**
 * Short ids: any beginning of an action's id that names one, its last eight digits, or the beginning
 * of the id under which its question waits. Found among the decisions of the streams that the caller may know of.
 */
import { faultError, isUuid, showName } from '../base/index.ts'
import type { Decision } from '../contracts/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { openFact } from './facts.ts'

/** Ids of commands begin with their time; so many digits tell acts of the same minute apart. */
const SHOWN = 13
const LEAST = 4
const END_MIN = 8
const PAGE = 500
/** Older acts are named by their whole id. */
const LOOKED_AT_MAX = 20_000

export function shortId(id: string): string {
  return id.slice(0, SHOWN)
}

/** Returns the whole id that a text abbreviates; the text itself if it is whole or unknown here. */
export async function wholeActionId(
  ledger: LedgerReader,
  streams: readonly string[],
  text: string,
): Promise<string> {
  const wanted = text.toLowerCase()
  if (isUuid(text) || wanted.length < LEAST || !/^[0-9a-f-]+$/.test(wanted)) return text
  const found = new Set<string>()
  for (const stream of streams) await look(ledger, stream, wanted, found)
  const [first, second] = [...found]
  if (first === undefined) return text
  if (second === undefined) return first
  const message = `${showName(text)} is the beginning of several ids: ${[...found].slice(0, 4).join(', ')}`
  throw faultError('history.unknown', text, message, 'name more digits')
}

async function look(
  ledger: LedgerReader,
  stream: string,
  wanted: string,
  found: Set<string>,
): Promise<void> {
  let cursor: number | null = null
  for (let seen = 0; seen < LOOKED_AT_MAX; seen += PAGE) {
    const query = { stream, type: 'decision_v1', limit: PAGE, order: 'newest_first' } as const
    const page = await ledger.store.find(cursor === null ? query : { ...query, cursor })
    for (const { text } of page.facts) {
      const { payload } = await openFact(ledger, text)
      // The store judged the record by its contract; only one that is gone is null.
      const decision = payload as Decision | null
      if (decision !== null && isNamed(decision, wanted)) found.add(decision.action_id)
    }
    cursor = page.next
    if (cursor === null) return
  }
}

function isNamed({ action_id, result_digest }: Decision, wanted: string): boolean {
  const id = action_id.toLowerCase()
  // The end of an id tells acts of one minute apart, so it names one as well.
  if (id.startsWith(wanted) || (wanted.length >= END_MIN && id.endsWith(wanted))) return true
  const hex = result_digest?.slice('sha256:'.length) ?? ''
  return wanted.length >= 8 && hex.startsWith(wanted)
}
