/**
 * The message that offers a task to its device: the keys that users of the original system know, and
 * `writ`, which alone counts for an executor of writ. The home signs what `writ` says; times are
 * milliseconds, as in the task.
 */
import { join } from 'node:path'
import { faultError } from '../base/index.ts'
import type { ActTask } from '../contracts/index.ts'
import { field } from '../contracts/index.ts'
import {
  type AnswerTerms,
  answerText,
  type DispatchState,
  deviceText,
  encodeBase64,
  type OfferTerms,
  offerText,
} from '../ledger/index.ts'
import { type Ledger, openKeys, recordedKeys } from '../store/index.ts'

export interface OfferMessage {
  readonly command_id: string
  readonly task_id: string
  readonly tenant_id: string
  readonly project_id: string
  readonly group_id: string
  readonly device_id: string
  readonly action_type: string
  readonly params: unknown
  readonly constraints: unknown
  readonly issued_at_ts: number
  readonly writ: {
    readonly task: ActTask
    readonly digest: string
    readonly sig: string
    readonly not_before: number
    readonly not_after: number
    readonly nonce: string
  }
}

/** Signs with the key that signs the checkpoints of the home. */
export class HomeSigner {
  readonly #place: { readonly ledger: Pick<Ledger, 'store'>; readonly state: string }
  #sign: { readonly sign: (text: string) => Uint8Array; readonly untilMs: number } | null = null

  constructor(place: { readonly ledger: Pick<Ledger, 'store'>; readonly state: string }) {
    this.#place = place
  }

  /** Another key may sign meanwhile, so the facts are asked again after a while. */
  async sign(text: string): Promise<string> {
    if (this.#sign === null || Date.now() >= this.#sign.untilMs) {
      this.#sign = { sign: await this.#current(), untilMs: Date.now() + KEY_MS }
    }
    return encodeBase64(this.#sign.sign(text))
  }

  async #current(): Promise<(text: string) => Uint8Array> {
    const { ledger, state } = this.#place
    const { inForce } = await recordedKeys(ledger.store)
    const kept = openKeys(join(state, 'keys'))
    for (const { name, keyId } of inForce) {
      const key = kept.find(name, keyId)
      if (key !== null) return (text) => key.sign(text)
    }
    const message = 'the key of this home is not here, so no offer can be signed'
    throw faultError('ledger.key_malformed', '', message, 'dispatch where the home is')
  }
}

const KEY_MS = 30_000

export async function offerMessage(
  signer: HomeSigner,
  task: ActTask,
  offer: NonNullable<DispatchState['offer']>,
  stream: string,
): Promise<OfferMessage> {
  const { act_task_id, time_window, action_type, parameters, constraints, meta } = task
  const { digest, nonce, device, at } = offer
  const { start_ts: not_before, end_ts: not_after } = time_window
  const terms: OfferTerms = {
    command_id: act_task_id,
    device: deviceText(device),
    digest,
    nonce,
    not_before,
    not_after,
  }
  return {
    command_id: act_task_id,
    task_id: act_task_id,
    tenant_id: device.namespace,
    project_id: textOf(field(meta, 'project_id')) ?? stream,
    group_id: textOf(field(meta, 'group_id')) ?? 'default',
    device_id: device.id,
    action_type,
    params: parameters,
    constraints,
    issued_at_ts: Date.parse(at),
    writ: { task, digest, sig: await signer.sign(offerText(terms)), not_before, not_after, nonce },
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export interface AnswerMessage {
  readonly command_id: string
  readonly tenant_id: string
  readonly device_id: string
  readonly status: 'RECORDED' | 'REFUSED'
  readonly writ: {
    readonly answers: string
    readonly nonce: string
    readonly about: string
    readonly lease_until: string
    /** Of a refusal. */
    readonly code?: string
    readonly message?: string
    readonly sig: string
  }
}

/** The answer of the home to a message of a device. */
export async function answerMessage(
  signer: HomeSigner,
  terms: AnswerTerms,
  message: string,
): Promise<AnswerMessage> {
  const { command_id, device, nonce, answers, code, about, lease_until } = terms
  const sig = await signer.sign(answerText(terms))
  const [device_id = '', tenant_id = ''] = device.split('@')
  const said = code === '' ? {} : { code, message }
  return {
    command_id,
    tenant_id,
    device_id,
    status: code === '' ? 'RECORDED' : 'REFUSED',
    writ: { answers, nonce, about, lease_until, ...said, sig },
  }
}
