/**
 * The caller's side of the thread that commits: one batch at a time. A process that waits for the disk in
 * its own thread does nothing else meanwhile, and a run of a flow has other nodes to see to.
 */
import type { Worker } from 'node:worker_threads'
import { FaultError, fault } from '../../base/index.ts'
import type { FactDraft } from '../../ledger/index.ts'
import { builtEntry } from '../../machine/index.ts'
import type { ThreadAnswer, ThreadOrder, ThreadPlace } from './commit.worker.ts'
import type { AppendOutcome } from './ledger-file.ts'

/** What it makes lives for one commit. */
const SMALL = { maxYoungGenerationSizeMb: 4 }

interface PendingAnswer {
  readonly resolve: (answer: ThreadAnswer) => void
  readonly reject: (error: FaultError) => void
}

export class CommitThread {
  readonly #file: string
  readonly #worker: Worker
  #waiting: PendingAnswer | null = null
  #isOpen = false

  /** Returns null where the thread's file is not next to the program. */
  static start(place: ThreadPlace): CommitThread | null {
    const entry = builtEntry('store/sqlite/commit.worker.js')
    return entry === null ? null : new CommitThread(place, entry)
  }

  private constructor(place: ThreadPlace, entry: URL) {
    this.#file = place.file
    // Loaded here: most processes append too little for a thread.
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    // Options of the process may name how its own source is read.
    const options = { workerData: place, resourceLimits: SMALL, execArgv: [] }
    this.#worker = new Worker(entry, options)
    this.#worker.unref()
    this.#worker.on('message', (answer: ThreadAnswer) => this.#take(answer))
    this.#worker.on('error', (cause) => this.#lose(cause))
    this.#worker.on('exit', () => this.#lose(null))
  }

  /** Whether it has opened the ledger and lives. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Fails with `ledger.unclear` if the thread dies before it answers. */
  async commit(calls: readonly (readonly FactDraft[])[]): Promise<readonly AppendOutcome[]> {
    const answer = await this.#ask(calls)
    if (answer.kind !== 'committed') throw this.#unclear(null)
    return answer.outcomes.map((outcome) =>
      'fault' in outcome ? new FaultError(outcome.fault) : outcome.appended,
    )
  }

  /** Throws what was wrong with the ledger, as closing it in this thread does. */
  async close(): Promise<void> {
    if (!this.#isOpen) {
      await this.#worker.terminate()
      return
    }
    const answer = await this.#ask('close')
    this.#isOpen = false
    if (answer.kind === 'closed' && answer.fault !== null) throw new FaultError(answer.fault)
  }

  #ask(order: ThreadOrder): Promise<ThreadAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      // The process stays until what it was asked to record is answered.
      this.#worker.ref()
      this.#worker.postMessage(order)
    })
  }

  #take(answer: ThreadAnswer): void {
    if (answer.kind === 'opened') {
      this.#isOpen = true
      return
    }
    this.#worker.unref()
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(answer)
  }

  #lose(cause: Error | null): void {
    this.#isOpen = false
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.reject(this.#unclear(cause))
  }

  #unclear(cause: Error | null): FaultError {
    return new FaultError(fault('ledger.unclear', this.#file, null), { cause })
  }
}
