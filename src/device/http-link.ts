/**
 * A device that asks the service for its tasks, by long polling. What is answered with 4xx is refused;
 * everything else is trouble, and said again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient, ProblemError } from '../api/index.ts'
import type { DeviceName } from '../contracts/index.ts'
import { deviceText } from '../ledger/index.ts'
import type { DeviceLink, DeviceStatement, HomeAnswer, LinkTrouble } from './device-link.ts'

const POLL_SECONDS = 30
const REST_MS = 1_000
const REST_MS_MAX = 30_000

interface HttpTerms {
  readonly url: string
  readonly token: string
  readonly device: DeviceName
  readonly trouble: LinkTrouble
}

export class HttpLink implements DeviceLink {
  readonly #client: Client
  readonly #device: DeviceName
  readonly #trouble: LinkTrouble
  readonly #stop = new AbortController()
  #polling: Promise<void> = Promise.resolve()

  constructor({ url, token, device, trouble }: HttpTerms) {
    this.#client = createClient({ url, token })
    this.#device = device
    this.#trouble = trouble
  }

  async open(onOffer: (message: unknown) => void): Promise<void> {
    this.#polling = this.#poll(onOffer)
  }

  async #poll(onOffer: (message: unknown) => void): Promise<void> {
    const { signal } = this.#stop
    const params = { id: deviceText(this.#device) }
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
        this.#trouble(reasonOf(error))
        await rest(restMs, signal)
        restMs = Math.min(2 * restMs, REST_MS_MAX)
      }
    }
  }

  async say(saying: DeviceStatement): Promise<HomeAnswer> {
    try {
      await this.#post(saying)
      return { ok: true }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const { status, code, detail } = error.problem
      if (code === 'receipt.duplicate') return { ok: true }
      if (status >= 500 || status === 429) throw error
      return { ok: false, code, message: detail }
    }
  }

  async #post({ command_id: id, status, lease, receipt }: DeviceStatement): Promise<unknown> {
    if (status === 'REPORTED')
      return this.#client.submitReceipt({ body: { receipt: { ...receipt } } })
    const request = { params: { id }, body: { lease } }
    return status === 'ACKED' ? this.#client.claimTask(request) : this.#client.startTask(request)
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
