/** How long an attempt may take, and what it means that its time was up. */
import type { Said } from './participant/participant-request.ts'
import type { RunCommand } from './participant-input.ts'

/** Returns the seconds of the node, or what is left of the budget if that is less; null without both. */
export function secondsFor(
  { timeout_seconds: timeout }: RunCommand,
  left: number | null,
): number | null {
  if (timeout === undefined) return left
  return left === null ? Math.ceil(timeout) : Math.min(Math.ceil(timeout), left)
}

/** A participant whose time was up has failed, also where the line only looks broken. */
export function withTimeout(
  { timeout_seconds: timeout }: RunCommand,
  seconds: number,
  said: Said,
): Said {
  if (timeout === undefined || said.outcome === 'ended' || seconds < timeout) return said
  const why = `no answer within ${timeout} seconds`
  return { ...said, outcome: 'failed', cause: 'timeout', why }
}
