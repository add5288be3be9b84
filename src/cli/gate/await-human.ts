/** Waits for what a person answers in another process. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Confirmation, Decision, Promotion } from '../../contracts/index.ts'
import { displayOfRaw } from '../../gate/index.ts'
import type { Fact } from '../../ledger/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import type { GateSession } from './open.ts'

const LOOK_MS = 250

/**
 * Follows the facts about one action until its question is settled. The answer is given in another
 * process, so the ledger is the only place that shows it. Returns the answer as it became; with its
 * question still pending when the wait was given up.
 */
export async function awaitHuman(
  session: GateSession,
  answer: GateAnswer,
  abort: AbortSignal,
): Promise<GateAnswer> {
  const { pending } = answer
  if (pending === undefined) return answer
  const { id } = pending
  const question = await session.gate.question(id)
  const machine = question?.machine ?? null
  const there = machine === null ? '' : machine === '' ? ' on its machine' : ` on ${machine}`
  session.call.terminal.err(`waiting for a human: writ approve ${id}${there}, or writ deny ${id}\n`)
  const paths = (question?.changes ?? []).map(({ path }) => displayOfRaw(path))
  const expiresMs = Date.parse(pending.expires_at)
  while (!abort.aborted) {
    const settled = await settledAnswer(session, answer, paths)
    if (settled !== null) return settled
    // `pending` records that a question has expired.
    if (Date.now() > expiresMs) await session.gate.pending()
    await pause(LOOK_MS, undefined, { signal: abort }).catch(() => {})
  }
  return answer
}

async function settledAnswer(
  session: GateSession,
  answer: GateAnswer,
  paths: readonly string[],
): Promise<GateAnswer | null> {
  const newest = <Payload>(type: string): Promise<Payload | null> =>
    newestPayload<Payload>(session, type, answer.action_id)
  const confirmation = await newest<Confirmation>('confirmation_v1')
  if (confirmation === null) return null
  const { pending: _answered, ...rest } = answer
  const { superseded_by } = confirmation
  if (superseded_by !== undefined) return { ...rest, superseded_by }
  if (confirmation.answer === 'EXPIRED') return { ...rest, expired: true }
  if (confirmation.answer === 'DENIED') return rest
  const promotion = await newest<Promotion>('promotion_v1')
  if (promotion !== null) {
    const { snapshot_digest } = promotion
    const promoted = promotion.status === 'APPLIED'
    return { ...rest, promoted, promotion: { paths: [...paths], snapshot_digest } }
  }
  // A yes that could not be carried out is a decision of its own.
  const decision = await newest<Decision>('decision_v1')
  return decision?.decision === 'BLOCK' ? { ...rest, decision } : null
}

/** The facts that settle a question are small, so the ledger holds them whole. */
async function newestPayload<Payload>(
  { session, stream }: GateSession,
  type: string,
  action: string,
): Promise<Payload | null> {
  const page = await session.ledger.store.find({
    stream,
    type,
    action,
    limit: 1,
    order: 'newest_first',
  })
  const [found] = page.facts
  // The store judged the fact by its contract; the caller's type is that of the facts it asks for.
  return found === undefined ? null : ((JSON.parse(found.text) as Fact).record.payload as Payload)
}
