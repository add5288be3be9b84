/**
 * Judges an offer before a device believes it (D-2): form, signature, device, time. Only `writ` counts;
 * the keys around it are for other readers.
 */
import { type Code, digestDocument, type FaultError, faultError } from '../base/index.ts'
import {
  type ActTask,
  actTask,
  type DeviceName,
  field,
  isObject,
  validate,
} from '../contracts/index.ts'
import { deviceOfTask, deviceText, isSignedBy, offerText } from '../ledger/index.ts'

/** An offer that the device may take. */
export interface Offer {
  readonly task: ActTask
  readonly nonce: string
}

interface OfferTrust {
  readonly device: DeviceName
  /** The keys of the home, base64 of 32 bytes each. */
  readonly keys: readonly string[]
  readonly nowMs: number
}

/** Returns the offer. Fails if it is malformed, of another home, for another device, or out of time. */
export function checkOffer(message: unknown, { device, keys, nowMs }: OfferTrust): Offer {
  const own = field(message, 'writ')
  const document = field(own, 'task')
  const [nonce, sig, digest] = ['nonce', 'sig', 'digest'].map((name) => field(own, name))
  if (!isObject(document) || !validate(actTask, document).valid || typeof nonce !== 'string')
    throw refused('device.offer', 'the message holds no task of writ')
  // The contract found no violation.
  const task = document as ActTask
  const { act_task_id: command_id, time_window } = task
  const { start_ts: not_before, end_ts: not_after } = time_window
  if (
    typeof digest !== 'string' ||
    digest !== digestDocument(task) ||
    field(message, 'command_id') !== command_id
  )
    throw refused('device.offer', 'digest or command id are not those of the task')
  const text = offerText({
    command_id,
    device: deviceText(device),
    digest,
    nonce,
    not_before,
    not_after,
  })
  const named = deviceOfTask(task)
  if (named === null || deviceText(named) !== deviceText(device))
    throw refused('device.offer_foreign', `the task is not for ${deviceText(device)}`, command_id)
  if (typeof sig !== 'string' || !keys.some((key) => isSignedBy(key, text, sig)))
    throw refused('device.offer_signature', 'no key of the home signed this offer', command_id)
  if (nowMs < not_before || nowMs >= not_after) {
    const when = nowMs < not_before ? 'has not come' : 'is over'
    throw refused('device.offer_window', `the time of the task ${when}`, command_id)
  }
  return { task, nonce }
}

function refused(
  code: Extract<Code, `device.offer${string}`>,
  message: string,
  at = '',
): FaultError {
  return faultError(code, at, message)
}
