/**
 * Opens sandboxes one after another until holders are forked by a starter, and prints what a command in
 * the first and in the last one finds, and who their holders are. `lose` kills the starter while a
 * command runs; `stay` waits with a command running until this process is killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createDriver, type Sandbox } from '../../src/sandbox/index.ts'

const order: { watcher: string; root: string; then: 'end' | 'lose' | 'stay' } = JSON.parse(
  process.argv[2] ?? '{}',
)
const OPENED_MAX = 40
const LOOK = [
  'for each in /proc/self/fd/*; do echo $each $(readlink $each | tr -d 0-9a-f.-); done',
  'cut -d" " -f6 /proc/1/stat',
  'grep -E "Cap|Seccomp:|NoNewPrivs" /proc/self/status',
  'ls -A /tmp /run',
].join('\n')
const directory = mkdtempSync('/tmp/writ-starter-')
const driver = createDriver({ watcher: new URL(order.watcher), directory })
let count = 0

function opened(): Promise<Sandbox> {
  return driver.open({
    sandboxId: `starter-${process.pid}-${count++}`,
    scopeRoots: [order.root],
    watchedRoots: [],
    hidden: [],
    caps: { cpuMs: 50_000, memoryMb: 128, diskMb: 16, durationMs: 100_000, processes: 32 },
    sockets: 'none',
    allOwners: false,
    hasChannel: true,
  })
}

async function run(sandbox: Sandbox, script: string) {
  let stdout = ''
  const { exitCode, signal } = await sandbox.run({
    argv: ['/bin/sh', '-c', script],
    cwd: order.root,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'empty',
    terminal: null,
    onOutput: (_, bytes) => {
      stdout += Buffer.from(bytes).toString('utf8')
    },
    abort: new AbortController().signal,
  })
  return { stdout, exitCode, signal }
}

/** Of the process that mounts for a sandbox: its number, its parent and its session. */
function holderOf({ layers }: Sandbox) {
  const pid = Number(/^\/proc\/(\d+)\//.exec(layers[0]?.merged ?? '')?.[1])
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const [, parent, , session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { pid, parent: Number(parent), session: Number(session) }
}

const CONNECT = `
my $at = pack 'S Z*', 1, shift;
my @held;
for (1 .. 5) { my $each; socket($each, 1, 1, 0) && connect($each, $at) or die; push @held, $each }
syswrite STDOUT, "connected";
sleep 60`

/** What a command finds if another process connects to the starter first. */
async function amongStrangers() {
  const name = readdirSync(directory).find((each) => /^\d+\./.test(each)) ?? ''
  const stranger = spawn('perl', ['-e', CONNECT, join(directory, name, 'starter')])
  await once(stranger.stdout, 'data')
  const sandbox = await opened()
  const found = { holder: holderOf(sandbox), ...(await run(sandbox, 'echo on')) }
  stranger.kill('SIGKILL')
  return found
}

const first = await opened()
const direct = { holder: holderOf(first), found: await run(first, LOOK) }
let last = await opened()
while (holderOf(last).parent === process.pid && count < OPENED_MAX) {
  await last.close()
  last = await opened()
}
const forked = { holder: holderOf(last), found: await run(last, LOOK) }
const crowded = order.then === 'end' ? await amongStrangers() : null
process.stdout.write(`${JSON.stringify({ own: process.pid, count, direct, forked, crowded })}\n`)
if (order.then !== 'end') {
  const running = run(last, 'sleep 3600')
  await pause(500)
  process.stdout.write('running\n')
  if (order.then === 'stay') await pause(60_000)
  process.kill(forked.holder.parent, 'SIGKILL')
  const lost = (await running.catch(() => ({ signal: 'failed' }))).signal
  const next = await opened()
  const after = { holder: holderOf(next), found: await run(next, 'echo on') }
  process.stdout.write(`${JSON.stringify({ lost, after })}\n`)
}
await driver.close()
rmSync(directory, { recursive: true, force: true })
process.stdout.write('closed\n')
