/**
 * Writers: how drafts reach the engine. Calls of one turn of the event loop share a commit. A call
 * returns its facts after the commit that holds them. The engine runs in the caller's thread; a process
 * that has committed often starts a thread that commits from then on, and calls that come while it
 * commits share the next commit.
 */
import { FaultError, faultError } from '../../base/index.ts'
import type { Appended, FactDraft } from '../../ledger/index.ts'
import type { LedgerKey } from '../keys/ed25519.ts'
import type { ThreadPlace } from './commit.worker.ts'
import { CommitThread } from './commit-thread.ts'
import { Engine, type EngineOptions } from './engine.ts'
import type { AppendCall, AppendOutcome } from './ledger-file.ts'

/** Appends through one engine. The promises of `Store.append` hold. */
export interface Writer {
  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]>
  /** One draft for each stream, each with the size it expects; from then on this key signs. */
  rotate(drafts: readonly FactDraft[], key: LedgerKey | 'same'): Promise<readonly Appended[]>
  close(): Promise<void>
  /**
   * The connections that a writer has in the caller's thread. Reads may go through them, because no
   * transaction of the writer is open on them while other code of the thread runs.
   */
  readonly reading?: Engine['reading']
}

interface Queued {
  readonly call: AppendCall
  readonly resolve: (appended: readonly Appended[]) => void
  readonly reject: (error: unknown) => void
}

/** So many commits are made in the caller's thread: most processes make fewer. */
const COMMITS_HERE = 32

interface WriterOptions extends EngineOptions {
  /** Where a thread finds the keys; without it every commit is made in the caller's thread. */
  readonly keysDirectory?: string
}

export class InlineWriter implements Writer {
  readonly #engine: Engine
  readonly #place: ThreadPlace | null
  #queue: Queued[] = []
  #commits = 0
  #thread: CommitThread | null = null
  /** What the thread commits now; never fails. */
  #underWay: Promise<void> | null = null
  #isClosed = false

  constructor({ keysDirectory, ...options }: WriterOptions) {
    this.#engine = new Engine(options)
    // Sources that run without a build have no file for a thread.
    const isBuilt = keysDirectory !== undefined && !import.meta.url.endsWith('.ts')
    this.#place = isBuilt ? { file: options.file, keysDirectory } : null
  }

  get reading(): Engine['reading'] {
    return this.#engine.reading
  }

  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts })
  }

  rotate(drafts: readonly FactDraft[], key: LedgerKey | 'same'): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts, rotateTo: key })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    while (this.#underWay !== null) await this.#underWay
    this.#flush()
    while (this.#underWay !== null) await this.#underWay
    try {
      await this.#thread?.close()
    } finally {
      this.#engine.close()
    }
  }

  #enqueue(call: AppendCall): Promise<readonly Appended[]> {
    if (this.#isClosed) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      // After the microtasks of this turn, in which other callers append.
      if (this.#queue.length === 0 && this.#underWay === null) setImmediate(() => this.#flush())
      this.#queue.push({ call, resolve, reject })
    })
  }

  #flush(): void {
    const queue = this.#queue
    if (queue.length === 0 || this.#underWay !== null) return
    this.#queue = []
    // A key that is turned to stays in this thread.
    const isRotation = queue.some(({ call }) => call.rotateTo !== undefined)
    if (this.#thread?.isOpen === true && !isRotation) this.#handOver(this.#thread, queue)
    else this.#commitHere(queue)
  }

  #handOver(thread: CommitThread, queue: readonly Queued[]): void {
    this.#underWay = thread
      .commit(queue.map(({ call }) => call.drafts))
      .then(
        (answers) => deliver(queue, answers),
        (error) => refuse(queue, error),
      )
      .then(() => {
        this.#underWay = null
        this.#flush()
      })
  }

  #commitHere(queue: readonly Queued[]): void {
    try {
      deliver(queue, this.#engine.commit(queue.map(({ call }) => call)))
    } catch (bug) {
      refuse(queue, bug)
    }
    this.#followUp()
    this.#commits++
    if (this.#commits === COMMITS_HERE && this.#place !== null && !this.#isClosed)
      this.#thread = CommitThread.start(this.#place)
  }

  /** Brings the index on. A failure there does not undo what was acknowledged. */
  #followUp(): void {
    try {
      if (this.#engine.isFarBehind) this.#engine.followUp()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
    }
  }
}

function deliver(queue: readonly Queued[], answers: readonly AppendOutcome[]): void {
  queue.forEach(({ resolve, reject }, index) => {
    const answer = answers[index]
    if (answer instanceof FaultError) reject(answer)
    else resolve(answer ?? [])
  })
}

function refuse(queue: readonly Queued[], error: unknown): void {
  for (const { reject } of queue) reject(error)
}

function closed(): FaultError {
  return faultError('ledger.closed', '')
}
