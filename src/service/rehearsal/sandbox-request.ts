/**
 * What a rehearsal asks of the sandbox: over which directories, with what out of sight, under which
 * caps. And what one will most likely ask, so that the sandbox can be made while the rest is read.
 */
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type {
  ActionDescriptor,
  NetworkConnection,
  NetworkGrounds,
  Proposal,
} from '../../contracts/index.ts'
import {
  cacheEnvironment,
  DEFAULT_LISTS,
  type GateLists,
  groundTerms,
  npmSettings,
  PROXY_ENVIRONMENT,
  pipSettings,
  placedPaths,
  runsWithNetwork,
  stepTerms,
  visiblePlaces,
  yarnSettings,
} from '../../gate/index.ts'
import { type KnownHome, knownPlaces } from '../../home/index.ts'
import { type ProxyOptions, RunProxy } from '../../network/index.ts'
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

const BYTES_MAX = 64 * 1024

const FILES = [
  ['.npmrc', npmSettings],
  ['.yarnrc.yml', yarnSettings],
  ['.config/pip/pip.conf', pipSettings],
  ['.pip/pip.conf', pipSettings],
] as const

/** Reads the settings of package managers that a run may know of (`src/gate/admission/tool-settings.ts`). */
export function toolSettings(home: string): Readonly<Record<string, string>> {
  return Object.assign({}, ...FILES.map(([name, read]) => read(textOf(join(home, name)))))
}

/** Empty where there is no such file, or one that is no ordinary file of settings. */
function textOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() !== true || found.size > BYTES_MAX) return ''
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * The network of one rehearsal: a proxy that the sandbox opens its door to, the rules of each step in
 * its turn, and what went through. Nothing of it is there for a run without one.
 */
export class RunNetwork {
  readonly #grounds: NetworkGrounds
  readonly #proxy: RunProxy
  readonly #homes: readonly string[]

  constructor(
    grounds: NetworkGrounds,
    homes: readonly string[],
    options: Pick<ProxyOptions, 'resolve' | 'onRefused'>,
  ) {
    this.#grounds = grounds
    this.#homes = homes
    this.#proxy = new RunProxy(groundTerms(grounds), options)
  }

  get door(): NetworkDoor {
    return this.#proxy
  }

  /** From now on the rules of this step hold; gives what its programs find the proxy by. */
  begin(step: Proposal, isLast: boolean): Readonly<Record<string, string>> {
    this.#proxy.obey(stepTerms(this.#grounds, step, isLast))
    if (!runsWithNetwork(step)) return {}
    const caches = cacheEnvironment(this.#homes, isThere)
    return { ...PROXY_ENVIRONMENT, ...caches }
  }

  /** When a step is over: everything that it sent, or wanted to. */
  end(): Promise<readonly NetworkConnection[]> {
    return this.#proxy.settle()
  }

  close(): Promise<void> {
    return this.#proxy.close()
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
