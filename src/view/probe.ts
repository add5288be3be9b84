/**
 * Tries a live view for real before the first session: a process holds a file open and works in a new
 * directory while changes become real and a person replaces a file. Refuses kernels on which the view
 * does not follow. The answer is kept for this start of the machine.
 */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { readableText, removeTree, writeWhole } from '../machine/index.ts'
import { type Probe, removeKeptLayers, type Sandbox, type SandboxDriver } from '../sandbox/index.ts'
import { ownIds } from '../tree/index.ts'
import { openView } from './live-view.ts'

const NAME = 'live_view'
const FILE = 'view-probe.json'
const TRY_MS = 10_000

interface Known {
  readonly key: string
  readonly probe: Probe
}

/** `directory` is one of writ's own on the disk where layers would lie. */
export async function probeView(driver: SandboxDriver, directory: string): Promise<Probe> {
  const file = join(directory, FILE)
  const key = keyOf(directory)
  const known = knownIn(file)
  if (known?.key === key) return known.probe
  const probe = await tried(driver, directory)
  writeWhole(file, JSON.stringify({ key, probe } satisfies Known), 0o600)
  return probe
}

function keyOf(directory: string): string {
  const boot = readableText('/proc/sys/kernel/random/boot_id').trim()
  return [boot, release(), process.getuid?.(), statSync(directory).dev].join(' ')
}

function knownIn(file: string): Known | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Nothing is kept yet, or a crash cut it short.
    return null
  }
}

async function tried(driver: SandboxDriver, directory: string): Promise<Probe> {
  const base = mkdtempSync(join(directory, 'view-probe-'))
  const why = await attempt(driver, base).catch((error: unknown) => String(error))
  await removeKeptLayers(join(base, 'kept'))
  await removeTree(base)
  if (why === null) return { name: NAME, status: 'kernel' }
  return { name: NAME, status: 'absent', hint: `agents cannot run in sessions here: ${why}` }
}

/** Returns what went wrong; null when the view did all that it should. */
async function attempt(driver: SandboxDriver, base: string): Promise<string | null> {
  const [real, kept] = [join(base, 'real'), join(base, 'kept')]
  for (const path of [real, kept]) mkdirSync(path)
  for (const name of ['f', 'g']) writeFileSync(join(real, name), 'old\n')
  if (lstatSync(real, { bigint: true }).birthtimeNs === 0n) {
    return 'the filesystem does not tell when files were made'
  }
  const sandbox = await driver.open({
    sandboxId: `view-probe-${process.pid}`,
    scopeRoots: [real],
    watchedRoots: [],
    hidden: [],
    caps: { cpuMs: TRY_MS, memoryMb: 256, diskMb: 64, durationMs: TRY_MS, processes: 32 },
    sockets: 'none',
    allOwners: false,
    kept: { directory: kept },
  })
  try {
    return await follow(sandbox, real, kept)
  } finally {
    await sandbox.close()
  }
}

const SCRIPT = [
  'cat g >/dev/null; echo new >f; mkdir d; cd d; exec 3>>../held; echo a >&3; echo ready',
  'read line; echo b >&3; echo c >made; cat ../f ../g made; echo done',
].join('; ')

async function follow(sandbox: Sandbox, real: string, kept: string): Promise<string | null> {
  const stdin = new PassThrough()
  let output = ''
  const abort = new AbortController()
  const ended = sandbox.run({
    argv: ['/bin/sh', '-c', SCRIPT],
    cwd: real,
    env: { PATH: '/usr/bin:/bin' },
    stdin,
    terminal: null,
    onOutput: (_, bytes) => {
      output += Buffer.from(bytes).toString('latin1')
    },
    abort: abort.signal,
  })
  const said = async (line: string): Promise<void> => {
    for (let waited = 0; !output.includes(line) && waited < TRY_MS; waited += 2) await pause(2)
  }
  await said('ready\n')
  const view = openView(sandbox, {
    directory: kept,
    isRoot: process.getuid?.() === 0,
    ids: ownIds(),
    exclude: [],
    scopeRoots: [real],
    maxBytes: 1 << 20,
  })
  const frozen = await view.freeze()
  const { changes } = await frozen.scan()
  const promoted = changes.filter(({ path }) => !frozen.busy.has(path))
  await frozen.prepare(promoted)
  replace(join(real, 'f'), 'new\n')
  mkdirSync(join(real, 'd'))
  await frozen.prune(promoted)
  frozen.thaw()
  for (const name of ['f', 'g']) replace(join(real, name), 'person\n')
  await view.refresh()
  stdin.end('\n')
  await said('done\n')
  await ended
  const left = await view.freeze()
  const pending = (await left.scan()).changes.map(({ path }) => path.slice(real.length + 1))
  left.thaw()
  view.close()
  if (changes.length !== 3) return 'changes of the session were not found'
  if (!output.includes('person\nperson\nc\n')) return 'the view does not follow the real tree'
  return pending.join(' ') === 'd/made held' ? null : 'a file in use lost what was written to it'
}

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}
