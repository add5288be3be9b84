/**
 * What came of the tries to tell people of a question, folded from the facts. A question that changed has
 * another moment, and people get another message.
 */
import type { NotificationFact, NotifyWay } from '../contracts/index.ts'
import type { Fact } from '../ledger/index.ts'
import type { Ledger } from '../store/index.ts'

/** A question as far as deliveries know it. */
interface AskedAt {
  readonly actionId: string
  readonly askedAt: string
}

/** One way of one question. */
export interface Delivery {
  readonly way: NotifyWay
  readonly isDelivered: boolean
  readonly attempts: number
  /** Of the last try that failed; null before the first, and once it arrived. */
  readonly reason: string | null
  /** When to try (again); null once it arrived. */
  readonly dueMs: number | null
}

const FIRST_REST_MS = 10_000
const REST_MS_MAX = 60 * 60_000

/** Rests twice as long after each failure, up to an hour. */
export function restMs(attempts: number): number {
  return Math.min(FIRST_REST_MS * 2 ** Math.min(attempts - 1, 20), REST_MS_MAX)
}

function deliveryOf(way: NotifyWay, tries: readonly NotificationFact[]): Delivery {
  const own = tries.filter((one) => one.way === way.name)
  const last = own.at(-1)
  const isDelivered = own.some(({ outcome }) => outcome === 'DELIVERED')
  if (isDelivered || last === undefined) {
    return { way, isDelivered, attempts: own.length, reason: null, dueMs: isDelivered ? null : 0 }
  }
  const dueMs = Date.parse(last.at) + restMs(own.length)
  return { way, isDelivered, attempts: own.length, reason: last.reason ?? null, dueMs }
}

const PAGE = 500

/** The tries about one question, in their order. */
async function triesOf(
  ledger: Pick<Ledger, 'store'>,
  stream: string,
  { actionId, askedAt }: AskedAt,
): Promise<readonly NotificationFact[]> {
  const tries: NotificationFact[] = []
  const query = { stream, type: 'notification_v1', action: actionId, limit: PAGE } as const
  for (let cursor: number | null = -1; cursor !== null; ) {
    const page = await ledger.store.find({ ...query, cursor, order: 'oldest_first' })
    for (const { text } of page.facts) {
      // The store returns the canonical text of a fact, which is of its contract.
      tries.push((JSON.parse(text) as Fact).record.payload as NotificationFact)
    }
    cursor = page.next
  }
  return tries.filter((one) => one.asked_at === askedAt)
}

/** What became of every way of a question. */
export async function deliveriesOf(
  ledger: Pick<Ledger, 'store'>,
  stream: string,
  asked: AskedAt,
  ways: readonly NotifyWay[],
): Promise<readonly Delivery[]> {
  if (ways.length === 0) return []
  const tries = await triesOf(ledger, stream, asked)
  return ways.map((way) => deliveryOf(way, tries))
}
