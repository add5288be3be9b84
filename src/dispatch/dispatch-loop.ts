/**
 * Dispatches the tasks of a home (D-1). `look` is one look at the open tasks: offers what is due, sends
 * what no device has claimed, and records what came to its end without a receipt. The command line
 * repeats it, also as a process of the service.
 *
 * INVARIANT (recorded before it leaves): an offer is a fact before its first message; every further
 *   message of it has the same bytes but for the times of the transport.
 * INVARIANT (offered once): the offer of a task is one step, which two loops cannot both take.
 * INVARIANT (halt): nothing is offered and nothing is sent while a human has halted everything. What
 *   came to its end is recorded all the same.
 */
import { randomBytes } from 'node:crypto'
import { digestDocument, faultCode, invariant } from '../base/index.ts'
import type { DispatchFact, DispatchWay } from '../contracts/index.ts'
import { type Principal, phaseAt } from '../ledger/index.ts'
import { DispatchBoards, type OpenTask } from './board.ts'
import type { LoopNews } from './news.ts'
import { type HomeSigner, offerMessage } from './offer.ts'
import { type DispatchHost, entryOf, isHaltedNow, type StepWords, stepOf } from './steps.ts'
import { HTTP_WAY, type OpenWay, wayTo } from './ways.ts'

interface LoopTerms {
  readonly host: DispatchHost
  /** In whose name the host records its own steps: the human of the home. */
  readonly principal: Principal
  readonly signer: HomeSigner
  readonly tell: (news: LoopNews) => void
  /** The first rest before an unclaimed offer is sent again. */
  readonly resendMs?: number
}

interface SentOffer {
  readonly tries: number
  readonly dueMs: number
}

const RESEND_MS = 10_000
const RESEND_MS_MAX = 5 * 60_000
const LOOK_MS = 1_000
/** Facts that share a commit, and messages under way. */
const BATCH = 200
const AT_ONCE = 100

export class DispatchLoop {
  readonly #terms: LoopTerms
  readonly #boards: DispatchBoards
  readonly #sendings = new Map<string, SentOffer>()

  constructor(terms: LoopTerms) {
    this.#terms = terms
    this.#boards = new DispatchBoards(terms.host.ledger)
  }

  streamOf = (taskId: string): string | null => this.#boards.streamOf(taskId)

  /** Looks once; returns after how many milliseconds to look again. */
  async look(ways: readonly DispatchWay[], open: readonly OpenWay[]): Promise<number> {
    await this.#boards.catchUp()
    const isHalted = await isHaltedNow(this.#terms.host)
    if (isHalted) this.#terms.tell({ event: 'halted' })
    await this.#record(ways, isHalted)
    await this.#boards.catchUp()
    await this.#tellWithdrawn(open)
    if (!isHalted) await this.#send(open)
    return LOOK_MS
  }

  /** Records what follows by itself: offers that are due, and ends that were waited for. */
  async #record(ways: readonly DispatchWay[], isHalted: boolean): Promise<void> {
    for (const board of this.#boards.all()) {
      let batch: { readonly known: OpenTask; readonly step: DispatchFact }[] = []
      for (const known of board.all()) {
        const words = this.#next(known, ways, isHalted)
        if (words === null) continue
        const facts = { ...known, facts: [] }
        batch.push({ known, step: stepOf(facts, words, this.#terms.host.nowMs()) })
        if (batch.length < BATCH) continue
        await this.#append(batch)
        batch = []
      }
      await this.#append(batch)
    }
  }

  #next(known: OpenTask, ways: readonly DispatchWay[], isHalted: boolean): StepWords | null {
    const { task, state, device } = known
    const phase = phaseAt(state, task, this.#terms.host.nowMs())
    if (phase === 'overdue') return { event: state.started === null ? 'silent' : 'unknown' }
    if (phase !== 'due' || isHalted) return null
    return {
      event: 'offered',
      device,
      way: wayTo(ways, device),
      nonce: randomBytes(16).toString('hex'),
      digest: digestDocument(task),
    }
  }

  /** A step that another process took meanwhile is left to it: the next reading tells. */
  async #append(
    batch: readonly { readonly known: OpenTask; readonly step: DispatchFact }[],
  ): Promise<void> {
    if (batch.length === 0) return
    const { host, principal, tell } = this.#terms
    const entries = batch.map(({ known, step }) => ({
      stream: known.stream,
      source: 'dispatch',
      principal,
      ...entryOf(step),
    }))
    const recorded = await host.ledger.recordAll(entries)
    invariant(recorded.ok, 'a step that writ made follows its contract')
    for (const [at, { known, step }] of batch.entries()) {
      if (recorded.appended[at]?.repeated === true) continue
      const { event, act_task_id, way } = step
      tell({ event, stream: known.stream, act_task_id, ...(way === undefined ? {} : { way }) })
    }
  }

  /** Once, and only as a help: a device that does not hear of it is refused when it claims. */
  async #tellWithdrawn(open: readonly OpenWay[]): Promise<void> {
    for (const board of this.#boards.all()) {
      for (const { task, state, device } of board.withdrawn()) {
        const way = open.find(({ name }) => name === state.offer?.way)
        if (state.offer === null || way?.isReady() !== true) continue
        await way.withdraw(device, task.act_task_id, state.offer.nonce).catch((error) => {
          if (faultCode(error) === null) throw error
        })
      }
    }
  }

  async #send(open: readonly OpenWay[]): Promise<void> {
    const due: OpenTask[] = []
    const nowMs = this.#terms.host.nowMs()
    const alive = new Set<string>()
    for (const board of this.#boards.all()) {
      for (const known of board.all()) {
        const { task, state } = known
        if (phaseAt(state, task, nowMs) !== 'offered' || state.offer?.way === HTTP_WAY) continue
        alive.add(task.act_task_id)
        const sending = this.#sendings.get(task.act_task_id)
        if (sending === undefined || sending.dueMs <= nowMs) due.push(known)
      }
    }
    for (const id of this.#sendings.keys()) if (!alive.has(id)) this.#sendings.delete(id)
    const rest = due.values()
    const worker = async (): Promise<void> => {
      for (const known of rest) await this.#sendOne(known, open)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  async #sendOne(known: OpenTask, open: readonly OpenWay[]): Promise<void> {
    const { task, state, stream } = known
    const way = open.find(({ name }) => name === state.offer?.way)
    // A way that the settings no longer name sends nothing; the task ends as silent.
    if (state.offer === null || way === undefined || !way.isReady()) return
    const { host, signer, tell, resendMs = RESEND_MS } = this.#terms
    const message = await offerMessage(signer, task, state.offer, stream)
    const reason = await way.send(message, known.device, host.nowMs()).catch((error) => {
      if (faultCode(error) === null) throw error
      return String(error)
    })
    const { act_task_id } = task
    const tries = (this.#sendings.get(act_task_id)?.tries ?? 0) + 1
    const restMs = Math.min(resendMs * 2 ** Math.min(tries - 1, 20), RESEND_MS_MAX)
    this.#sendings.set(act_task_id, { tries, dueMs: host.nowMs() + restMs })
    const of = { stream, act_task_id, way: way.name }
    tell(reason === null ? { ...of, event: 'sent' } : { ...of, event: 'failed', reason })
  }
}
