/**
 * Writers: how drafts reach the engine. Calls of one turn of the event loop share a commit. A call
 * returns its facts after the commit that holds them. The engine runs in the caller's thread.
 */
import { FaultError, faultError } from '../../base/index.ts'
import type { Appended, FactDraft } from '../../ledger/index.ts'
import type { LedgerKey } from '../keys/ed25519.ts'
import { Engine, type EngineOptions } from './engine.ts'
import type { AppendCall } from './ledger-file.ts'

/** Appends through one engine. The promises of `Store.append` hold. */
export interface Writer {
  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]>
  /** One draft for each stream, each with the size it expects; from then on this key signs. */
  rotate(drafts: readonly FactDraft[], key: LedgerKey): Promise<readonly Appended[]>
  close(): Promise<void>
  /**
   * The connections of a writer that commits in the caller's thread. Reads may go through them, because
   * no transaction of the writer is open while other code of the thread runs.
   */
  readonly reading?: Engine['reading']
}

interface Queued {
  readonly call: AppendCall
  readonly resolve: (appended: readonly Appended[]) => void
  readonly reject: (error: unknown) => void
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

  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts })
  }

  rotate(drafts: readonly FactDraft[], key: LedgerKey): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts, rotateTo: key })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#flush()
    this.#isClosed = true
    this.#engine.close()
  }

  #enqueue(call: AppendCall): Promise<readonly Appended[]> {
    if (this.#isClosed) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      // After the microtasks of this turn, in which other callers append.
      if (this.#queue.length === 0) setImmediate(() => this.#flush())
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

  /** Brings the index on. A failure there does not undo what was acknowledged. */
  #followUp(): void {
    try {
      if (this.#engine.isFarBehind) this.#engine.followUp()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
    }
  }
}

function closed(): FaultError {
  return faultError('ledger.closed', '')
}
