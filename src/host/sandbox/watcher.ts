/**
 * The caller's side of supervision. Bundled, it starts the thread; from TypeScript sources there is no
 * built thread beside us, and this thread looks itself unless a built one is named.
 */
import { Worker } from 'node:worker_threads'
import { workerEntry } from '../ledger/worker-entry.ts'
import { WATCH_MS, Watch, type WatchOrder } from './watch.ts'

export interface Watcher {
  /** From now on until the flag in shared memory is taken down. */
  watch(order: WatchOrder): void
  close(): Promise<void>
}

export function startWatcher(thread: URL | undefined): Watcher {
  if (thread !== undefined) return threadWatcher(thread)
  return import.meta.url.endsWith('.ts')
    ? inlineWatcher()
    : threadWatcher(workerEntry('host/sandbox/watch.worker.js'))
}

function threadWatcher(thread: URL): Watcher {
  const worker = new Worker(thread, { env: {} })
  // Supervision keeps no program alive: when the last run is over, it may end.
  worker.unref()
  return {
    watch: (order) => worker.postMessage(order),
    close: async () => {
      await worker.terminate()
    },
  }
}

function inlineWatcher(): Watcher {
  return {
    watch: (order) => {
      const watch = new Watch(order)
      const timer = setInterval(() => {
        if (watch.isLive) watch.look()
        else clearInterval(timer)
      }, WATCH_MS)
    },
    close: async () => undefined,
  }
}
