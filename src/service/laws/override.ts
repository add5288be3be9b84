/**
 * What a human sets aside becomes a fact: which law or block, for whose intent, how long, how often
 * (once, unless said otherwise). Every override of a law ends by itself. The actor proposes again with a fresh id; what carries over is the intent, never the words.
 */
import { randomUUID } from 'node:crypto'
import {
  FaultError,
  fault,
  faultError,
  isDigest,
  isUuid,
  nearest,
  showName,
} from '../../base/index.ts'
import type { Override } from '../../contracts/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import type { OverrideOrder } from '../surface/surface.ts'
import type { LawBook } from './law-book.ts'

export function overrideFact(
  order: Exclude<OverrideOrder, { kind: 'release' }>,
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
  const { policyId, actionId, forMs, uses } = order
  return {
    ...common,
    kind: 'law',
    policy_id: policyId,
    uses,
    ...(actionId === null ? {} : { action_id: actionId, intent: intentOf(actionId, standing) }),
    expires_at: new Date(nowMs + (forMs ?? UNUSED_MS)).toISOString(),
  }
}

/** How long an override for one intent can be used if the human names no duration. */
const UNUSED_MS = 24 * 60 * 60 * 1000

/** Only a law of tier 1 can be set aside, and only one that there is. */
export function refuseLaw(
  policyId: string,
  laws: readonly Pick<LawBook['laws'][number], 'policyId' | 'tier'>[],
): void {
  const law = laws.find((one) => one.policyId === policyId)
  if (law?.tier === 1) return
  const known = laws.filter(({ tier }) => tier === 1).map((one) => one.policyId)
  const near = nearest(policyId, known)
  if (law === undefined) {
    const message = `there is no law ${showName(policyId)}`
    const hint = near === null ? {} : { hint: `did you mean ${showName(near)}?` }
    throw new FaultError(fault('override.unknown_law', policyId, null, { message, ...hint }))
  }
  const message =
    law.tier === 0
      ? `the law ${showName(policyId)} is of tier 0 and cannot be set aside`
      : `the law ${showName(policyId)} asks: its question is answered, not set aside`
  throw faultError('override.tier', policyId, message)
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
  throw faultError('history.unknown', actionId, message)
}
