/** Jumps of the machine's clock, as facts of the host's stream. */
import type { ClockJump } from '../../contracts/index.ts'
import { type Appended, HOST_STREAM, type LedgerEntry, occurredAtText } from '../../ledger/index.ts'
import { isJump, type Jump } from '../../machine/index.ts'
import type { Actor } from './ledger.ts'

/** writ itself, because no principal asks for the clock to be checked. */
export const WRIT: Actor = {
  principal: { kind: 'script', id: 'writ', namespace: 'host' },
  source: 'clock',
}

/** Returns the entry that records a jump. */
export function jumpEntry(
  { expectedMs, foundMs }: Jump,
  seenBy: ClockJump['seen_by'],
): LedgerEntry {
  const expectedAt = occurredAtText(expectedMs)
  const payload: ClockJump = {
    expected_at: expectedAt,
    found_at: occurredAtText(foundMs),
    jump_ms: foundMs - expectedMs,
    seen_by: seenBy,
  }
  const entry = { ...WRIT, stream: HOST_STREAM, record: { type: 'clock_jump_v1', payload } }
  // Every process sees the same jump until the clock has caught up: the key makes it one fact.
  return seenBy === 'process' ? entry : { ...entry, idempotencyKey: `clock-behind-${expectedAt}` }
}

/** Returns the jump if a fact is later than now: times of facts never decrease, so the clock went back. */
export function behindBy(appended: readonly Appended[], nowMs: number): Jump | null {
  for (const { occurredAt, repeated } of appended) {
    const jump = { expectedMs: Date.parse(occurredAt), foundMs: nowMs }
    if (!repeated && jump.expectedMs > nowMs && isJump(jump)) return jump
  }
  return null
}
