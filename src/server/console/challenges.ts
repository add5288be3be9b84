/**
 * Challenges that wait for an assertion, in memory: each counts once, for a few minutes, for one person
 * and one purpose. A service that starts again knows none.
 */
import { faultError, fromBase64Url } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'

const LIFE_MS = 5 * 60_000
const WAITING_MAX = 1_000

interface WaitingChallenge<T> {
  readonly purpose: T
  readonly untilMs: number
}

export class Challenges<T> {
  readonly #waiting = new Map<string, WaitingChallenge<T>>()

  /** Returns until when the challenge counts. */
  add(challenge: string, purpose: T, nowMs: number): string {
    const untilMs = nowMs + LIFE_MS
    this.#waiting.set(challenge, { purpose, untilMs })
    if (this.#waiting.size > WAITING_MAX) {
      const [oldest] = this.#waiting.keys()
      if (oldest !== undefined) this.#waiting.delete(oldest)
    }
    return new Date(untilMs).toISOString()
  }

  /** Returns what the challenge of some client data was made for, and forgets it. */
  take(clientData: string, nowMs: number): T {
    const challenge = challengeIn(clientData)
    const found = this.#waiting.get(challenge)
    this.#waiting.delete(challenge)
    if (found !== undefined && nowMs < found.untilMs) return found.purpose
    throw unknownChallenge()
  }
}

export function unknownChallenge(
  message = 'the challenge is not known here, was used, or is older than five minutes',
): Error {
  const hint = 'nothing was done; make a new challenge and touch the passkey again'
  return faultError('credential.challenge', '', message, hint)
}

function challengeIn(clientData: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(fromBase64Url(clientData))
    return String(field(JSON.parse(text), 'challenge'))
  } catch {
    throw unknownChallenge('the browser’s part of the assertion cannot be read')
  }
}
