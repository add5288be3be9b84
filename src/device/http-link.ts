/**
 * A device that asks the service for its tasks, by long polling. It shows its token, and believes only
 * answers that the home signed; everything else is trouble, and said again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient } from '../api/index.ts'
import type { DeviceName } from '../contracts/index.ts'
import { deviceText } from '../ledger/index.ts'
import type { DeviceLink, DeviceStatement, HomeAnswer, LinkTrouble } from './device-link.ts'
import { awaitedPlace, noAnswer, placeOf, readAnswer, UNSIGNED } from './home-answer.ts'

const POLL_SECONDS = 30
const ANSWER_MS = 15_000
const REST_MS = 1_000
const REST_MS_MAX = 30_000

interface HttpTerms {
  readonly url: string
  readonly token: string
  readonly device: DeviceName
  /** The keys of the home, base64 of 32 bytes each. */
  readonly homeKeys: readonly string[]
  readonly trouble: LinkTrouble
}

export class HttpLink implements DeviceLink {
  readonly #terms: HttpTerms
  readonly #client: Client
  readonly #stop = new AbortController()
  #polling: Promise<void> = Promise.resolve()

  constructor(terms: HttpTerms) {
    this.#terms = terms
    const { url, token } = terms
    this.#client = createClient({ url, token })
  }

  async open(onOffer: (message: unknown) => void): Promise<void> {
    this.#polling = this.#poll(onOffer)
  }

  async #poll(onOffer: (message: unknown) => void): Promise<void> {
    const { signal } = this.#stop
    const params = { id: deviceText(this.#terms.device) }
    let restMs = REST_MS
    while (!signal.aborted) {
      try {
        const { value } = await this.#client.listDeviceTasks({
          params,
          query: {},
          wait: POLL_SECONDS,
          signal,
        })
        for (const offer of value.offers) onOffer(offer)
        restMs = REST_MS
        // An offer stays listed until it is claimed, which takes a moment.
        if (value.offers.length > 0) await rest(REST_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#terms.trouble(reasonOf(error))
        await rest(restMs, signal)
        restMs = Math.min(2 * restMs, REST_MS_MAX)
      }
    }
  }

  async say(saying: DeviceStatement): Promise<HomeAnswer> {
    const { command_id, status, lease, receipt } = saying
    const about = receipt === null ? { lease } : { receipt: { ...receipt } }
    try {
      const { value } = await this.#client.sayAsDevice({
        params: { id: deviceText(this.#terms.device) },
        body: { command_id, status, ...about },
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      const heard = readAnswer(value, this.#terms)
      if (heard !== null && placeOf(heard.terms) === awaitedPlace(saying)) return heard.answer
    } catch (error) {
      this.#terms.trouble(reasonOf(error))
      throw error
    }
    this.#terms.trouble(UNSIGNED)
    throw noAnswer(command_id)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#polling
  }
}

/** `fetch` hides the cause of its failure. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return cause.message === '' ? code : cause.message
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, null, { signal }).catch(() => null)
}
