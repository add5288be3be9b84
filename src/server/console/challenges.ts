/**
 * Challenges that wait for an assertion: each counts once, for five minutes. A service that starts again
 * knows none. Those of a person are kept in memory, for one purpose; those of logins, which anyone may
 * ask for, are computed again, so that no number of requests can use up memory or push others out.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { faultError, fromBase64Url } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import { challengeOf, type Principal, principalText } from '../../ledger/index.ts'

const LIFE_MS = 5 * 60_000
/** Of one person. */
const WAITING_MAX = 50

interface WaitingChallenge<T> {
  readonly purpose: T
  readonly untilMs: number
}

export class Challenges<T extends { readonly principal: Principal }> {
  readonly #waiting = new Map<string, WaitingChallenge<T>>()

  /** Returns until when the challenge counts. A person who asks for too many loses their own oldest. */
  add(challenge: string, purpose: T, nowMs: number): string {
    const untilMs = nowMs + LIFE_MS
    for (const [known, { untilMs: until }] of this.#waiting) {
      if (until <= nowMs) this.#waiting.delete(known)
    }
    this.#waiting.set(challenge, { purpose, untilMs })
    const name = principalText(purpose.principal)
    const own = [...this.#waiting].filter(
      ([, { purpose: one }]) => principalText(one.principal) === name,
    )
    for (const [oldest] of own.slice(0, -WAITING_MAX)) this.#waiting.delete(oldest)
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

const SLOT_MS = 1_000

interface LoginDocument {
  readonly type: 'login_challenge_v1'
  readonly nonce: string
}

/**
 * Challenges of logins: one a second, computed from a secret of this process and the second. A passkey
 * answers each of them once.
 */
export class LoginChallenges {
  readonly #secret = randomBytes(32)
  /** Which passkey answered which challenge, and until when that is of interest. */
  readonly #used = new Map<string, number>()

  offer(nowMs: number): string {
    return challengeOf(this.#document(Math.floor(nowMs / SLOT_MS)))
  }

  /** Returns the document that the challenge of some client data is the digest of. */
  find(clientData: string, nowMs: number): LoginDocument {
    const challenge = challengeIn(clientData)
    const now = Math.floor(nowMs / SLOT_MS)
    for (let slot = now; slot > now - LIFE_MS / SLOT_MS; slot--) {
      const document = this.#document(slot)
      if (challengeOf(document) === challenge) return document
    }
    throw unknownChallenge()
  }

  /** Fails if the passkey answered this challenge before. Called for answers that hold. */
  use({ nonce }: LoginDocument, credential: string, nowMs: number): void {
    for (const [key, untilMs] of this.#used) if (untilMs <= nowMs) this.#used.delete(key)
    const key = `${nonce} ${credential}`
    if (this.#used.has(key)) throw unknownChallenge()
    this.#used.set(key, nowMs + LIFE_MS)
  }

  #document(slot: number): LoginDocument {
    const nonce = createHmac('sha256', this.#secret).update(String(slot)).digest('base64url')
    return { type: 'login_challenge_v1', nonce }
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
