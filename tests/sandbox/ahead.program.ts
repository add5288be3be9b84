/** A sandbox begun before it was asked for, in a process of its own; tells what came of each request. */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDriver, type SandboxRequest } from '../../src/sandbox/index.ts'

interface AheadOrder {
  readonly place: string
  readonly root: string
  readonly diskMb: number
  readonly watcher: string
}

const order: AheadOrder = JSON.parse(process.argv[2] ?? '{}')
const watcher = new URL(order.watcher)
const disks = [join(order.place, 'disk')]
const directory = join(order.place, 'directory')
const secret = join(order.root, 'secret')

function request(sandboxId: string, hidden: readonly string[]): SandboxRequest {
  return {
    sandboxId,
    scopeRoots: [order.root],
    watchedRoots: [],
    hidden,
    caps: {
      cpuMs: 10_000,
      memoryMb: 256,
      diskMb: order.diskMb,
      durationMs: 10_000,
      processes: 64,
    },
    sockets: 'inside',
    allOwners: false,
  }
}

/** What a command sees in a sandbox that was opened after something like it was begun. */
async function seen(
  asked: SandboxRequest,
  begun: SandboxRequest | null,
  meanwhile: () => void = () => undefined,
): Promise<unknown> {
  const driver = createDriver({ directory, disks, watcher })
  if (begun !== null) driver.anticipate(begun)
  meanwhile()
  const sandbox = await driver.open(asked)
  let text = ''
  const { exitCode } = await sandbox.run({
    argv: ['cat', secret],
    cwd: order.root,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'empty',
    terminal: null,
    onOutput: (_, bytes) => {
      text += Buffer.from(bytes).toString()
    },
    abort: new AbortController().signal,
  })
  const isTaken = sandbox.layers[0]?.merged.includes('ahead') === true
  await driver.close()
  return { exitCode, text, isTaken, left: readdirSync(directory) }
}

async function unasked(): Promise<unknown> {
  const driver = createDriver({ directory, disks, watcher })
  driver.anticipate(request('ahead', []))
  await driver.close()
  return { left: readdirSync(directory) }
}

async function impossible(): Promise<unknown> {
  const driver = createDriver({ directory, disks, watcher })
  driver.anticipate({ ...request('ahead', []), scopeRoots: [join(order.root, 'missing')] })
  const sandbox = await driver.open(request('own', []))
  await driver.close()
  return { isOpened: sandbox.layers.length }
}

function replaceRoot(): void {
  renameSync(order.root, join(order.place, 'old'))
  mkdirSync(order.root)
  writeFileSync(secret, 'replaced')
}

async function pipes(): Promise<unknown> {
  const counts: number[] = []
  for (let round = 0; round < 2; round++) {
    const driver = createDriver({ directory, keepsPipes: true })
    await driver.open(request(`own${round}`, []))
    await driver.close()
    counts.push(readdirSync(join(directory, 'fifos')).length)
  }
  return counts
}

writeFileSync(secret, 'bytes')
const told = {
  same: await seen(request('own', []), request('ahead', [])),
  otherMask: await seen(request('own', [secret]), request('ahead', [])),
  otherCap: await seen(
    { ...request('own', []), caps: { ...request('own', []).caps, memoryMb: 200 } },
    request('ahead', []),
  ),
  unasked: await unasked(),
  impossible: await impossible(),
  pipes: await pipes(),
  replacedRoot: await seen(request('own', []), request('ahead', []), replaceRoot),
}
process.stdout.write(`${JSON.stringify(told)}\n`)
