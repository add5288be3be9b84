/**
 * Answers devices over HTTP (D-2): the offers that are open for one device, at once or as soon as there is
 * one, and what it says of them. The dispatcher makes the offers.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceName } from '../contracts/index.ts'
import { type Caller, phaseAt } from '../ledger/index.ts'
import { DispatchBoards, type OpenTask } from './board.ts'
import {
  type AnswerMessage,
  answerMessage,
  HomeSigner,
  type OfferMessage,
  offerMessage,
} from './offer.ts'
import { type DispatchHost, isHaltedNow, type TaskPlace } from './steps.ts'
import { type DeviceWords, takeStatement } from './uplink.ts'

const LOOK_MS = 250

export class DeviceDesk {
  readonly #host: DispatchHost
  readonly #signer: HomeSigner
  readonly #boards: DispatchBoards
  /** The last look at the facts, which everyone who waits shares. */
  #look: { readonly done: Promise<void>; readonly untilMs: number } | null = null

  constructor(host: DispatchHost) {
    this.#host = host
    this.#signer = new HomeSigner(host)
    this.#boards = new DispatchBoards(host.ledger)
  }

  /** `streams`: those that the caller may know of; null for every one. */
  async offers(
    device: DeviceName,
    streams: readonly string[] | null,
    { waitMs, gone }: { readonly waitMs: number; readonly gone: AbortSignal },
  ): Promise<readonly OfferMessage[]> {
    const untilMs = Date.now() + waitMs
    // A device that has just claimed a task does not find it on offer.
    await this.#boards.catchUp()
    for (;;) {
      const found = (await isHaltedNow(this.#host)) ? [] : this.#offered(device, streams)
      const left = untilMs - Date.now()
      if (found.length > 0 || left <= 0 || gone.aborted) return this.#messages(found)
      await pause(Math.min(LOOK_MS, left), null, { signal: gone }).catch(() => null)
      await this.#catchUp()
    }
  }

  /** Records what a device says under its token. The answer is signed, a refusal too. */
  async answer(place: TaskPlace, caller: Caller, said: DeviceWords): Promise<AnswerMessage> {
    const { terms, message } = await takeStatement(this.#host, place, caller, said)
    return answerMessage(this.#signer, terms, message)
  }

  #offered(device: DeviceName, streams: readonly string[] | null): readonly OpenTask[] {
    const nowMs = this.#host.nowMs()
    return [...this.#boards.all()]
      .filter(({ stream }) => streams === null || streams.includes(stream))
      .flatMap((board) => board.of(device))
      .filter(({ task, state }) => phaseAt(state, task, nowMs) === 'offered')
  }

  async #messages(found: readonly OpenTask[]): Promise<readonly OfferMessage[]> {
    const messages: OfferMessage[] = []
    for (const { task, state, stream } of found) {
      if (state.offer !== null)
        messages.push(await offerMessage(this.#signer, task, state.offer, stream))
    }
    return messages
  }

  #catchUp(): Promise<void> {
    const nowMs = Date.now()
    if (this.#look === null || nowMs >= this.#look.untilMs) {
      this.#look = { done: this.#boards.catchUp(), untilMs: nowMs + LOOK_MS / 2 }
    }
    return this.#look.done
  }
}
