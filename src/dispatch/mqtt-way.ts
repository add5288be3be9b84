/**
 * Offers over MQTT, and what devices say from their topics. Every message that a device signed is
 * answered with the home's signature; the device repeats it until the answer comes, so nothing is lost
 * by a broker that forgets.
 *
 * INVARIANT (in order): messages about one task are taken one after another.
 * INVARIANT (bounded): what a device says beyond a bound is dropped, and comes again. One that says too
 *   much takes nothing from the others.
 */

import { FaultError, showName } from '../base/index.ts'
import {
  allReceipts,
  BrokerLink,
  type BrokerPlace,
  deviceOfTopic,
  downlinkTopic,
} from '../broker/index.ts'
import type { DeviceName } from '../contracts/index.ts'
import { deviceText, parseDevice } from '../ledger/index.ts'
import type { WayNews } from './news.ts'
import { answerMessage, type HomeSigner, type OfferMessage } from './offer.ts'
import { takeMessage, type Uplink } from './uplink.ts'

interface MqttTerms {
  readonly name: string
  readonly prefix: string
  readonly signer: HomeSigner
  readonly uplink: Uplink
  readonly clientId: string
  readonly tell: (news: WayNews) => void
}

/** For each device. */
const WAITING_MAX = 32
const AT_ONCE = 64
/** An answer is worth little after this: the device has asked again. */
const ANSWER_SECONDS = 60

export class MqttWay {
  readonly name: string
  readonly #terms: MqttTerms
  /** What each device said; the first one is being taken, or is the next. */
  readonly #waiting = new Map<string, string[]>()
  /** Devices whose first message is not being taken. */
  readonly #turns: DeviceName[] = []
  #busy = 0
  #link: BrokerLink | null = null

  private constructor(terms: MqttTerms) {
    this.#terms = terms
    this.name = terms.name
  }

  static async open(terms: MqttTerms, place: BrokerPlace): Promise<MqttWay> {
    const way = new MqttWay(terms)
    const { name, prefix, clientId, tell } = terms
    way.#link = await BrokerLink.open({
      ...place,
      clientId,
      topics: [allReceipts(prefix)],
      onMessage: (topic, text) => way.#take(topic, text),
      onReady: () => tell({ event: 'ready', way: name }),
      onTrouble: (message) => tell({ event: 'trouble', way: name, message }),
    })
    return way
  }

  isReady = (): boolean => this.#link?.isReady === true

  async send(offer: OfferMessage, device: DeviceName, nowMs: number): Promise<string | null> {
    const seconds = (offer.writ.not_after - nowMs) / 1_000
    try {
      await this.#publish(device, offer, seconds)
      return null
    } catch (error) {
      if (error instanceof FaultError) return error.fault.message
      throw error
    }
  }

  /** Tells a device that the offer is over. A message that is lost changes nothing: the claim is refused. */
  async withdraw(device: DeviceName, command_id: string, nonce: string): Promise<void> {
    const about = { command_id, device: deviceText(device), nonce, about: '', lease_until: '' }
    const terms = { ...about, answers: 'OFFERED', code: 'dispatch.ended' }
    const message = await answerMessage(this.#terms.signer, terms, 'a human withdrew the task')
    await this.#publish(device, message, ANSWER_SECONDS)
  }

  async #publish(device: DeviceName, message: unknown, seconds: number): Promise<void> {
    const topic = downlinkTopic(this.#terms.prefix, device)
    await this.#link?.publish(topic, JSON.stringify(message), seconds)
  }

  #take(topic: string, text: string): void {
    const { prefix, tell, name: way } = this.#terms
    const named = deviceOfTopic(prefix, topic)
    const device = named === null ? null : parseDevice(named.id, named.namespace)
    if (device === null) {
      const message = `${showName(topic)} is not the topic of a device`
      return tell({ event: 'refused', way, code: 'dispatch.message', message })
    }
    const name = deviceText(device)
    const waiting = this.#waiting.get(name) ?? []
    if (waiting.length >= WAITING_MAX) return
    this.#waiting.set(name, waiting)
    waiting.push(text)
    if (waiting.length === 1) this.#turns.push(device)
    this.#next()
  }

  /** One message of a device at a time, of several devices at once; devices take turns. */
  #next(): void {
    while (this.#busy < AT_ONCE) {
      const device = this.#turns.shift()
      if (device === undefined) return
      const name = deviceText(device)
      const waiting = this.#waiting.get(name) ?? []
      this.#busy++
      this.#answer(device, waiting[0] ?? '').finally(() => {
        this.#busy--
        waiting.shift()
        if (waiting.length > 0) this.#turns.push(device)
        else this.#waiting.delete(name)
        this.#next()
      })
    }
  }

  async #answer(device: DeviceName, text: string): Promise<void> {
    const { uplink, signer, tell, name: way } = this.#terms
    const of = { way, device: deviceText(device) }
    try {
      const { terms, message } = await takeMessage(uplink, device, text)
      const { command_id, answers, code } = terms
      if (code === '') tell({ ...of, event: 'recorded', command_id, message: answers })
      else tell({ ...of, event: 'refused', command_id, code, message })
      await this.#publish(device, await answerMessage(signer, terms, message), ANSWER_SECONDS)
    } catch (error) {
      // Not the device's own message, or no answer could be sent: the device asks again.
      const found = error instanceof FaultError ? error.fault : null
      const message = found?.message ?? String(error)
      tell({ ...of, event: 'refused', code: found?.code ?? 'cli.bug', message })
    }
  }

  async close(): Promise<void> {
    await this.#link?.close()
  }
}
