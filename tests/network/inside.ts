/** Runs inside a sandbox with a proxy, for tests: as root or as an ordinary user. */
import { pathToFileURL } from 'node:url'
import type { NetworkConnection } from '../../src/contracts/index.ts'
import { type NetworkTerms, PROXY_ENVIRONMENT } from '../../src/gate/index.ts'
import type { SandboxRequest } from '../../src/sandbox/index.ts'
import { programFile, runProgram } from '../ledger/program.ts'
import { CAPS, userWrapper, type Who } from '../sandbox/drive.ts'
import type { InsideOrder } from './inside.program.ts'

export interface Inside {
  readonly as: Who
  readonly root: string
  readonly terms: Partial<NetworkTerms>
  readonly names?: InsideOrder['names']
  readonly scripts: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly request?: Partial<SandboxRequest>
}

export interface InsideRun {
  readonly exitCode: number | null
  readonly said: string
  readonly network: readonly NetworkConnection[]
  /** How often each name was resolved so far. */
  readonly asked: Readonly<Record<string, number>>
}

export async function inside(asked: Inside): Promise<readonly InsideRun[]> {
  const { as, root } = asked
  const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
  const order: InsideOrder = {
    watcher,
    request: {
      sandboxId: `network-test-${process.pid}-${Math.random().toString(36).slice(2)}`,
      scopeRoots: [root],
      watchedRoots: [],
      hidden: [],
      caps: { ...CAPS, processes: 256, memoryMb: 1_024 },
      sockets: 'none',
      allOwners: false,
      ...asked.request,
    },
    terms: { hosts: [], readOnlyHosts: [], release: null, ...asked.terms },
    names: asked.names ?? {},
    runs: asked.scripts.map((script) => ({
      script,
      cwd: root,
      env: { PATH: '/usr/bin:/bin', HOME: root, ...PROXY_ENVIRONMENT, ...asked.env },
    })),
  }
  const ended = await runProgram('tests/network/inside.program.ts', order, {
    wrapper: userWrapper(as),
  })
  if (ended.lines.length < order.runs.length) throw new Error(ended.errors)
  return ended.lines.map((line) => JSON.parse(line))
}
