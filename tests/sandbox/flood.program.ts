/** Takes a flood of output without keeping it, and says how much came and how much memory it took. */
import { createDriver } from '../../src/sandbox/linux.ts'

const order: { watcher: string; root: string; bytes: number } = JSON.parse(process.argv[2] ?? '{}')
const driver = createDriver({ watcher: new URL(order.watcher) })
const sandbox = await driver.open({
  sandboxId: `flood-${process.pid}`,
  scopeRoots: [order.root],
  watchedRoots: [],
  hidden: [],
  caps: { cpuMs: 60_000, memoryMb: 128, diskMb: 16, durationMs: 120_000, processes: 32 },
  sockets: 'none',
  allOwners: false,
})
let count = 0
let peak = 0
const before = process.memoryUsage.rss()
const outcome = await sandbox.run({
  argv: ['/usr/bin/head', '-c', String(order.bytes), '/dev/zero'],
  cwd: order.root,
  env: {},
  stdin: 'empty',
  terminal: null,
  onOutput: (_, bytes) => {
    count += bytes.length
    peak = Math.max(peak, process.memoryUsage.rss())
  },
  abort: new AbortController().signal,
})
await sandbox.close()
await driver.close()
process.stdout.write(
  `${JSON.stringify({ count, grownMb: (peak - before) / 1048576, exitCode: outcome.exitCode })}\n`,
)
