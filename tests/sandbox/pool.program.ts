/**
 * A long-lived process with a pool: opens the same sandbox again and again and says what each run saw.
 * Its one argument: the built thread, the root, and what to do between two turns.
 */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { createDriver } from '../../src/host/sandbox/linux.ts'

interface Order {
  readonly watcher: string
  readonly root: string
  /** A shell script outside, then a script inside. */
  readonly turns: readonly { readonly outside: string; readonly inside: string }[]
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const driver = createDriver({ watcher: new URL(order.watcher), pool: 2 })
const caps = { cpuMs: 5000, memoryMb: 128, diskMb: 16, durationMs: 10_000, processes: 32 }

async function turn(script: string, index: number): Promise<unknown> {
  const askedMs = Date.now()
  const sandbox = await driver.open({
    sandboxId: `turn-${process.pid}-${index}`,
    scopeRoots: [order.root],
    watchedRoots: [],
    hidden: [`${order.root}/secret`],
    caps,
    sockets: 'inside',
    foreignOwners: false,
  })
  const upper = sandbox.layers[0]?.upper ?? ''
  const isReady = statSync(upper).birthtimeMs < askedMs - 20
  let stdout = ''
  const outcome = await sandbox.run({
    argv: ['/bin/sh', '-c', script],
    cwd: order.root,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'empty',
    terminal: null,
    onOutput: (_, bytes) => {
      stdout += Buffer.from(bytes).toString()
    },
    abort: new AbortController().signal,
  })
  await sandbox.close()
  return { stdout, isReady, exitCode: outcome.exitCode, upper }
}

for (const [index, { outside, inside }] of order.turns.entries()) {
  // The pool has time to fill in between.
  await new Promise((resolve) => setTimeout(resolve, 400))
  if (outside !== '') execFileSync('/bin/sh', ['-c', outside])
  process.stdout.write(`${JSON.stringify(await turn(inside, index))}\n`)
}
await driver.close()
