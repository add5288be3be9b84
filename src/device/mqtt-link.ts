/**
 * A device that hears of its tasks over MQTT. It signs what it says, and believes only answers that the
 * home signed: an acknowledgement of the broker says nothing about the home.
 */

import { DOCUMENT_LIMITS, readJson } from '../base/index.ts'
import { BrokerLink, type BrokerPlace, downlinkTopic, receiptTopic } from '../broker/index.ts'
import { type DeviceName, field } from '../contracts/index.ts'
import { deviceText, saidText } from '../ledger/index.ts'
import type { DeviceKey } from './device-key.ts'
import type { DeviceLink, DeviceStatement, HomeAnswer, LinkTrouble } from './device-link.ts'
import { aboutOf, awaitedPlace, noAnswer, placeOf, readAnswer, UNSIGNED } from './home-answer.ts'

interface MqttTerms extends BrokerPlace {
  readonly device: DeviceName
  readonly prefix: string
  readonly key: DeviceKey
  /** The keys of the home, base64 of 32 bytes each. */
  readonly homeKeys: readonly string[]
  readonly trouble: LinkTrouble
}

const ANSWER_MS = 5_000
const MESSAGE_SECONDS = 60
/** A device that is away for a while hears what was offered meanwhile. */
const SESSION_SECONDS = 24 * 60 * 60

export class MqttLink implements DeviceLink {
  readonly #terms: MqttTerms
  readonly #waiting = new Map<string, (answer: HomeAnswer) => void>()
  #link: BrokerLink | null = null

  constructor(terms: MqttTerms) {
    this.#terms = terms
  }

  async open(
    onOffer: (message: unknown) => void,
    onWithdrawn: (commandId: string) => void = () => undefined,
  ): Promise<void> {
    const { device, prefix, trouble } = this.#terms
    this.#link = await BrokerLink.open({
      ...this.#terms,
      clientId: `writ-${device.namespace}-${device.id}`,
      topics: [downlinkTopic(prefix, device)],
      sessionSeconds: SESSION_SECONDS,
      onTrouble: trouble,
      onMessage: (_topic, text) => {
        const read = readJson(text, DOCUMENT_LIMITS)
        if (!read.ok) return trouble('a message is not JSON')
        if (typeof field(field(read.value, 'writ'), 'answers') === 'string')
          this.#hear(read.value, onWithdrawn)
        else onOffer(read.value)
      },
    })
  }

  /** An answer that is not signed by the home is as good as none. */
  #hear(message: unknown, onWithdrawn: (commandId: string) => void): void {
    const heard = readAnswer(message, this.#terms)
    if (heard === null) return this.#terms.trouble(UNSIGNED)
    const { terms, answer } = heard
    if (terms.answers === 'OFFERED') return onWithdrawn(terms.command_id)
    this.#waiting.get(placeOf(terms))?.(answer)
  }

  async say(saying: DeviceStatement): Promise<HomeAnswer> {
    const place = awaitedPlace(saying)
    const { device, prefix } = this.#terms
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<HomeAnswer>((resolve, reject) => {
      this.#waiting.set(place, resolve)
      timer = setTimeout(() => reject(noAnswer(saying.command_id)), ANSWER_MS)
    })
    answer.catch(() => undefined)
    try {
      const text = JSON.stringify(this.#message(saying))
      await this.#link?.publish(receiptTopic(prefix, device), text, MESSAGE_SECONDS)
      return await answer
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(place)
    }
  }

  /** The keys that users of the original system know, and `writ`, which is signed. */
  #message(saying: DeviceStatement) {
    const { command_id, nonce, status, lease, receipt } = saying
    const { device, key } = this.#terms
    const about = aboutOf(saying)
    const sig = key.sign(saidText({ command_id, device: deviceText(device), nonce, status, about }))
    const time = field(receipt, 'execution_time')
    return {
      tenant_id: device.namespace,
      device_id: device.id,
      task_id: command_id,
      act_task_id: command_id,
      command_id,
      receipt_message_id: `rcpt_${command_id}_${status.toLowerCase()}`,
      status: field(receipt, 'status') ?? status,
      ...(receipt === null
        ? {}
        : {
            start_ts: field(time, 'start_ts'),
            end_ts: field(time, 'end_ts'),
            observed_parameters: field(receipt, 'observed_parameters'),
          }),
      writ: {
        status,
        nonce,
        lease,
        key: key.publicKey,
        sig,
        ...(receipt === null ? {} : { receipt }),
      },
    }
  }

  async close(): Promise<void> {
    await this.#link?.close()
  }
}
