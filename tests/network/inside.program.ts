/**
 * Opens a sandbox whose only way out is a proxy, runs scripts in it one after another, and prints one
 * JSON line for each: what the run said, and what the proxy saw.
 */
import type { NetworkTerms } from '../../src/gate/index.ts'
import { RunProxy } from '../../src/network/proxy.ts'
import type { SandboxRequest } from '../../src/sandbox/driver/driver.ts'
import { createDriver } from '../../src/sandbox/linux.ts'
import { readInput } from '../ledger/program-input.ts'

export interface InsideOrder {
  readonly watcher: string
  readonly request: SandboxRequest
  readonly terms: NetworkTerms
  /** Names and the addresses they lead to, one after another. */
  readonly names: Readonly<Record<string, readonly (readonly string[])[]>>
  readonly runs: readonly {
    readonly script: string
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
  }[]
}

const order = readInput() as InsideOrder
const asked: Record<string, number> = {}
const proxy = new RunProxy(order.terms, {
  resolve: async (host) => {
    const answers = order.names[host] ?? []
    const turn = asked[host] ?? 0
    asked[host] = turn + 1
    return answers[Math.min(turn, answers.length - 1)] ?? []
  },
})
const driver = createDriver({ watcher: new URL(order.watcher) })
const sandbox = await driver.open({ ...order.request, network: proxy })
for (const { script, cwd, env } of order.runs) {
  const said: Buffer[] = []
  const outcome = await sandbox.run({
    argv: ['/bin/sh', '-c', script],
    cwd,
    env,
    stdin: 'empty',
    terminal: null,
    onOutput: (_stream, bytes) => void said.push(Buffer.from(bytes)),
    abort: new AbortController().signal,
  })
  const network = await proxy.settle()
  const { exitCode, killedBy } = outcome
  const run = { exitCode, killedBy, said: Buffer.concat(said).toString(), network, asked }
  process.stdout.write(`${JSON.stringify(run)}\n`)
}
await sandbox.close()
await proxy.close()
await driver.close()
