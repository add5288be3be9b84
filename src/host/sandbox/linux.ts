/**
 * The driver for Linux: user namespaces, overlayfs, bubblewrap, a filter of system calls, control groups
 * where this user may make some. Root and ordinary users get the same walls.
 *
 * Deliberately absent: native code, set-uid programs, a daemon. Everything is a program of the machine
 * that dies with this process.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { freemem, release } from 'node:os'
import { join } from 'node:path'
import { findGroupPlaces } from './cgroup.ts'
import type { Probe, Sandbox, SandboxDriver, SandboxRequest } from './driver.ts'
import { sandboxFailure } from './failure.ts'
import { FifoStock } from './fifo-stock.ts'
import { LinuxSandbox } from './linux-sandbox.ts'
import { isDead } from './meters.ts'
import { type Backing, openSandbox, type Workshop } from './opening.ts'
import type { PlannedRoot } from './overlay-plan.ts'
import { requireProgram } from './programs.ts'
import { removeTree } from './remove-tree.ts'
import { assembleFilter, filterBytes } from './seccomp.ts'
import type { Architecture } from './syscalls.ts'
import { startWatcher, type Watcher } from './watcher.ts'

export interface DriverOptions {
  /** Where this user's sandboxes have their working directories; private to the user. */
  readonly directory?: string
  /** Directories for layers that do not fit into memory; the one on the root's disk is taken. */
  readonly disks?: readonly string[]
  /** How many sandboxes are kept ready; none without it. */
  readonly pool?: number
  /** The built thread of watch.worker.ts, for who runs from sources. */
  readonly watcher?: URL
}

export function createDriver(options: DriverOptions = {}): SandboxDriver {
  return new LinuxDriver(options)
}

class LinuxDriver implements SandboxDriver {
  readonly name = 'linux'
  readonly #options: DriverOptions
  #watcher: Watcher | null = null
  #workshop: OwnWorkshop | null = null
  readonly #open = new Set<Sandbox>()

  constructor(options: DriverOptions) {
    this.#options = options
  }

  async probe(): Promise<readonly Probe[]> {
    return []
  }

  async open(request: SandboxRequest): Promise<Sandbox> {
    requirePlatform()
    this.#watcher ??= startWatcher(this.#options.watcher)
    this.#workshop ??= makeWorkshop(this.#options)
    const opened = await openSandbox(request, this.#workshop)
    const sandbox = LinuxSandbox.begin(request, opened, this.#watcher)
    this.#open.add(sandbox)
    sandbox.whenClosed(() => this.#open.delete(sandbox))
    return sandbox
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((sandbox) => sandbox.close()))
    await this.#watcher?.close()
    await this.#workshop?.fifos.settle()
    await this.#workshop?.remove()
    this.#watcher = null
    this.#workshop = null
  }
}

interface OwnWorkshop extends Workshop {
  remove(): Promise<void>
}

function requirePlatform(): Architecture {
  if (process.platform !== 'linux') {
    const message = `commands cannot be rehearsed on ${process.platform}, only on Linux`
    throw sandboxFailure('sandbox.platform', process.platform, message)
  }
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  const message = `there is no filter of system calls for ${process.arch}`
  throw sandboxFailure('sandbox.platform', process.arch, message)
}

function makeWorkshop(options: DriverOptions): OwnWorkshop {
  for (const name of ['bwrap', 'unshare', 'setpriv', 'mount', 'sh'] as const) requireProgram(name)
  const base = privateDirectory(options.directory ?? `/tmp/writ-${process.getuid?.() ?? 0}`)
  sweep(base)
  const directory = join(base, `${process.pid}-${randomBytes(4).toString('hex')}`)
  mkdirSync(directory, { mode: 0o700 })
  const memory = new MemoryBudget()
  const disks = [...(options.disks ?? []), directory]
  return {
    directory,
    fifos: new FifoStock(join(directory, 'fifos')),
    groups: findGroupPlaces(),
    filters: writeFilters(directory, requirePlatform()),
    strayDescriptors: strayDescriptors(),
    ownPlaces: [base, ...(options.disks ?? [])],
    chooseBacking: (diskMb, roots, name) =>
      memory.take(diskMb) ?? diskBacking(disks, roots, `${name}.upper`),
    remove: () => removeTree(directory),
  }
}

/** Nobody else may have made it: others could wait there with links of theirs. */
function privateDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(path)
  if (!lstatSync(path).isDirectory() || uid !== process.getuid?.()) {
    const message = `the directory \`${path}\` for sandboxes is not this user's own`
    throw sandboxFailure('sandbox.failed', path, message)
  }
  if ((mode & 0o077) !== 0) chmodSync(path, 0o700)
  return path
}

/** What processes that are gone have left. */
function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(/^(\d+)-[0-9a-f]{8}$/.exec(name)?.[1] ?? 0)
    // Nobody waits for it, and what cannot be removed now can be the next time.
    if (pid > 0 && isDead(pid)) removeTree(join(base, name)).catch(() => undefined)
  }
}

function writeFilters(directory: string, architecture: Architecture): Workshop['filters'] {
  const write = (sockets: SandboxRequest['sockets']): string => {
    const file = join(directory, `filter-${sockets}`)
    writeFileSync(file, filterBytes(assembleFilter(architecture, sockets)), { mode: 0o600 })
    return file
  }
  return { none: write('none'), inside: write('inside') }
}

const CLOSED_ON_EXEC = 0o2000000

/** Inherited descriptors that every program started from here would get (Node closes low ones only). */
function strayDescriptors(): readonly number[] {
  const stray: number[] = []
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name)
    if (descriptor > 2 && !isClosedOnExec(descriptor)) stray.push(descriptor)
  }
  return stray
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(text)?.[1] ?? '0', 8)
    return (flags & CLOSED_ON_EXEC) !== 0
  } catch {
    // The descriptor of this very listing is gone.
    return true
  }
}

const MEMORY_MAX_MB = 256
const MEBIBYTE = 1024 * 1024

/** Layers in memory: small ones, on kernels whose tmpfs has attributes, within a quarter of what is free. */
class MemoryBudget {
  #takenMb = 0
  readonly #isPossible = kernelIsAtLeast(6, 6)

  take(diskMb: number): Backing | null {
    if (!this.#isPossible || diskMb > MEMORY_MAX_MB) return null
    if (this.#takenMb + diskMb > availableMb() / 4) return null
    this.#takenMb += diskMb
    let isTaken = true
    const release = (): void => {
      if (isTaken) this.#takenMb -= diskMb
      isTaken = false
    }
    return { kind: 'memory', release }
  }
}

function availableMb(): number {
  try {
    const kilobytes = /^MemAvailable:\s*(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return freemem() / MEBIBYTE
  }
}

export function kernelIsAtLeast(
  major: number,
  minor: number,
  version: string = release(),
): boolean {
  const [first = 0, second = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return first > major || (first === major && second >= minor)
}

function diskBacking(
  disks: readonly string[],
  roots: readonly PlannedRoot[],
  name: string,
): Backing {
  const device = roots[0]?.device
  const chosen = disks.find((disk) => deviceOf(disk) === device) ?? disks.at(-1) ?? '/tmp'
  const directory = join(chosen, name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return { kind: 'disk', directory, release: () => removeTree(directory) }
}

function deviceOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? null
}
