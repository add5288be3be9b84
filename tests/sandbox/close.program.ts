/** Closes a sandbox while a command runs in it, and tries two commands at once; prints what came of it. */
import { FaultError } from '../../src/base/index.ts'
import { createDriver } from '../../src/sandbox/linux.ts'

const order: { watcher: string; root: string } = JSON.parse(process.argv[2] ?? '{}')
const driver = createDriver({ watcher: new URL(order.watcher) })
const sandbox = await driver.open({
  sandboxId: `close-${process.pid}`,
  scopeRoots: [order.root],
  watchedRoots: [],
  hidden: [],
  caps: { cpuMs: 5000, memoryMb: 128, diskMb: 16, durationMs: 20_000, processes: 32 },
  sockets: 'none',
  allOwners: false,
})

async function codeOf(attempt: Promise<{ readonly signal: string | null }>): Promise<string> {
  try {
    return (await attempt).signal ?? 'ended'
  } catch (error) {
    if (error instanceof FaultError) return error.fault.code
    throw error
  }
}

const sleep = () =>
  sandbox.run({
    argv: ['/bin/sleep', '3600'],
    cwd: order.root,
    env: {},
    stdin: 'empty',
    terminal: null,
    onOutput: () => undefined,
    abort: new AbortController().signal,
  })

const first = codeOf(sleep())
const second = await codeOf(sleep())
await new Promise((resolve) => setTimeout(resolve, 300))
await sandbox.close()
const answer = { first: await first, second, third: await codeOf(sleep()) }
await driver.close()
process.stdout.write(`${JSON.stringify(answer)}\n`)
