/** Which open questions people have not been told of, for the inbox and `writ doctor`. */
import { deliveriesOf } from '../../notifications/index.ts'
import type { GateSession } from './open.ts'

export interface DeliveryState {
  readonly way: string
  readonly kind: string
  readonly delivered: boolean
  readonly attempts: number
  readonly reason?: string
}

/** What became of the messages about a question; empty where the settings name no way. */
export async function deliveryStates(
  { gate, session, stream }: GateSession,
  asked: { readonly actionId: string; readonly askedAt: string },
): Promise<readonly DeliveryState[]> {
  const found = await deliveriesOf(session.ledger, stream, asked, gate.notify.ways)
  return found.map(({ way, isDelivered: delivered, attempts, reason }) => ({
    way: way.name,
    kind: way.kind,
    delivered,
    attempts,
    ...(reason === null ? {} : { reason }),
  }))
}

/** One line for each way that has not told people; empty where all have. */
export function undeliveredLines(states: readonly DeliveryState[]): readonly string[] {
  return states
    .filter(({ delivered }) => !delivered)
    .map(({ way, kind, attempts, reason }) =>
      reason === undefined
        ? `not sent yet by ${way} (${kind}): \`writ notify run\` or \`writ serve\` sends it`
        : `not delivered by ${way} (${kind}) in ${attempts === 1 ? '1 try' : `${attempts} tries`}: ${reason}`,
    )
}

/** How many open questions some way has not told people of. */
export async function undeliveredIn(sessions: readonly GateSession[]): Promise<number> {
  let count = 0
  for (const session of sessions) {
    for (const asked of await session.gate.asked()) {
      const states = await deliveryStates(session, asked)
      if (undeliveredLines(states).length > 0) count++
    }
  }
  return count
}
