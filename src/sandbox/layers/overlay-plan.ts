/**
 * Where overlays go: over every scope root and watched root, once. A root inside another shares the
 * outer overlay. Overlayfs in a user namespace cannot lie over a directory with mounts below it: a
 * watched root that has some is covered child by child, a scope root that has some is refused.
 *
 * Attributes that overlayfs itself writes, on roots that are about to lie under one: they would hide
 * or distort what is below. Roots only, and each once while it stays unchanged; what lies deeper is
 * found when changes are read.
 */
import { lstatSync, mkdtempSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { isLeftBehind, ownerMark } from '../driver/owner.ts'
import { isWithin, type MountPoint } from '../kernel/mount-table.ts'

export interface OverlayPlan {
  /** Directories that get an overlay of their own. */
  readonly roots: readonly PlannedRoot[]
  /** Roots that are covered in parts: shown as they are, unwritable, below the overlays. */
  readonly shown: readonly string[]
  /** Directories that should have been covered and are shown as they are, unwritable. */
  readonly readOnly: readonly string[]
}

interface PlannedRoot {
  readonly path: string
  readonly device: number
  readonly inode: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

interface Wanted {
  readonly scopeRoots: readonly string[]
  readonly watchedRoots: readonly string[]
}

/** More are not mounted: a home with so many children around a mount is shown unwritable instead. */
const OVERLAYS_MAX = 128
const KNOWN_MAX = 10_000

export function planOverlays(wanted: Wanted, mounts: readonly MountPoint[]): OverlayPlan {
  const points = mounts.map(({ point }) => point)
  const scope = wanted.scopeRoots.map(requireRoot)
  const readOnly: string[] = []
  const shown: string[] = []
  const covered: PlannedRoot[] = []
  for (const root of outermost([...scope, ...wanted.watchedRoots.flatMap(presentRoot)])) {
    const below = points.filter((point) => point !== root.path && isWithin(point, root.path))
    if (below.length === 0) covered.push(root)
    else {
      shown.push(root.path)
      covered.push(...aroundMounts(root, below, scope, readOnly))
    }
  }
  return { roots: covered, shown, readOnly }
}

/** Sorted by path, so an outer root comes before everything inside it. */
function outermost(roots: readonly PlannedRoot[]): readonly PlannedRoot[] {
  const kept: PlannedRoot[] = []
  for (const root of [...roots].sort((one, other) => (one.path < other.path ? -1 : 1))) {
    if (!kept.some(({ path }) => isWithin(root.path, path))) kept.push(root)
  }
  return kept
}

/** Children without mounts below them get overlays; what leads to a mount stays as it is. */
function aroundMounts(
  root: PlannedRoot,
  below: readonly string[],
  scope: readonly PlannedRoot[],
  readOnly: string[],
): readonly PlannedRoot[] {
  for (const { path } of scope) {
    const inside = below.find((point) => point !== path && isWithin(point, path))
    if (inside !== undefined) throw scopeMount(path, inside)
  }
  const planned: PlannedRoot[] = []
  const open = [root.path]
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    readOnly.push(directory)
    if (below.includes(directory) && !isScoped(directory, scope)) continue
    for (const child of childDirectories(directory)) {
      if (below.some((point) => point !== child.path && isWithin(point, child.path)))
        open.push(child.path)
      else if (below.includes(child.path) && !isScoped(child.path, scope)) readOnly.push(child.path)
      else planned.push(child)
    }
  }
  if (planned.length <= OVERLAYS_MAX) return planned
  return scope.filter(({ path }) => isWithin(path, root.path))
}

function isScoped(path: string, scope: readonly PlannedRoot[]): boolean {
  return scope.some((root) => isWithin(path, root.path) || isWithin(root.path, path))
}

function childDirectories(directory: string): readonly PlannedRoot[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => presentRoot(join(directory, name)))
  } catch {
    // A directory that cannot be listed cannot be written below either.
    return []
  }
}

function presentRoot(path: string): readonly PlannedRoot[] {
  // The root of the whole machine is no workspace and no home that could be covered.
  if (path === '/') return []
  try {
    return [rootAt(path)].filter((root) => root !== null)
  } catch {
    return []
  }
}

function requireRoot(path: string): PlannedRoot {
  const root = path === '/' ? null : rootAt(path)
  if (root === null) {
    throw faultError('sandbox.root', path, `the scope root \`${path}\` is no directory`)
  }
  return root
}

function rootAt(path: string): PlannedRoot | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isDirectory()) return null
  const { dev, ino, mode, uid, gid } = found
  return { path, device: dev, inode: ino, mode: mode & 0o7777, uid, gid }
}

function scopeMount(path: string, inside: string) {
  const message = `another filesystem is mounted at \`${inside}\`, inside the scope root \`${path}\``
  return faultError('sandbox.scope_mount', path, message, 'narrow the scope to one filesystem')
}

export class RootAttributes {
  readonly #clean = new Set<string>()

  /** Those that have to be looked at. */
  unknown(roots: readonly PlannedRoot[]): readonly PlannedRoot[] {
    return roots.filter((root) => !this.#clean.has(stateOf(root)))
  }

  /** Remembers roots of which the holder found that they carry no such attribute. */
  take(roots: readonly PlannedRoot[]): void {
    if (this.#clean.size > KNOWN_MAX) this.#clean.clear()
    for (const root of roots) this.#clean.add(stateOf(root))
  }
}

/** As `getfattr` lists them. */
export function refuseCarriers(listed: string): void {
  const carrier = /^# file: (.*)$/m.exec(listed)?.[1]
  if (carrier !== undefined) throw carries(carrier)
}

/** Setting an attribute moves the time of the last change. */
function stateOf({ path, device, inode }: PlannedRoot): string {
  const changed = lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? 0n
  return `${device}:${inode}:${changed}`
}

function carries(path: string) {
  const message = `the scope root \`${path}\` carries attributes named \`user.overlay.…\``
  const hint = `setfattr -x user.overlay.opaque ${path}`
  return faultError('sandbox.overlay_attributes', path, message, hint)
}

/** The one that outlives a start of the machine is mostly on a disk, and so comes first. */
const TEMPORARY = ['/var/tmp', '/tmp']
const PREFIX = 'writ-'

/**
 * Chooses where the lower layers of an overlay lie: overlayfs refuses a layer that lies inside
 * another one of the same overlay. The state directory is usually inside the home, which an overlay
 * covers. Then the layers go to `/var/tmp` or `/tmp`, into directories with unpredictable names.
 * Returns a directory for layers under views that cover these real paths: in `place`, where it is
 * yet to be made, or in one that is made here.
 */
export function layerDirectory(place: string, covered: readonly string[], name: string): string {
  // The root of the whole machine is never covered.
  const isApart = (path: string): boolean =>
    !covered.some((root) => root !== '/' && isWithin(path, root))
  if (isApart(realpathSync(place))) return join(place, `${ownerMark()}-${name}.upper`)
  for (const temporary of TEMPORARY) {
    const directory = isApart(temporary) ? madeIn(temporary) : null
    if (directory !== null) return directory
  }
  const message = `staged work cannot be laid over ${covered.map((path) => `\`${path}\``).join(', ')}: the state directory and ${TEMPORARY.join(' and ')} lie inside, or nothing can be made there`
  const hint = 'set XDG_STATE_HOME to a directory outside of them, then `writ init` again'
  throw faultError('sandbox.filesystem', place, message, hint)
}

function madeIn(temporary: string): string | null {
  try {
    return mkdtempSync(join(temporary, `${PREFIX}${ownerMark()}-`))
  } catch {
    // A machine without it, or one where other users may not use it.
    return null
  }
}

/** What processes of this user left there that are gone. */
export function leftApart(namesIn: (directory: string) => readonly string[]): readonly string[] {
  return TEMPORARY.flatMap((temporary) =>
    namesIn(temporary)
      .filter((name) => isLeftBehind(name, PREFIX))
      .map((name) => join(temporary, name))
      .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()),
  )
}

/**
 * What a view is made of that lies over the real tree: directories that each hold a part of the
 * machine's tree, from its root on, as overlays write it down. Asked before anything is mounted; one
 * flat stack, never an overlay on an overlay. Returns a function that tells what is there when all
 * layers lie over one another; null for nothing, or behind a link. It looks at each entry once.
 */
export function stackOf(layers: readonly string[]): (path: string) => 'directory' | 'file' | null {
  const seen = new Map<string, Stats | null>()
  const look = (path: string): Stats | null => {
    const known = seen.get(path)
    if (known !== undefined) return known
    const stats = statsOf(path)
    seen.set(path, stats)
    return stats
  }
  return (path) => kindInStack(path, layers, look)
}

function kindInStack(
  path: string,
  layers: readonly string[],
  look: (path: string) => Stats | null,
): 'directory' | 'file' | null {
  const names = path.split('/').filter((name) => name !== '')
  let open = ['', ...layers]
  let [place, kind]: [string, Stats | null] = ['/', null]
  for (const name of names) {
    place = join(place, name)
    const found = open.map((layer) => [layer, look(`${layer}${place}`)] as const)
    const top = found.findLast(([, stats]) => stats !== null)?.[1] ?? null
    if (top === null || isWhiteout(top) || top.isSymbolicLink()) return null
    kind = top
    // Below, only directories count, and none under something else that covers it.
    const from = found.findLastIndex(([, stats]) => stats !== null && !stats.isDirectory())
    open = found.flatMap(([layer, stats], index) => (index > from && stats !== null ? [layer] : []))
  }
  if (kind === null) return null
  return kind.isDirectory() ? 'directory' : 'file'
}

function isWhiteout(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    // A place that cannot be looked at from here cannot be looked at from inside either.
    return null
  }
}

/** The layers that have something in a root, the topmost first; without the real one. */
export function layersOver(root: string, layers: readonly string[]): readonly string[] {
  return layers
    .map((layer) => `${layer}${root}`)
    .filter((directory) => statsOf(directory)?.isDirectory() === true)
    .reverse()
}
