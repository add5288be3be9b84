/**
 * Where processes of this machine listen on unix sockets. A read-only bind does not keep anyone from
 * connecting, so under the profile `inside` those places are masked: the whole directory, since another
 * socket may appear in it, or the socket alone where the directory holds what a command needs.
 */
import {
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { sandboxFailure } from './failure.ts'
import { isWithin } from './mount-table.ts'

/** Directories whose other contents every program needs. */
const NEEDED = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/opt', '/nix']

/** Already private or empty inside; nothing there is the machine's. */
const PRIVATE = ['/proc', '/sys', '/dev', '/run']

export function liveSocketPlaces(roots: readonly string[]): readonly string[] {
  const places = new Set<string>()
  for (const path of socketPaths()) {
    if (PRIVATE.some((place) => isWithin(path, place))) continue
    places.add(maskFor(path, roots))
  }
  return [...places]
}

/** The directory of the socket, unless that would hide a root or what programs are made of. */
export function maskFor(path: string, roots: readonly string[]): string {
  const directory = dirname(path)
  const isTopLevel = dirname(directory) === '/'
  const hidesRoot = roots.some((root) => isWithin(root, directory))
  const isNeeded = NEEDED.some((place) => isWithin(directory, place))
  return isTopLevel || hidesRoot || isNeeded || directory === '/' ? path : directory
}

/** Path names of sockets, all their links; abstract ones begin with `@` and are out of reach inside. */
function socketPaths(): readonly string[] {
  const tables = networkTables.read()
  const paths = new Set(tables.flatMap(pathsOf))
  for (const path of relativePaths(tables)) paths.add(path)
  for (const path of [...paths]) for (const link of otherLinks(path)) paths.add(link)
  return [...paths]
}

export function pathsOf(table: string): readonly string[] {
  return namesOf(table).filter((name) => name.startsWith('/'))
}

function namesOf(table: string): readonly string[] {
  return table.split('\n').flatMap((line) => {
    const name = /^[0-9a-f]+: (?:\S+ +){6}([^@\s].*)$/.exec(line)?.[1]
    return name === undefined ? [] : [name]
  })
}

/** A service may have bound a name in the directory that it was in, which the kernel tells as it was. */
function relativePaths(tables: readonly string[]): readonly string[] {
  const names = tables.flatMap(namesOf).filter((name) => !name.startsWith('/'))
  if (names.length === 0) return []
  const directories = new Set(processes().flatMap((name) => linkOrNull(`/proc/${name}/cwd`) ?? []))
  return [...directories].flatMap((directory) =>
    names.map((name) => join(directory, name)).filter((path) => statsOf(path)?.isSocket() === true),
  )
}

/** So many entries around a socket are looked at for its other names. */
const LINKS_LOOKED_AT = 5_000
const LINKS_DEPTH = 3

/**
 * Fails when a socket has a name that cannot be found near it: nothing can be masked whose name is not
 * known, and the kernel tells one name only.
 */
function otherLinks(path: string): readonly string[] {
  const socket = statsOf(path)
  if (socket?.isSocket() !== true || socket.nlink === 1) return []
  const found: string[] = []
  let left = LINKS_LOOKED_AT
  const look = (directory: string, depth: number): void => {
    for (const entry of entriesOf(directory)) {
      if (left-- <= 0) return
      const place = join(directory, entry.name)
      if (entry.isSocket() && statsOf(place)?.ino === socket.ino) found.push(place)
      else if (entry.isDirectory() && depth > 1) look(place, depth - 1)
    }
  }
  look(dirname(dirname(path)), LINKS_DEPTH)
  if (new Set(found).size >= socket.nlink) return found
  const message = `the socket \`${path}\` of a running program has ${socket.nlink} names, and not all of them could be found`
  const hint = 'remove the other name, or set `unix_sockets: none` in the laws'
  throw sandboxFailure('sandbox.control_missing', path, message, hint)
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Looking at every process takes a while; services in networks of their own seldom come up. */
const KNOWN_MS = 3000

/** Of this network namespace and of every other one that a process is in. */
class NetworkTables {
  #others: readonly string[] = []
  #untilMs = 0

  read(): readonly string[] {
    if (performance.now() >= this.#untilMs) {
      this.#others = foreignTables()
      this.#untilMs = performance.now() + KNOWN_MS
    }
    return [readFileSync('/proc/net/unix', 'utf8'), ...this.#others]
  }
}

const networkTables = new NetworkTables()

/** A table has an inode for each namespace, which everybody may ask for. */
function foreignTables(): readonly string[] {
  const tables: string[] = []
  const seen = new Set([statsOf('/proc/self/net/unix')?.ino])
  for (const name of processes()) {
    const namespace = statsOf(`/proc/${name}/net/unix`)?.ino
    if (namespace === undefined || seen.has(namespace)) continue
    seen.add(namespace)
    const table = textOrNull(`/proc/${name}/net/unix`)
    if (table !== null) tables.push(table)
  }
  return tables
}

function processes(): readonly string[] {
  const threads = kernelThreads()
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !threads.has(name))
}

/** The kernel's own, which listen nowhere and are the most of all: their parent is process 2. */
function kernelThreads(): ReadonlySet<string> {
  const [, name, flags] =
    /^2 \((.*)\) \S(?: \S+){5} (\d+) /s.exec(textOrNull('/proc/2/stat') ?? '') ?? []
  if (name !== 'kthreadd' || (Number(flags) & OF_KERNEL) === 0) return new Set()
  return new Set((textOrNull('/proc/2/task/2/children') ?? '').split(' '))
}

/** `PF_KTHREAD`: no program can give itself that. */
const OF_KERNEL = 0x00200000

/** Processes come and go while they are looked at. */
function linkOrNull(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function textOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
