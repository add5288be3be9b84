/**
 * What a driver has ready for every sandbox it opens: a private directory, filters, pipes, the places
 * of control groups, and memory or disk for layers. Made once, gone with the driver; what a process
 * left that was killed is swept up by the next.
 */

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { freemem, release } from 'node:os'
import { dirname, join } from 'node:path'
import { FaultError, faultError } from '../../base/index.ts'
import { removeTree, requireProgram } from '../../machine/index.ts'
import type { SandboxRequest } from '../driver/driver.ts'

import { ownerMark } from '../driver/owner.ts'
import { findGroupPlaces, type GroupPlaces, sweepGroup } from '../kernel/cgroup.ts'
import { assembleFilter, filterBytes } from '../kernel/seccomp.ts'
import type { Architecture } from '../kernel/syscalls.ts'
import { leftBehind, namesIn, sandboxBase, sandboxLeftovers } from '../layers/leftovers.ts'
import { SystemMasks } from '../layers/masks.ts'
import { RootAttributes } from '../layers/overlay-plan.ts'
import { FifoStock } from '../pipes/fifo-stock.ts'
import { firstProcess } from '../processes/first-process.ts'
import { holderProgram, LAST_DESCRIPTOR } from '../processes/holder.ts'
import { HolderStarts } from '../processes/holder-starter.ts'
import { killStragglers } from '../processes/waiting-shell.ts'

export interface SandboxResources {
  /** Private to this driver; holds a directory for each sandbox, the filters and the pipes. */
  readonly directory: string
  readonly fifos: FifoStock
  readonly groups: GroupPlaces
  readonly starts: HolderStarts
  readonly filters: Readonly<Record<SandboxRequest['sockets'], string>>
  readonly strayDescriptors: readonly number[]
  /** The command line of the first process inside a sandbox. */
  readonly first: readonly string[]
  /** Never visible inside, besides what a request hides. */
  readonly ownPlaces: readonly string[]
  readonly attributes: RootAttributes
  readonly systemMasks: SystemMasks
  /** Memory for the uppers of this size, or a directory for them. */
  chooseBacking(diskMb: number, device: number, name: string): LayerStorage
  /** Sweeps up what processes left that were killed; once, while something else has to be waited for. */
  tidy(): void
  remove(): Promise<void>
}

const TIDY_MS = 1000

interface ResourceOptions {
  readonly directory?: string
  readonly keepsPipes?: boolean
  readonly disks?: readonly string[]
}

export type LayerStorage =
  | { readonly kind: 'memory'; readonly release: () => void }
  | {
      readonly kind: 'disk'
      readonly directory: string
      readonly release: () => Promise<void> | void
    }

export function makeResources(
  options: ResourceOptions,
  architecture: Architecture,
): SandboxResources {
  for (const name of ['bwrap', 'perl', 'sh'] as const) requireProgram(name)
  const { base, isOnlyOurs } = baseDirectory(options)
  const groups = findGroupPlaces()
  let isSwept = false
  const tidy = (): void => {
    if (!isSwept) sweep(base, options.disks ?? [], groups)
    isSwept = true
  }
  // For who opens sandboxes long before anything runs in them.
  setTimeout(tidy, TIDY_MS).unref()
  const directory = join(base, `${ownerMark()}-${randomBytes(4).toString('hex')}`)
  mkdirSync(directory, { mode: 0o700 })
  const memory = new MemoryBudget()
  const fifos = new FifoStock(join(options.keepsPipes === true ? base : directory, 'fifos'))
  const disks = [...(options.disks ?? []), directory]
  const stray = strayDescriptors()
  const starts = new HolderStarts({
    directory,
    architecture,
    program: holderProgram(false),
    strayDescriptors: stray,
    lastDescriptor: LAST_DESCRIPTOR,
  })
  return {
    directory,
    fifos,
    attributes: new RootAttributes(),
    systemMasks: new SystemMasks(),
    groups,
    filters: filtersIn(directory, architecture),
    strayDescriptors: stray,
    starts,
    first: firstProcess(requireProgram('perl'), architecture),
    ownPlaces: [base, ...(options.disks ?? [])],
    chooseBacking: (diskMb, device, name) =>
      memory.take(diskMb) ?? diskBacking(disks, device, `${ownerMark()}-${name}.upper`),
    tidy,
    remove: async () => {
      tidy()
      await starts.close()
      await fifos.settle()
      await removeTree(isOnlyOurs ? base : directory)
    },
  }
}

/** Returns the base directory. If another user owns the usual one, makes one with a random name. */
function baseDirectory({ directory }: ResourceOptions) {
  if (directory !== undefined) return { base: privateDirectory(directory), isOnlyOurs: false }
  try {
    return { base: privateDirectory(sandboxBase()), isOnlyOurs: false }
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    return { base: mkdtempSync('/tmp/writ-sandboxes-'), isOnlyOurs: true }
  }
}

/** Makes a directory; fails if another user owns it, because they could have put links there. */
function privateDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    const message = `the directory \`${path}\` for sandboxes is not this user's own`
    throw faultError('sandbox.failed', path, message)
  }
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700)
  return path
}

/** What processes that are gone have left. */
function sweep(base: string, disks: readonly string[], groups: GroupPlaces): void {
  // Runs in the background; the next sweep removes what this one cannot.
  const remove = (path: string): void => void removeTree(path).catch(() => undefined)
  for (const path of sandboxLeftovers(base, disks)) {
    if (dirname(path) === base) killStragglers(path)
    remove(path)
  }
  for (const place of new Set([groups.cpu, groups.memory, groups.processes])) {
    for (const path of leftBehind(place, 'writ-')) sweepGroup(path)
  }
}

/** Each is written when it is first asked for. */
function filtersIn(directory: string, architecture: Architecture): SandboxResources['filters'] {
  const written = new Map<SandboxRequest['sockets'], string>()
  const fileOf = (sockets: SandboxRequest['sockets']): string => {
    const known = written.get(sockets)
    if (known !== undefined) return known
    const file = join(directory, `filter-${sockets}`)
    writeFileSync(file, filterBytes(assembleFilter(architecture, sockets)), { mode: 0o600 })
    written.set(sockets, file)
    return file
  }
  return {
    get none() {
      return fileOf('none')
    },
    get inside() {
      return fileOf('inside')
    },
  }
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

  take(diskMb: number): LayerStorage | null {
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

function diskBacking(disks: readonly string[], device: number, name: string): LayerStorage {
  const chosen = disks.find((disk) => deviceOf(disk) === device) ?? disks.at(-1) ?? '/tmp'
  const directory = join(chosen, name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return { kind: 'disk', directory, release: () => removeKeptLayers(directory) }
}

/** Removes layers with the directories that only the kernel can enter. */
export async function removeKeptLayers(directory: string): Promise<void> {
  for (const name of namesIn(directory)) if (/^w\d+$/.test(name)) openUp(join(directory, name))
  await removeTree(directory)
}

/** Makes the work directories that a volatile overlay leaves removable: only root may enter them. */
function openUp(workDirectory: string): void {
  try {
    for (const below of ['work', 'work/incompat', 'work/incompat/volatile']) {
      chmodSync(join(workDirectory, below), 0o700)
    }
  } catch {
    // Nothing was mounted there.
  }
}

function deviceOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? null
}
