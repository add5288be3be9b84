/**
 * What a rehearsal asks of the sandbox: over which directories, with what out of sight, under which
 * caps. And what one will most likely ask, so that the sandbox can be made while the rest is read.
 */
import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ActionDescriptor } from '../../contracts/index.ts'
import { DEFAULT_LISTS, type GateLists, placedPaths, visiblePlaces } from '../../gate/index.ts'
import { type KnownHome, knownPlaces } from '../../home/index.ts'
import { DEFAULT_SETTINGS } from '../../policy/index.ts'
import {
  mayMapOwners,
  type NetworkDoor,
  type SandboxRequest,
  type SocketProfile,
} from '../../sandbox/index.ts'
import { hiddenPlaces, withAccountHome } from '../readings/hidden-places.ts'
import { realPathOf } from '../readings/host-facts.ts'
import { stagePlaces } from '../stage/stage-place.ts'
import type { HiddenFromRun } from '../surface/surface.ts'

/** More than any build starts, fewer than would hurt; threads count. */
const PROCESSES_MAX = 1_024

type Resources = ActionDescriptor['resources']

interface SandboxOrder {
  readonly sandboxId: string
  readonly home: KnownHome
  readonly stateRoot: string
  /** Directories that the scope lies in. */
  readonly roots: readonly string[]
  readonly ownHomes: readonly string[]
  readonly resources: Resources
  readonly lists: GateLists
  readonly sockets: SocketProfile
  /** The only way out; with it the view of a home is an allow-list. */
  readonly network?: NetworkDoor
}

export function sandboxRequest(order: SandboxOrder): SandboxRequest {
  const { sandboxId, roots, resources, sockets } = order
  return {
    sandboxId,
    scopeRoots: roots,
    ...viewOf(order),
    hidden: hiddenFrom(order),
    caps: {
      cpuMs: resources.max_cpu_ms,
      memoryMb: resources.max_memory_mb,
      diskMb: resources.max_disk_mb,
      durationMs: resources.max_duration_ms,
      processes: PROCESSES_MAX,
    },
    sockets,
    allOwners: mayMapOwners(),
  }
}

type View = Pick<SandboxRequest, 'watchedRoots' | 'emptied' | 'network'>

/**
 * What is covered, and so seen and watched. Without a network: the workspace and the homes. With one,
 * nothing of a home but what is on its allow-list (G-10a, G-10b).
 */
function viewOf({ home, ownHomes, network }: SandboxOrder): View {
  const workspace = dirname(home.directory)
  if (network === undefined) return { watchedRoots: [workspace, ...ownHomes] }
  const emptied = withAccountHome(ownHomes).filter(
    (path) => ownHomes.includes(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory(),
  )
  const isApart = (path: string): boolean =>
    !emptied.some((own) => `${path}/`.startsWith(`${own}/`) || `${own}/`.startsWith(`${path}/`))
  const visible = visiblePlaces(ownHomes).filter((path) => realPathOf(path) === path)
  return { watchedRoots: [...[workspace].filter(isApart), ...visible], emptied, network }
}

/** The same before laws and host were asked: right wherever the laws change none of it. */
export function likelyRequest(
  order: Omit<SandboxOrder, 'ownHomes' | 'lists' | 'sockets' | 'network'>,
  userDirectory: string,
): SandboxRequest {
  const { ceilings, unixSockets } = DEFAULT_SETTINGS
  return sandboxRequest({
    ...order,
    ownHomes: [realPathOf(userDirectory)],
    resources: within(order.resources, ceilings),
    lists: DEFAULT_LISTS,
    sockets: unixSockets ?? 'inside',
  })
}

/** No run asks for more than the host grants. */
export function within(resources: Resources, ceilings: Resources): Resources {
  return {
    max_cpu_ms: Math.min(resources.max_cpu_ms, ceilings.max_cpu_ms),
    max_memory_mb: Math.min(resources.max_memory_mb, ceilings.max_memory_mb),
    max_disk_mb: Math.min(resources.max_disk_mb, ceilings.max_disk_mb),
    max_duration_ms: Math.min(resources.max_duration_ms, ceilings.max_duration_ms),
  }
}

/** Credentials and writ's own places, as real paths; what is not there hides nothing. */
function hiddenFrom(order: SandboxOrder): readonly string[] {
  const { lists, ownHomes, stateRoot, home, roots, network } = order
  const workspace = realPathOf(dirname(home.directory))
  const shown = [workspace, ...roots.map(realPathOf)]
  const hasNetwork = network !== undefined
  const xdg = knownPlaces(home.state)
  const listed = hiddenPlaces({ lists, homes: ownHomes, workspace, shown, hasNetwork, xdg })
  const own = [stateRoot, ...stagePlaces(home)].map(realPathOf)
  return [...new Set([...listed, ...own])].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  )
}

/** Returns the hidden places to show to a person: writ's own places are left out. */
export function hiddenFromRun(order: SandboxOrder, hidden: readonly string[]): HiddenFromRun {
  const { lists, ownHomes, home, stateRoot, network } = order
  const own = new Set([stateRoot, ...stagePlaces(home)].map(realPathOf))
  const named = lists.hidden.filter((path) => !DEFAULT_LISTS.hidden.includes(path))
  const workspace = realPathOf(dirname(home.directory))
  const byLaws = placedPaths(named, withAccountHome(ownHomes), workspace).map(realPathOf)
  return {
    places: hidden.filter((path) => !own.has(path)),
    byLaws: byLaws.map((path) => path.replace(/\/\*\*$/, '')),
    hasNetwork: network !== undefined,
  }
}
