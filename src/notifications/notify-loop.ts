/**
 * Tells people of questions that wait (N-1). `look` is one look at the questions: what is due is sent and
 * recorded; the command line repeats it, also as a process of the service.
 *
 * INVARIANT (nothing lost): what to send follows from the facts alone: a way of an open question without
 *   a fact of its delivery. A process that dies after it sent and before it recorded sends again.
 * INVARIANT (recorded): every try has a fact, with its outcome.
 */
import { invariant } from '../base/index.ts'
import type { NotificationFact, NotifyWay } from '../contracts/index.ts'
import { occurredAtText, type Principal } from '../ledger/index.ts'
import type { GateSurface, InboxQuestion, Question } from '../service/index.ts'
import type { Ledger } from '../store/index.ts'
import { type Delivery, deliveriesOf, restMs } from './deliveries.ts'
import { type Message, messageOf } from './message.ts'
import { type SecretOf, send } from './send.ts'

/** The gate whose questions are sent, and the principal in whose name tries are recorded. */
export interface NotifyHost {
  readonly gate: Pick<GateSurface, 'pending' | 'question' | 'notify'>
  readonly ledger: Pick<Ledger, 'store' | 'record'>
  readonly stream: string
  readonly principal: Principal
  readonly workspace: string
  readonly secretOf: SecretOf
  readonly nowMs: () => number
  /** Where links lead if the settings do not say; null without a console. */
  readonly console: string | null
  /** How long a receiver may take; ten seconds without it. */
  readonly waitMs?: number
}

/** What a look did. */
export interface NotifyNews extends NotificationFact {
  readonly stream: string
}

/** Sends what is due; returns when the next try is, null if none is left. */
export async function look(
  host: NotifyHost,
  tell: (news: NotifyNews) => void,
): Promise<number | null> {
  const { ways } = host.gate.notify
  if (ways.length === 0) return null
  let next: number | null = null
  for (const row of await host.gate.pending()) {
    const question = await host.gate.question(row.action_id)
    if (question === null) continue
    for (const delivery of await deliveriesOf(host.ledger, host.stream, question, ways)) {
      const dueMs = await lookAt(host, row, question, delivery, tell)
      if (dueMs !== null) next = Math.min(next ?? dueMs, dueMs)
    }
  }
  return next
}

async function lookAt(
  host: NotifyHost,
  row: InboxQuestion,
  question: Question,
  { way, dueMs, attempts }: Delivery,
  tell: (news: NotifyNews) => void,
): Promise<number | null> {
  if (dueMs === null || dueMs > host.nowMs()) return dueMs
  const link = host.gate.notify.link ?? host.console
  const contents = way.contents === true
  const terms = { workspace: host.workspace, question: row.id, link, contents }
  const reason = await send(way, messageOf(question, terms), host.secretOf, host.waitMs)
  const tried = await recordTry(host, question, way, attempts + 1, reason)
  tell({ ...tried, stream: host.stream })
  return reason === null ? null : host.nowMs() + restMs(attempts + 1)
}

async function recordTry(
  { ledger, principal, stream, nowMs }: NotifyHost,
  { actionId, askedAt }: Question,
  { name: way, kind }: NotifyWay,
  attempt: number,
  reason: string | null,
): Promise<NotificationFact> {
  const at = nowMs()
  const payload: NotificationFact = {
    action_id: actionId,
    asked_at: askedAt,
    way,
    kind,
    outcome: reason === null ? 'DELIVERED' : 'FAILED',
    attempt,
    at: occurredAtText(at),
    ...(reason === null ? {} : { reason }),
  }
  const record = { type: 'notification_v1', payload }
  // Two loops may try at once: both tries happened, and both are facts.
  const idempotencyKey = `notification/${actionId}/${askedAt}/${way}/${process.pid}-${at}`
  const entry = { stream, source: 'notify', principal, record, idempotencyKey }
  const recorded = await ledger.record(entry)
  invariant(recorded.ok, 'a try that writ made itself follows its contract')
  return payload
}

/** Sends a message by each way that is named, or by all, and records nothing. */
export async function tryWays(
  ways: readonly NotifyWay[],
  message: Message,
  secretOf: SecretOf,
): Promise<
  readonly { readonly way: string; readonly kind: string; readonly reason: string | null }[]
> {
  const tried = []
  for (const way of ways) {
    const reason = await send(way, message, secretOf)
    tried.push({ way: way.name, kind: way.kind, reason })
  }
  return tried
}

/** How many open questions some way has failed to tell of, so far. */
export async function undelivered(
  host: Pick<NotifyHost, 'ledger' | 'stream'> & {
    readonly gate: Pick<GateSurface, 'asked' | 'notify'>
  },
): Promise<number> {
  const { ways } = host.gate.notify
  let count = 0
  for (const asked of await host.gate.asked()) {
    const found = await deliveriesOf(host.ledger, host.stream, asked, ways)
    if (found.some(({ isDelivered }) => !isDelivered)) count++
  }
  return count
}
