/**
 * Where processes of this machine listen on unix sockets. A read-only bind does not keep anyone from
 * connecting, so under the profile `inside` those places are masked: the whole directory, since another
 * socket may appear in it, or the socket alone where the directory holds what a command needs.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
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

/** Path names of sockets; abstract ones begin with `@` and are out of reach in an own network. */
function socketPaths(): readonly string[] {
  const paths = new Set<string>()
  for (const table of networkTables()) {
    for (const path of pathsOf(table)) paths.add(path)
  }
  return [...paths]
}

export function pathsOf(table: string): readonly string[] {
  return table.split('\n').flatMap((line) => {
    if (!line.includes(' /')) return []
    const path = /^[0-9a-f]+: (?:\S+ +){6}(\/.*)$/.exec(line)?.[1]
    return path === undefined ? [] : [path]
  })
}

/** Of this network namespace and, for who may look, of every other one on the machine. */
function networkTables(): readonly string[] {
  const own = readFileSync('/proc/net/unix', 'utf8')
  return process.getuid?.() === 0 ? [own, ...otherTables.read()] : [own]
}

/** Looking at every process takes a while; services in networks of their own seldom come up. */
const KNOWN_MS = 3000

class OtherTables {
  #tables: readonly string[] = []
  #untilMs = 0

  read(): readonly string[] {
    if (performance.now() >= this.#untilMs) {
      this.#tables = foreignTables()
      this.#untilMs = performance.now() + KNOWN_MS
    }
    return this.#tables
  }
}

const otherTables = new OtherTables()

function foreignTables(): readonly string[] {
  const tables: string[] = []
  const seen = new Set([linkOrNull('/proc/self/ns/net')])
  const threads = kernelThreads()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || threads.has(name)) continue
    const namespace = linkOrNull(`/proc/${name}/ns/net`)
    if (namespace === null || seen.has(namespace)) continue
    seen.add(namespace)
    const table = textOrNull(`/proc/${name}/net/unix`)
    if (table !== null) tables.push(table)
  }
  return tables
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
