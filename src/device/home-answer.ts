/**
 * What the home answers to a device, over HTTP and over MQTT. A device believes only what a key of its home
 * signed, so a program in the place of the service or the broker makes nothing begin.
 */
import { type FaultError, faultError } from '../base/index.ts'
import { type DeviceName, field } from '../contracts/index.ts'
import {
  type AnswerTerms,
  answerText,
  deviceText,
  isSignedBy,
  receiptDigest,
} from '../ledger/index.ts'
import type { DeviceStatement, HomeAnswer } from './device-link.ts'

interface Believer {
  readonly device: DeviceName
  /** The keys of the home, base64 of 32 bytes each. */
  readonly homeKeys: readonly string[]
}

interface SignedAnswer {
  readonly terms: AnswerTerms
  readonly answer: HomeAnswer
}

/** Reads an answer; null unless a key of the home signed it for this device. */
export function readAnswer(message: unknown, { device, homeKeys }: Believer): SignedAnswer | null {
  const own = field(message, 'writ')
  const text = (from: unknown, name: string): string => {
    const found = field(from, name)
    return typeof found === 'string' ? found : ''
  }
  const terms = {
    command_id: text(message, 'command_id'),
    device: deviceText(device),
    nonce: text(own, 'nonce'),
    answers: text(own, 'answers'),
    code: text(own, 'code'),
    about: text(own, 'about'),
    lease_until: text(own, 'lease_until'),
  }
  const [signed, sig] = [answerText(terms), text(own, 'sig')]
  if (!homeKeys.some((key) => isSignedBy(key, signed, sig))) return null
  const { code } = terms
  const answer =
    code === ''
      ? { ok: true as const }
      : { ok: false as const, code, message: text(own, 'message') }
  return { terms, answer }
}

type AnsweredWords = Pick<AnswerTerms, 'command_id' | 'answers' | 'nonce' | 'about'>

/** An answer counts for the very words that it answers: an old one, sent again, is for no one. */
export function placeOf({ command_id, answers, nonce, about }: AnsweredWords): string {
  return [command_id, answers, nonce, about].join(' ')
}

/** The place of the answer to a statement. */
export function awaitedPlace(saying: DeviceStatement): string {
  const { command_id, nonce, status: answers } = saying
  return placeOf({ command_id, nonce, answers, about: aboutOf(saying) })
}

export function aboutOf({ receipt, lease }: DeviceStatement): string {
  return receipt === null ? lease : receiptDigest(receipt)
}

export function noAnswer(commandId: string): FaultError {
  return faultError('device.host', commandId, 'the home has not answered yet')
}

export const UNSIGNED = 'an answer is not signed by the home'
