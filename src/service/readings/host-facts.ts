/**
 * What the host finds out about a proposal before anybody judges it (G-1, G-2): real paths, mounts,
 * file systems, homes. Gathers and decides nothing; the answer is recorded with the decision.
 *
 * The mounts of this process, as the kernel lists them, and the questions the gate asks of them.
 */
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { HostFacts, Proposal, RootFacts } from '../../contracts/index.ts'
import { actionIdsOf, pathsToResolve } from '../../gate/index.ts'
import { workspacePlaces } from '../../home/index.ts'
import { readableStats } from '../../machine/index.ts'

interface FactSources {
  readonly nowMs: number
  readonly maxAgeMs: number
  readonly maxFutureMs: number
  readonly ceilings: HostFacts['ceilings']
  /** Whether an action id was used before; lower case. */
  readonly wasUsed: (actionId: string) => boolean
  readonly workspace: string
  readonly ownHome: string
  /** Real paths of writ's state and configuration. */
  readonly writPlaces: readonly string[]
  /** The fingerprint of this machine; null where the home has one. */
  readonly machine: string | null
}

/** Without a proposal that follows its contract nothing can be asked of the machine. */
export function gatherHostFacts(proposal: Proposal | null, sources: FactSources): HostFacts {
  const mounts = readMounts()
  const { roots, others } = proposal === null ? { roots: [], others: [] } : pathsToResolve(proposal)
  const ids = proposal === null ? [] : actionIdsOf(proposal)
  return {
    now_ms: sources.nowMs,
    max_age_ms: sources.maxAgeMs,
    max_future_ms: sources.maxFutureMs,
    ceilings: sources.ceilings,
    seen_action_ids: [...new Set(ids.filter(sources.wasUsed))],
    workspace: sources.workspace,
    workspace_places: [...workspacePlaces(sources.workspace)],
    roots: roots.map((path) => rootFacts(path, mounts)),
    real_paths: realPaths(others),
    homes: readHomes(sources.ownHome),
    writ_places: [...sources.writPlaces],
    ...(sources.machine === null ? {} : { machine: sources.machine }),
  }
}

function rootFacts(declared: string, mounts: readonly Mount[]): RootFacts {
  const real = realPathOf(declared)
  const found = readableStats(real)
  const ground = found ?? groundOf(real)
  const mount = mountOf(mounts, real)
  return {
    declared,
    real,
    kind: found === null ? null : kindOf(found),
    filesystem: mount?.type ?? 'unknown',
    read_only: mount?.readOnly ?? false,
    mounts: [...mountsBelow(mounts, real)],
    device: String(ground?.dev ?? 0),
    inode: String(ground?.ino ?? 0),
  }
}

function kindOf(found: Stats): 'file' | 'directory' | 'other' {
  if (found.isDirectory()) return 'directory'
  return found.isFile() || found.isSymbolicLink() ? 'file' : 'other'
}

/** Symbolic links resolved as far as there is something; what is missing stays as it is written. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

function groundOf(path: string): Stats | null {
  for (let place = dirname(path); ; place = dirname(place)) {
    try {
      return statSync(place)
    } catch {
      if (place === dirname(place)) return null
    }
  }
}

/** Only those that lead elsewhere than they say. */
function realPaths(paths: readonly string[]): HostFacts['real_paths'] {
  return paths
    .map((declared) => ({ declared, real: realPathOf(declared) }))
    .filter(({ declared, real }) => declared !== real)
}

/** Returns the homes in the table of users, and the actor's own home even if it is not listed. */
function readHomes(own: string): HostFacts['homes'] {
  const real = realPathOf(own)
  const homes = new Set([...usersHomes()].map(realPathOf))
  homes.add(real)
  return [...homes].map((path) => ({ path, own: path === real }))
}

/** Entries of system users that are not home directories. */
const NO_HOMES: ReadonlySet<string> = new Set(['/', '/nonexistent', '/bin', '/dev', '/usr/sbin'])
const HOME_ROOTS = /^\/(?:root$|home\/|Users\/)/

function usersHomes(): readonly string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[5] ?? '')
      .filter((path) => path.startsWith('/') && !NO_HOMES.has(path) && HOME_ROOTS.test(path))
  } catch {
    return []
  }
}

interface Mount {
  /** Where it is mounted, as bytes told in text. */
  readonly path: string
  /** `ext4`, `tmpfs`, `nfs4`, … */
  readonly type: string
  readonly readOnly: boolean
}

export function readMounts(file = '/proc/self/mountinfo'): readonly Mount[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before, after] = line.split(' - ')
      const [path, options = ''] = before?.split(' ').slice(4) ?? []
      const type = after?.split(' ')[0]
      if (path === undefined || type === undefined) return []
      return [{ path: unescapePath(path), type, readOnly: options.split(',').includes('ro') }]
    })
}

/** Space, tab, newline and backslash are written as octal numbers. */
function unescapePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** The mount that a path lies on: the last listed of the longest that hold it. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | null {
  let found: Mount | null = null
  for (const mount of mounts) {
    if (!holds(mount.path, path)) continue
    if (found === null || mount.path.length >= found.path.length) found = mount
  }
  return found
}

/** Mounts strictly below a directory. */
export function mountsBelow(mounts: readonly Mount[], directory: string): readonly string[] {
  return mounts
    .map(({ path }) => path)
    .filter((path) => path !== directory && holds(directory, path))
}

function holds(directory: string, path: string): boolean {
  if (directory === '/') return true
  return path === directory || path.startsWith(`${directory}/`)
}
