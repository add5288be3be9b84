/**
 * Control groups: the kernel counts and limits a whole tree of processes. Version 1 with a hierarchy per
 * controller, or version 2 where a part of the tree is delegated; whichever this user may write to.
 * What cannot be had here is not an error: the caps that miss their controller are polled instead.
 *
 * A group is made below the one this process is in, so limits set on writ hold for everything inside.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { readableText } from '../../machine/index.ts'

/** The files of one group, by what they tell; a missing one is not counted by the kernel. */
export interface GroupFiles {
  readonly cpu?: { readonly file: string; readonly form: 'nanoseconds' | 'cpu.stat' }
  readonly memory?: {
    readonly peak: string
    readonly now: string
    readonly events: string
  }
  readonly processes?: { readonly peak: string; readonly now: string; readonly events: string }
}

interface GroupLimits {
  readonly memoryBytes: number
  readonly processes: number
}

/** Directories in which groups can be made, by controller. */
export interface GroupPlaces {
  readonly version: 1 | 2
  readonly cpu: string | null
  readonly memory: string | null
  readonly processes: string | null
}

const V1 = { cpu: 'cpuacct', memory: 'memory', processes: 'pids' } as const
const MOUNT = '/sys/fs/cgroup'

export function findGroupPlaces(): GroupPlaces {
  const own = parseOwnGroups(readableText('/proc/self/cgroup'))
  const place = (controller: string): string | null => {
    const mount = join(MOUNT, controller)
    const group = join(mount, own.get(controller) ?? '/')
    return writable(join(group, userGroup()), null) ?? writable(group, mount)
  }
  const v1 = {
    version: 1 as const,
    cpu: place(V1.cpu),
    memory: place(V1.memory),
    processes: place(V1.processes),
  }
  if (v1.cpu !== null || v1.memory !== null || v1.processes !== null) return v1
  return unifiedPlaces(own.get('') ?? '/')
}

/** A group that root made for one user, below the user's own. */
function userGroup(): string {
  return `writ-${process.getuid?.() ?? 0}`
}

/** The one command, for root, that lets this user make groups here. */
export function groupCommand(): string {
  const own = parseOwnGroups(readableText('/proc/self/cgroup'))
  if (!existsSync(join(MOUNT, V1.memory))) {
    return 'systemd-run --user --scope -p Delegate=yes writ …'
  }
  const places = Object.values(V1).map((name) =>
    join(MOUNT, name, own.get(name) ?? '/', userGroup()),
  )
  return `sudo install -d -o ${process.getuid?.() ?? 0} ${places.join(' ')}`
}

/** Lines `id:controllers:path`; version 2 has no controllers. */
export function parseOwnGroups(text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined) continue
    for (const name of controllers.split(',')) groups.set(name, path)
  }
  return groups
}

/** Tries the own group, then its parent: version 2 has controllers only below groups without processes. */
function unifiedPlaces(own: string): GroupPlaces {
  for (const candidate of [join(MOUNT, own), dirname(join(MOUNT, own))]) {
    if (!candidate.startsWith(MOUNT)) continue
    const enabled = readableText(join(candidate, 'cgroup.subtree_control')).split(/\s+/)
    if (!enabled.includes('memory') && !enabled.includes('pids')) continue
    if (writable(candidate, MOUNT) === null || !canMoveInto(candidate)) continue
    const has = (name: string): string | null => (enabled.includes(name) ? candidate : null)
    return { version: 2, cpu: candidate, memory: has('memory'), processes: has('pids') }
  }
  return { version: 2, cpu: null, memory: null, processes: null }
}

function canMoveInto(directory: string): boolean {
  try {
    accessSync(join(directory, 'cgroup.procs'), constants.W_OK)
    return true
  } catch {
    return false
  }
}

function writable(directory: string, mount: string | null): string | null {
  // A group path from outside a container does not exist inside it; its top is then our own.
  const present = existsSync(directory) ? directory : mount
  if (present === null) return null
  try {
    accessSync(join(present, 'cgroup.procs'), constants.R_OK)
    accessSync(present, constants.W_OK)
    return present
  } catch {
    return null
  }
}

export class ControlGroup {
  readonly files: GroupFiles
  readonly #version: 1 | 2
  readonly #directories: readonly string[]

  private constructor(version: 1 | 2, directories: readonly string[], files: GroupFiles) {
    this.#version = version
    this.#directories = directories
    this.files = files
  }

  /** Makes a group; returns null if no controller is available. */
  static make(places: GroupPlaces, name: string, limits: GroupLimits): ControlGroup | null {
    const wanted = [places.cpu, places.memory, places.processes].filter((place) => place !== null)
    const directories = [...new Set(wanted)].map((place) => join(place, name))
    if (directories.length === 0) return null
    for (const directory of directories) mkdirSync(directory)
    const at = (place: string | null): string | null => (place === null ? null : join(place, name))
    const group = new ControlGroup(
      places.version,
      directories,
      places.version === 1
        ? limitFirst(at(places.cpu), at(places.memory), at(places.processes), limits)
        : limitSecond(at(places.cpu), at(places.memory), at(places.processes), limits),
    )
    return group
  }

  /**
   * Files into which a process writes `0` to join. A single thread that moves itself needs no lock of
   * the whole machine, which moving it from outside would take, and wait for every processor.
   */
  get doors(): readonly string[] {
    const name = this.#version === 1 ? 'tasks' : 'cgroup.procs'
    return this.#directories.map((directory) => join(directory, name))
  }

  /** The kernel lets a group go only when its last process is gone for good. */
  async remove(): Promise<void> {
    for (const directory of this.#directories) await removeGroup(directory)
  }
}

const REMOVAL_TRIES = 200
/** Mostly it is a matter of a few milliseconds; on a busy machine the dead take their time. */
const QUICK_TRIES = 100

/**
 * Removes a group that a dead process left. Kills its members: that process was starting them when it
 * died, and they would wait for it for ever.
 */
export function sweepGroup(directory: string): void {
  for (const pid of membersOf(directory)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process ended by itself, or belongs to another user.
    }
  }
  try {
    rmdirSync(directory)
  } catch {
    // Killed processes may still be in the group; the next sweep removes it.
  }
}

function membersOf(directory: string): readonly number[] {
  try {
    const lines = readFileSync(join(directory, 'cgroup.procs'), 'latin1').split('\n')
    // The kernel shows a process outside this PID namespace as 0, which `kill` takes for our own group.
    return lines.map(Number).filter((pid) => pid > 1)
  } catch {
    return []
  }
}

export async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 0; attempt < REMOVAL_TRIES; attempt++) {
    try {
      rmdirSync(directory)
      return
    } catch (error) {
      // Thrown by rmdirSync.
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
      await new Promise((resolve) => setTimeout(resolve, attempt < QUICK_TRIES ? 2 : 20))
    }
  }
}

function limitFirst(
  cpu: string | null,
  memory: string | null,
  processes: string | null,
  limits: GroupLimits,
): GroupFiles {
  if (memory !== null) {
    writeFileSync(join(memory, 'memory.limit_in_bytes'), `${limits.memoryBytes}`)
    // Present when swap is counted; without it swap would be memory beyond the cap.
    writeIfPresent(join(memory, 'memory.memsw.limit_in_bytes'), `${limits.memoryBytes}`)
  }
  if (processes !== null) writeFileSync(join(processes, 'pids.max'), `${limits.processes}`)
  return {
    ...(cpu === null
      ? {}
      : { cpu: { file: join(cpu, 'cpuacct.usage'), form: 'nanoseconds' as const } }),
    ...(memory === null
      ? {}
      : {
          memory: {
            peak: join(memory, 'memory.max_usage_in_bytes'),
            now: join(memory, 'memory.usage_in_bytes'),
            events: join(memory, 'memory.oom_control'),
          },
        }),
    ...processFiles(processes),
  }
}

function limitSecond(
  cpu: string | null,
  memory: string | null,
  processes: string | null,
  limits: GroupLimits,
): GroupFiles {
  if (memory !== null) {
    writeFileSync(join(memory, 'memory.max'), `${limits.memoryBytes}`)
    writeIfPresent(join(memory, 'memory.swap.max'), '0')
  }
  if (processes !== null) writeFileSync(join(processes, 'pids.max'), `${limits.processes}`)
  return {
    ...(cpu === null ? {} : { cpu: { file: join(cpu, 'cpu.stat'), form: 'cpu.stat' as const } }),
    ...(memory === null
      ? {}
      : {
          memory: {
            peak: join(memory, 'memory.peak'),
            now: join(memory, 'memory.current'),
            events: join(memory, 'memory.events'),
          },
        }),
    ...processFiles(processes),
  }
}

function processFiles(directory: string | null): Pick<GroupFiles, 'processes'> {
  if (directory === null) return {}
  return {
    processes: {
      peak: join(directory, 'pids.peak'),
      now: join(directory, 'pids.current'),
      events: join(directory, 'pids.events'),
    },
  }
}

function writeIfPresent(file: string, text: string): void {
  if (existsSync(file)) writeFileSync(file, text)
}
