/**
 * Writers: how drafts reach the engine. Group commit without timers: whatever queues up while one
 * commit runs is the next commit. A caller hears of its facts after the commit that holds them.
 *
 * `startWriter` gives the engine a thread of its own, for programs with many callers. `InlineWriter`
 * runs it in the caller's thread, for programs that append a few facts and end.
 */
import { Worker } from 'node:worker_threads'
import { FaultError, fault, invariant } from '../base/index.ts'
import type { Appended, Draft } from '../ledger/index.ts'
import { workerEntry } from '../machine/index.ts'
import type { LedgerKey } from './ed25519.ts'
import { Engine, type EngineOptions } from './engine.ts'
import type { Call } from './ledger-file.ts'
import type { ThreadAnswer, ThreadCall, ThreadMessage, ThreadOptions } from './writer.worker.ts'

/** Appends through one engine. The promises of `Store.append` hold. */
export interface Writer {
  append(drafts: readonly Draft[]): Promise<readonly Appended[]>
  /** One draft for each stream, each with the size it expects; from then on this key signs. */
  rotate(drafts: readonly Draft[], key: LedgerKey): Promise<readonly Appended[]>
  close(): Promise<void>
  /**
   * Of a writer that commits in the caller's thread: its own connections. No transaction of its is ever
   * open while somebody else of the thread is at work, so that reads may go through them.
   */
  readonly reading?: Engine['reading']
}

interface Waiting {
  readonly resolve: (appended: readonly Appended[]) => void
  readonly reject: (error: unknown) => void
}

interface Queued extends Waiting {
  readonly call: Call
}

export class InlineWriter implements Writer {
  readonly #engine: Engine
  #queue: Queued[] = []
  #isClosed = false

  constructor(options: EngineOptions) {
    this.#engine = new Engine(options)
  }

  get reading(): Engine['reading'] {
    return this.#engine.reading
  }

  append(drafts: readonly Draft[]): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts })
  }

  rotate(drafts: readonly Draft[], key: LedgerKey): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts, rotateTo: key })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#flush()
    this.#isClosed = true
    this.#engine.close()
  }

  #enqueue(call: Call): Promise<readonly Appended[]> {
    if (this.#isClosed) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      // Callers of the same moment share a commit.
      if (this.#queue.length === 0) queueMicrotask(() => this.#flush())
      this.#queue.push({ call, resolve, reject })
    })
  }

  #flush(): void {
    const queue = this.#queue
    if (queue.length === 0) return
    this.#queue = []
    try {
      const answers = this.#engine.commit(queue.map(({ call }) => call))
      queue.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]
        if (answer instanceof FaultError) reject(answer)
        else resolve(answer ?? [])
      })
    } catch (bug) {
      for (const { reject } of queue) reject(bug)
    }
    this.#followUp()
  }

  /** What was acknowledged stays so, whatever becomes of the index. */
  #followUp(): void {
    try {
      if (this.#engine.isFarBehind) this.#engine.followUp()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
    }
  }
}

export interface ThreadWriterOptions extends ThreadOptions {
  /** The built file of the thread; found beside the program when absent. */
  readonly threadFile?: URL
}

/** Resolves once the thread has opened the ledger. */
export async function startWriter({
  threadFile,
  ...options
}: ThreadWriterOptions): Promise<Writer> {
  const writer = new ThreadWriter(threadFile ?? workerEntry('store/writer.worker.js'), options)
  await writer.ready()
  return writer
}

class ThreadWriter implements Writer {
  readonly #entry: URL
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  #outbox: ThreadCall[] = []
  #nextId = 0
  /** Null when the last one died; the next call starts another. */
  #thread: Worker | null = null
  #isClosed = false
  #closingFailure: FaultError | null = null

  constructor(entry: URL, options: ThreadOptions) {
    this.#entry = entry
    this.#options = options
  }

  /** Starts the thread and waits until it has opened the ledger. */
  async ready(): Promise<void> {
    await this.#send({ drafts: [] })
  }

  append(drafts: readonly Draft[]): Promise<readonly Appended[]> {
    return this.#send({ drafts })
  }

  rotate(drafts: readonly Draft[], key: LedgerKey): Promise<readonly Appended[]> {
    return this.#send({ drafts, rotateTo: key.seed })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#flush()
    this.#isClosed = true
    const thread = this.#thread
    if (thread === null) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.ref()
    thread.postMessage('close' satisfies ThreadMessage)
    await ended
    if (this.#closingFailure !== null) throw this.#closingFailure
  }

  #send(call: Omit<ThreadCall, 'id'>): Promise<readonly Appended[]> {
    if (this.#isClosed) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      if (this.#outbox.length === 0) queueMicrotask(() => this.#flush())
      const id = this.#nextId++
      this.#outbox.push({ id, ...call })
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #flush(): void {
    if (this.#outbox.length === 0) return
    this.#thread ??= this.#start()
    // The program stays alive while somebody waits, and may end when nobody does.
    this.#thread.ref()
    this.#thread.postMessage(this.#outbox satisfies ThreadMessage)
    this.#outbox = []
  }

  #start(): Worker {
    const thread = new Worker(this.#entry, { workerData: this.#options, name: 'ledger writer' })
    thread.on('message', (answer: ThreadAnswer) => {
      if (answer.kind === 'answers') this.#deliver(answer)
      else this.#refuse(thread, new FaultError(answer.fault))
      if (this.#waiting.size === 0) thread.unref()
    })
    thread.on('error', (error) => this.#lose(thread, this.#unclear(error)))
    thread.on('exit', () => this.#lose(thread, this.#unclear(null)))
    return thread
  }

  #deliver({ answers }: Extract<ThreadAnswer, { kind: 'answers' }>): void {
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.id)
      invariant(waiting !== undefined, 'the thread answers what it was asked')
      this.#waiting.delete(answer.id)
      if ('fault' in answer) waiting.reject(new FaultError(answer.fault))
      else waiting.resolve(answer.appended)
    }
  }

  /** The ledger could not be opened, or was found changed when it was closed. */
  #refuse(thread: Worker, failure: FaultError): void {
    if (this.#isClosed && this.#waiting.size === 0) this.#closingFailure = failure
    else this.#lose(thread, failure)
  }

  /** The thread is gone, and with it everything that was sent to it. */
  #lose(thread: Worker, failure: FaultError): void {
    if (this.#thread !== thread) return
    this.#thread = null
    const unsent = new Set(this.#outbox.map(({ id }) => id))
    for (const [id, { reject }] of this.#waiting) {
      if (unsent.has(id)) continue
      this.#waiting.delete(id)
      reject(failure)
    }
  }

  /** What a dead thread was asked may be recorded or not; whoever asks again finds out. */
  #unclear(cause: Error | null): FaultError {
    return new FaultError(fault('ledger.unclear', this.#options.file, null), { cause })
  }
}

function closed(): FaultError {
  return new FaultError(fault('ledger.closed', '', null))
}
