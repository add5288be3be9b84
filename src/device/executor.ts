/**
 * The reference executor of a device (D-2): takes offers, one after another, and carries each out at most
 * once. It claims a task, says that it starts, waits until the home has that on the record, writes the
 * command into its journal, acts, and reports until the home has the receipt.
 *
 * INVARIANT (at most once): nothing is done before the home recorded the start and the journal has the
 *   command. A command that the journal has is never begun again.
 * INVARIANT (honest): a command that was cut short has no receipt. The home calls it unknown, and a
 *   human decides.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { FaultError, faultCode } from '../base/index.ts'
import type { ActReceipt, DeviceName } from '../contracts/index.ts'
import type { CarryOut, ExecutionOutcome } from './carry-out.ts'
import { checkOffer, type Offer } from './check-offer.ts'
import type { DeviceLink, DeviceStatement } from './device-link.ts'
import type { DeviceJournal, DeviceJournalEntry } from './journal.ts'

interface ExecutorTerms {
  readonly device: DeviceName
  readonly link: DeviceLink
  readonly journal: DeviceJournal
  readonly carryOut: CarryOut
  /** The keys of the home, base64 of 32 bytes each. */
  readonly homeKeys: readonly string[]
  readonly tell: (news: DeviceNews) => void
  readonly nowMs: () => number
}

/** What the device did, for its log. */
export interface DeviceNews {
  readonly event:
    | 'refused'
    | 'claimed'
    | 'acting'
    | 'executed'
    | 'not_executed'
    | 'unknown'
    | 'reported'
    | 'trouble'
  readonly command_id?: string
  readonly code?: string
  readonly message?: string
}

const REST_MS = 500
const REST_MS_MAX = 30_000

export class Executor {
  readonly #terms: ExecutorTerms
  readonly #stop = new AbortController()
  /** Offers that wait for their turn, by command. */
  readonly #line = new Map<string, Offer>()
  #working: Promise<void> = Promise.resolve()
  #isWorking = false
  /** The command whose turn it is. */
  #current = ''
  readonly #reports = new Set<Promise<void>>()

  constructor(terms: ExecutorTerms) {
    this.#terms = terms
  }

  /** Reports what an earlier process left, then takes offers. */
  async start(): Promise<void> {
    const { journal, link, tell } = this.#terms
    await link.open(
      (message) => this.#offered(message),
      (id) => this.#withdrawn(id),
    )
    for (const entry of journal.unsettled()) {
      const { command_id } = entry
      if (entry.receipt !== null) this.#report(entry)
      else {
        const message =
          'it was begun and cut short, so it is not known what was done; look at the machine'
        tell({ event: 'unknown', command_id, message })
      }
    }
  }

  /** Ends after the command under way, if there is one. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#working
    await Promise.all(this.#reports)
    await this.#terms.link.close()
    this.#terms.journal.close()
  }

  #offered(message: unknown): void {
    const { device, homeKeys: keys, nowMs, journal, tell } = this.#terms
    try {
      const offer = checkOffer(message, { device, keys, nowMs: nowMs() })
      const { act_task_id: id } = offer.task
      const known = journal.find(id)
      if (known !== null) {
        const words = 'the command was begun here before, and is not begun again'
        return tell({
          event: 'refused',
          command_id: id,
          code: 'device.offer_known',
          message: words,
        })
      }
      if (this.#line.has(id) || this.#stop.signal.aborted) return
      this.#line.set(id, offer)
      this.#work()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      const { code, message: words, at } = error.fault
      tell({ event: 'refused', code, message: words, ...(at === '' ? {} : { command_id: at }) })
    }
  }

  /** Drops an offer that waits for its turn. One that is under way asks the home before it begins. */
  #withdrawn(id: string): void {
    if (id === this.#current || !this.#line.delete(id)) return
    const message = 'a human withdrew the task before its turn'
    this.#terms.tell({ event: 'refused', command_id: id, code: 'dispatch.ended', message })
  }

  #work(): void {
    if (this.#isWorking) return
    this.#isWorking = true
    this.#working = this.#each().finally(() => {
      this.#isWorking = false
      if (this.#line.size > 0 && !this.#stop.signal.aborted) this.#work()
    })
  }

  async #each(): Promise<void> {
    for (const [id, offer] of this.#line) {
      if (this.#stop.signal.aborted) return
      this.#current = id
      try {
        await this.#one(id, offer)
      } catch (error) {
        const code = faultCode(error)
        // A disk that is full or a home that is away keeps the task from being begun; a bug ends it all.
        if (code === null) throw error
        this.#terms.tell({ event: 'trouble', command_id: id, code, message: String(error) })
      } finally {
        this.#line.delete(id)
        this.#current = ''
      }
    }
  }

  async #one(command_id: string, { task, nonce }: Offer): Promise<void> {
    const { carryOut, journal, tell, nowMs } = this.#terms
    const not_after = task.time_window.end_ts
    const lease = randomBytes(16).toString('hex')
    const saying = { command_id, nonce, lease, receipt: null }
    if (!(await this.#isTaken({ ...saying, status: 'ACKED' }, not_after))) return
    tell({ event: 'claimed', command_id })
    if (!(await this.#isTaken({ ...saying, status: 'RUNNING' }, not_after))) return
    // The answer may have been held back: what begins late is no longer what the human asked for.
    if (nowMs() >= not_after) return tell({ event: 'refused', command_id, ...LATE })
    const entry: DeviceJournalEntry = {
      command_id,
      nonce,
      not_after,
      receipt: null,
      isSettled: false,
    }
    journal.keep(entry)
    tell({ event: 'acting', command_id })
    const start = nowMs()
    const outcome = await carryOut(task)
    if (outcome.status === 'unknown') {
      return tell({ event: 'unknown', command_id, message: outcome.reason })
    }
    const receipt = this.#receiptOf(task, outcome, { start_ts: start, end_ts: nowMs() })
    const done = { ...entry, receipt: { ...receipt } }
    journal.keep(done)
    tell({ event: outcome.status, command_id })
    this.#report(done)
  }

  #receiptOf(
    { act_task_id, target }: Offer['task'],
    outcome: Exclude<ExecutionOutcome, { status: 'unknown' }>,
    execution_time: ActReceipt['execution_time'],
  ): ActReceipt {
    const { status, observed, usage, logs, violations } = outcome
    return {
      type: 'ao_act_receipt_v0',
      act_task_id,
      executor_id: { kind: 'device', ...this.#terms.device },
      execution_time,
      execution_coverage: target,
      resource_usage: { ...NOTHING_USED, ...usage },
      logs_refs: [...logs],
      status,
      constraint_check: { violated: violations.length > 0, violations: [...violations] },
      observed_parameters: { ...observed },
      created_at_ts: execution_time.end_ts,
      meta: { idempotency_key: `${act_task_id}:1:${status}` },
    }
  }

  /** Says it until the home answers, or the time is over. */
  async #isTaken(saying: DeviceStatement, untilMs: number): Promise<boolean> {
    const { tell, nowMs } = this.#terms
    const { command_id } = saying
    for (let restMs = REST_MS; ; restMs = Math.min(2 * restMs, REST_MS_MAX)) {
      if (this.#stop.signal.aborted || nowMs() >= untilMs) return false
      const answer = await this.#terms.link.say(saying).catch(() => null)
      if (answer === null && restMs === REST_MS) tell({ event: 'trouble', command_id, ...SILENCE })
      if (answer?.ok === true) return true
      if (answer !== null) {
        const { code, message } = answer
        tell({ event: 'refused', command_id, code, message })
        return false
      }
      await this.#rest(restMs)
    }
  }

  /** Reports until the home has the receipt on the record, or refuses it for good. */
  #report(entry: DeviceJournalEntry): void {
    const work = this.#reportOn(entry)
    this.#reports.add(work)
    work.finally(() => this.#reports.delete(work))
  }

  async #reportOn(entry: DeviceJournalEntry): Promise<void> {
    const { link, journal, tell } = this.#terms
    const { command_id, nonce, receipt } = entry
    const saying: DeviceStatement = { command_id, nonce, status: 'REPORTED', lease: '', receipt }
    for (let restMs = REST_MS; ; restMs = Math.min(2 * restMs, REST_MS_MAX)) {
      const answer = await link.say(saying).catch(() => null)
      if (answer !== null) {
        journal.keep({ ...entry, isSettled: true })
        if (answer.ok) return tell({ event: 'reported', command_id })
        const { code, message } = answer
        return tell({ event: 'refused', command_id, code, message })
      }
      if (restMs === REST_MS) tell({ event: 'trouble', command_id, ...SILENCE })
      // What is not settled is reported by the next process.
      if (this.#stop.signal.aborted) return
      await this.#rest(restMs)
    }
  }

  async #rest(ms: number): Promise<void> {
    await pause(ms, null, { signal: this.#stop.signal }).catch(() => null)
  }
}

/** The home does not answer a message without the signature of the key that it knows. */
const SILENCE = {
  code: 'device.host',
  message:
    'the home did not answer, and is asked again: does a service or a dispatcher run there? Over MQTT, is the key of `writ device key` the one that `writ device list` shows there?',
} as const

const LATE = {
  code: 'device.offer_window',
  message:
    'the home recorded the start, and its answer came after the window of the task, so nothing was begun; the home will call it unknown, and a human decides',
} as const

const NOTHING_USED = { fuel_l: null, electric_kwh: null, water_l: null, chemical_ml: null }
