/**
 * Opens a sandbox as the user this process has, runs the ordered commands one after another, and prints one
 * JSON line for each: `{ready}` when open, `{outcome, stdout, stderr, listing}` for a run, `{failure}`.
 * Its one argument is an order; see drive.ts.
 */

import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../src/base/index.ts'
import type { Sandbox, TerminalShape } from '../../src/sandbox/driver/driver.ts'
import { createDriver } from '../../src/sandbox/linux.ts'
import type { DrivenRun, DriveOrder, TerminalOrder } from './drive.ts'

const order: DriveOrder = JSON.parse(process.argv[2] ?? '{}')
const driver = createDriver({
  watcher: new URL(order.watcher),
  ...(order.disks === undefined ? {} : { disks: order.disks }),
})

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

try {
  const { signalAtDoor } = order
  const atDoor = (): void => {
    if (signalAtDoor !== undefined) sandbox.signal(signalAtDoor)
  }
  const network = signalAtDoor === undefined ? {} : { network: { listenOn: atDoor } }
  const sandbox = await driver.open({ ...order.request, ...network })
  say({ ready: { layers: sandbox.layers, controls: sandbox.controls, pid: process.pid } })
  for (const run of order.runs) say(await runOne(sandbox, run))
  await sandbox.close()
} catch (error) {
  if (!(error instanceof FaultError)) throw error
  say({ failure: error.fault })
} finally {
  await driver.close()
  say({ held: filesHeld() })
}

/** Files of sandboxes that this process still has open. */
function filesHeld(): readonly string[] {
  return readdirSync('/proc/self/fd')
    .map((name) => linkOr(`/proc/self/fd/${name}`))
    .filter((path) => /^\/sys\/fs\/cgroup|^\/tmp\/writ-\d+\//.test(path))
}

/** The descriptor of the listing itself is gone. */
function linkOr(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

async function runOne(sandbox: Sandbox, run: DriveOrder['runs'][number]): Promise<DrivenRun> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  const abort = new AbortController()
  const { abortAfterMs, signal } = run
  if (abortAfterMs !== undefined) setTimeout(() => abort.abort(), abortAfterMs)
  if (signal !== undefined) setTimeout(() => sandbox.signal(signal.name), signal.afterMs)
  const outcome = await sandbox.run({
    argv: run.argv,
    cwd: run.cwd,
    env: run.env,
    stdin: run.stdin === undefined ? 'empty' : Buffer.from(run.stdin.text.repeat(run.stdin.times)),
    terminal: run.terminal === undefined ? null : terminalOf(run.terminal),
    onOutput: (stream, bytes) => (stream === 'stdout' ? stdout : stderr).push(Buffer.from(bytes)),
    abort: abort.signal,
  })
  const before = bytesIn(sandbox)
  if (run.isWatched === true) await new Promise((resolve) => setTimeout(resolve, 200))
  return {
    isStill: bytesIn(sandbox) === before,
    outcome,
    stdout: Buffer.concat(stdout).toString('latin1'),
    stderr: Buffer.concat(stderr).toString('latin1'),
    uppers: sandbox.layers.map(({ root, upper }) => ({
      root,
      entries: [...entriesBelow(upper)].sort(),
    })),
  }
}

function terminalOf({ rows, columns, resize }: TerminalOrder): TerminalShape {
  return {
    rows,
    columns,
    onResize: (listener) => {
      if (resize === undefined) return
      setTimeout(() => listener(resize.rows, resize.columns), resize.afterMs)
    },
  }
}

function bytesIn({ layers }: Sandbox): number {
  const paths = layers.flatMap(({ upper }) => entriesBelow(upper).map((path) => join(upper, path)))
  return paths.reduce((sum, path) => sum + lstatSync(path).size, 0)
}

/** Also where a directory cannot be entered. */
function entriesBelow(top: string, below = ''): readonly string[] {
  const found: string[] = []
  for (const name of namesIn(join(top, below))) {
    const path = join(below, name)
    found.push(path, ...(lstatSync(join(top, path)).isDirectory() ? entriesBelow(top, path) : []))
  }
  return found
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
