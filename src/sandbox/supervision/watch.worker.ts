/** The thread that supervises runs: takes orders, looks at each every few milliseconds, forgets dead ones. */
import { parentPort } from 'node:worker_threads'
import { WATCH_MS, Watch, type WatchOrder } from './watch.ts'

let watches: readonly Watch[] = []
let timer: NodeJS.Timeout | null = null

parentPort?.on('message', (order: WatchOrder) => {
  watches = [...watches, new Watch(order)]
  timer ??= setInterval(lookAtAll, WATCH_MS)
})
parentPort?.postMessage('ready')

function lookAtAll(): void {
  for (const watch of watches) watch.look()
  watches = watches.filter(({ isLive }) => isLive)
  if (watches.length > 0 || timer === null) return
  clearInterval(timer)
  timer = null
}
