/**
 * The ways by which offers reach devices. A device that no way of the settings names asks over HTTP, and
 * nothing is sent to it.
 */
import { DEFAULT_PREFIX } from '../broker/index.ts'
import type { DeviceName, DispatchWay } from '../contracts/index.ts'
import { postWebhook, type SecretOf } from '../notifications/index.ts'
import { MqttWay } from './mqtt-way.ts'
import type { WayNews } from './news.ts'
import type { HomeSigner, OfferMessage } from './offer.ts'
import type { Uplink } from './uplink.ts'

export const HTTP_WAY = 'http'

/** One way, open. */
export interface OpenWay {
  readonly name: string
  /** Whether something can be sent now. */
  readonly isReady: () => boolean
  /** Sends an offer; returns null when it arrived at the next station, else the reason. */
  send(offer: OfferMessage, device: DeviceName, nowMs: number): Promise<string | null>
  /** Tells the device that its offer is withdrawn, where the way can. */
  withdraw(device: DeviceName, commandId: string, nonce: string): Promise<void>
  close(): Promise<void>
}

/** Returns the name of the way to a device: the first of the settings that names it. */
export function wayTo(ways: readonly DispatchWay[], { id, namespace }: DeviceName): string {
  const fits = (pattern: string): boolean => {
    const [wantedId, wantedPlace] = pattern.split('@')
    return (
      (wantedId === '*' || wantedId === id) && (wantedPlace === '*' || wantedPlace === namespace)
    )
  }
  return ways.find(({ devices }) => devices.some(fits))?.name ?? HTTP_WAY
}

interface WaysHost {
  readonly uplink: Uplink
  readonly signer: HomeSigner
  readonly secretOf: SecretOf
  /** Tells one dispatcher from another at the broker. */
  readonly clientId: string
  readonly tell: (news: WayNews) => void
}

async function openWay(host: WaysHost, way: DispatchWay): Promise<OpenWay> {
  const { name, kind, url } = way
  const secret = host.secretOf(way.secret ?? '') ?? ''
  if (kind === 'webhook') return webhookWay(name, url, secret)
  return MqttWay.open(
    { name, prefix: way.prefix ?? DEFAULT_PREFIX, ...host },
    { url, user: way.user ?? '', password: secret, ca: way.ca ?? null },
  )
}

/** The ways of the settings, open as long as the settings name them in these words. */
export class WaySet {
  readonly #host: WaysHost
  readonly #open = new Map<string, OpenWay>()

  constructor(host: WaysHost) {
    this.#host = host
  }

  async follow(ways: readonly DispatchWay[]): Promise<readonly OpenWay[]> {
    const wanted = new Map(ways.map((way) => [this.#words(way), way]))
    for (const [words, way] of this.#open) {
      if (wanted.has(words)) continue
      this.#open.delete(words)
      await way.close()
    }
    for (const [words, way] of wanted) {
      if (!this.#open.has(words)) this.#open.set(words, await openWay(this.#host, way))
    }
    return [...this.#open.values()]
  }

  /** With the secret: another password is another connection. */
  #words(way: DispatchWay): string {
    return JSON.stringify([way, this.#host.secretOf(way.secret ?? '')])
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((way) => way.close()))
    this.#open.clear()
  }
}

/** The device answers over HTTP with its own token; the receiver only hears of the offer. */
function webhookWay(name: string, url: string, secret: string): OpenWay {
  return {
    name,
    isReady: () => true,
    send: (offer) => {
      const { command_id: id } = offer
      return postWebhook(url, secret, { id, type: 'task.offered', data: offer })
    },
    withdraw: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
