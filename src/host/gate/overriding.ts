/**
 * What a human sets aside becomes a fact: which law or block, for whose intent, how long, how often
 * (once). The actor proposes again with a fresh id; what carries over is the intent, never the words.
 */
import { randomUUID } from 'node:crypto'
import { fault, isDigest, isUuid, showName } from '../../base/index.ts'
import type { Override } from '../../contracts/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import { HomeFailure } from '../home/failure.ts'
import type { OverrideOrder } from './surface.ts'

export function overrideFact(
  order: OverrideOrder,
  standing: StandingFold,
  nowMs: number,
): Override {
  const common = {
    override_id: randomUUID(),
    uses: 1,
    reason: order.reason,
    given_at: new Date(nowMs).toISOString(),
  }
  if (order.kind === 'lift') return { ...common, kind: 'lift', ...liftedBy(order.of, standing) }
  const { policyId, actionId, forMs } = order
  return {
    ...common,
    kind: 'law',
    policy_id: policyId,
    ...(actionId === null ? {} : { action_id: actionId, intent: intentOf(actionId, standing) }),
    ...(forMs === null ? {} : { expires_at: new Date(nowMs + forMs).toISOString() }),
  }
}

function liftedBy(
  of: string,
  standing: StandingFold,
): Pick<Override, 'intent'> | Pick<Override, 'operation_digest'> {
  if (isDigest(of)) return { operation_digest: of }
  return { intent: intentOf(of, standing) }
}

function intentOf(actionId: string, standing: StandingFold): string {
  const intent = isUuid(actionId) ? standing.intentOf(actionId) : null
  if (intent !== null) return intent
  const message = `no proposal with the id ${showName(actionId)} was decided here`
  throw new HomeFailure(fault('history.unknown', actionId, null, { message }))
}
