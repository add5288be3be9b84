/**
 * A device that hears of its tasks over MQTT. It signs what it says, and believes only answers that the
 * home signed: an acknowledgement of the broker says nothing about the home.
 */

import { DOCUMENT_LIMITS, faultError, readJson } from '../base/index.ts'
import { BrokerLink, type BrokerPlace, downlinkTopic, receiptTopic } from '../broker/index.ts'
import { type DeviceName, field } from '../contracts/index.ts'
import {
  type AnswerTerms,
  answerText,
  deviceText,
  isSignedBy,
  receiptDigest,
  saidText,
} from '../ledger/index.ts'
import type { DeviceKey } from './device-key.ts'
import type { DeviceLink, DeviceStatement, HomeAnswer, LinkTrouble } from './device-link.ts'

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
    const own = field(message, 'writ')
    const text = (from: unknown, name: string): string => {
      const found = field(from, name)
      return typeof found === 'string' ? found : ''
    }
    const terms = {
      command_id: text(message, 'command_id'),
      device: deviceText(this.#terms.device),
      nonce: text(own, 'nonce'),
      answers: text(own, 'answers'),
      code: text(own, 'code'),
      about: text(own, 'about'),
      lease_until: text(own, 'lease_until'),
    }
    const signed = answerText(terms)
    const sig = text(own, 'sig')
    if (!this.#terms.homeKeys.some((key) => isSignedBy(key, signed, sig))) {
      return this.#terms.trouble('an answer is not signed by the home')
    }
    const { code, command_id, answers } = terms
    if (answers === 'OFFERED') return onWithdrawn(command_id)
    const answer =
      code === ''
        ? ({ ok: true } as const)
        : { ok: false as const, code, message: text(own, 'message') }
    this.#waiting.get(placeOf(terms))?.(answer)
  }

  async say(saying: DeviceStatement): Promise<HomeAnswer> {
    const { command_id, nonce, status: answers } = saying
    const place = placeOf({ command_id, nonce, answers, about: aboutOf(saying) })
    const { device, prefix } = this.#terms
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<HomeAnswer>((resolve, reject) => {
      this.#waiting.set(place, resolve)
      timer = setTimeout(() => reject(noAnswer(command_id)), ANSWER_MS)
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

/** An answer counts for the very words that it answers: an old one, sent again, is for no one. */
function placeOf(terms: Pick<AnswerTerms, 'command_id' | 'answers' | 'nonce' | 'about'>): string {
  const { command_id, answers, nonce, about } = terms
  return [command_id, answers, nonce, about].join(' ')
}

function aboutOf({ receipt, lease }: DeviceStatement): string {
  return receipt === null ? lease : receiptDigest(receipt)
}

function noAnswer(commandId: string) {
  return faultError('device.host', commandId, 'the home has not answered yet')
}
