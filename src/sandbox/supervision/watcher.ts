/**
 * The caller's side of supervision. A thread of its own looks, so that a busy caller cannot delay it.
 * When writ runs from TypeScript sources there is no built worker file, and the calling thread looks
 * itself unless a built file is named.
 *
 * Starting a thread takes longer than most commands do. So the calling thread looks itself until a run
 * has lasted a while, and hands it over when the thread is ready.
 *
 * INVARIANT (no gap): a run that is handed over is looked at by both for a moment, never by none.
 */
import type { Worker } from 'node:worker_threads'
import { workerEntry } from '../../machine/index.ts'
import { monotonicMs, WATCH_MS, Watch, type WatchOrder } from './watch.ts'

export interface Watcher {
  /** From now on until the flag in shared memory is taken down. */
  watch(order: WatchOrder): void
  close(): Promise<void>
}

export function startWatcher(thread: URL | undefined): Watcher {
  if (thread !== undefined) return new ThreadWatcher(() => thread)
  return import.meta.url.endsWith('.ts')
    ? inlineWatcher()
    : new ThreadWatcher(() => workerEntry('sandbox/supervision/watch.worker.js'))
}

/** How long a run is looked at from here before a thread is worth its start. */
const SHORT_MS = 40
/** It makes little that lives: a large young generation would be memory for nothing. */
const SMALL = { maxYoungGenerationSizeMb: 2 }

class ThreadWatcher implements Watcher {
  readonly #file: () => URL
  #worker: Worker | null = null
  #isReady = false

  constructor(file: () => URL) {
    this.#file = file
  }

  watch(order: WatchOrder): void {
    if (this.#isReady) {
      this.#worker?.postMessage(order)
      return
    }
    const sinceMs = monotonicMs()
    lookHere(order, () => {
      if (monotonicMs() - sinceMs >= SHORT_MS) this.#start()
      if (this.#isReady) this.#worker?.postMessage(order)
      return this.#isReady
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): void {
    if (this.#worker !== null) return
    // Loaded here: most runs end before a thread is worth its start.
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    const worker = new Worker(this.#file(), { env: {}, resourceLimits: SMALL })
    // Supervision keeps no program alive: when the last run is over, it may end.
    worker.unref()
    // It says so when it listens.
    worker.once('message', () => {
      this.#isReady = true
    })
    this.#worker = worker
  }
}

/** Looks from this thread until the run is over or the worker has taken it. */
function lookHere(order: WatchOrder, isTaken: () => boolean): void {
  const watch = new Watch(order)
  const timer = setInterval(() => {
    if (watch.isLive) watch.look()
    if (!watch.isLive || isTaken()) clearInterval(timer)
  }, WATCH_MS)
}

function inlineWatcher(): Watcher {
  return {
    watch: (order) => lookHere(order, () => false),
    close: async () => undefined,
  }
}
