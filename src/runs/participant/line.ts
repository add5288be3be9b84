/** Lines to participants elsewhere: what a failure of one is, and how long it is waited for. */
import { FaultError } from '../../base/index.ts'
import { isPassingStatus } from '../../flow/index.ts'
import type { ParticipantRequest, Said } from './participant-request.ts'
import { type Secrets, withoutSecrets } from './secrets.ts'

/** A failure of the line: the participant may be there later. */
export class LineFailure extends Error {
  override readonly name = 'LineFailure'
}

/** The participant answered, and will not do it. */
export class Declined extends Error {
  override readonly name = 'Declined'
}

/** The participant answered, and the answer has no one meaning: it is asked again. */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer'
  readonly text: string

  constructor(why: string, text: string) {
    super(why)
    this.text = text
  }
}

/** Secrets go before the text is cut, so that no half of one is left. */
export function failure(status: number, text: string, secrets: Secrets): Error {
  const words = `HTTP ${status}: ${withoutSecrets(text, secrets).slice(0, 500)}`
  return isPassingStatus(status) ? new LineFailure(words) : new Declined(words)
}

/**
 * Runs with a signal that also ends when the time is up; `extend` gives the whole time once more. A
 * participant that does not answer in its time has failed: asking again would begin its work again.
 */
export async function withDeadline<T>(
  { signal, seconds }: Pick<ParticipantRequest, 'signal' | 'seconds'>,
  work: (signal: AbortSignal, extend: () => void) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), seconds * 1000)
  try {
    return await work(AbortSignal.any([signal, late.signal]), () => timer.refresh())
  } catch (error) {
    if (late.signal.aborted) throw new Declined(`no answer within ${seconds} seconds`)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** What became of a conversation, as the run wants to know it. */
export async function heard(
  work: () => Promise<{ readonly text: string; readonly tokens: number }>,
  tokensSoFar: () => number = () => 0,
): Promise<Said> {
  try {
    return { outcome: 'ended', ...(await work()) }
  } catch (error) {
    if (error instanceof FaultError) throw error
    if (error instanceof InvalidAnswer) {
      const { text, message: invalid } = error
      return { outcome: 'ended', text, tokens: tokensSoFar(), invalid }
    }
    const why = error instanceof Error ? error.message : String(error)
    const outcome = error instanceof Declined ? 'failed' : 'unreachable'
    return { outcome, text: '', tokens: tokensSoFar(), why }
  }
}
