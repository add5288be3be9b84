/**
 * What the holder mounts, as lines of an fstab: one program mounts them all. Overlays first, then
 * directories that bubblewrap binds later, then masks: a mask may hide where a layer lies. Last come
 * views of the overlays whose sealed parts are read-only.
 *
 * Links in the working directory stand for real paths wherever a path would be an option, so that no
 * character of it can mean anything there; targets are escaped.
 */
import { join } from 'node:path'
import { isWithin } from '../kernel/mount-table.ts'
import type { MachineView } from './machine-view.ts'
import type { Mask } from './masks.ts'
import type { OverlayPlan } from './overlay-plan.ts'

/**
 * The small memory filesystem of the holder: every mount point lies in it, and the view of the machine.
 * On a disk each of its entries would be created and removed in a journal, and ext4 looks at every
 * inode that was freed in the last five seconds before it takes one.
 */
export const VIEW = 'v'
/** In it: the machine's root as the sandbox shows it, and an empty directory. */
export const MACHINE = `${VIEW}/m`
const NOTHING = `${VIEW}/n`
/**
 * The working directory once more, mounted read-only. A process inside can reopen a file that it holds
 * open, for writing, and change its mode, unless the file lies on such a mount.
 */
export const READ_ONLY = `${VIEW}/r`
/** By the place of a root: a link to it, what lies over it, and what it was before. */
const LOWER = `${VIEW}/l`
export const MERGED = `${VIEW}/o`
/** By the place of a root with sealed parts: what lies over it, with these read-only. */
export const SEALED = `${VIEW}/s`
export const BEFORE = `${VIEW}/b`
/** By the place of a private directory: where it is bound. */
export const SCRATCH = `${VIEW}/p`
/** What covers hidden files and banned ones. */
export const EMPTY_FILE = `${VIEW}/empty`
const BANNED_FILE = `${VIEW}/banned`
/** What covers banned paths where root keeps the right to open every file. */
export const CLOSED_FILE = 'closed'
export const CLOSED_DIRECTORY = 'closed-directory'
/** A part of the view whose filesystem no overlay can cover stays empty. */
export const MAY_FAIL = 'X-writ.may-fail'
/** Programs below a read-only mount may be started. */
export const RUNS = 'X-writ.runs'

/**
 * Of layers that outlive the sandbox: nothing is left to a lost cache, and no entry depends on another
 * place than its own. With `userxattr` the kernel refuses every value of `redirect_dir` and follows none.
 */
const KEPT_OPTIONS = 'userxattr,index=off,metacopy=off'

interface MountPlan {
  /** The working directory; its name needs no escape. */
  readonly directory: string
  readonly roots: readonly string[]
  /** The numbers of the layers of the roots, and whether those outlive the sandbox. */
  readonly numbers: readonly number[]
  readonly isKept: boolean
  /** How many layers lie over each root, by its place in the list. */
  readonly layers: readonly number[]
  readonly view: MachineView
  readonly scratch: number
  readonly masks: readonly Mask[]
  /** Paths inside the roots that processes see read-only; an outer one comes before those inside it. */
  readonly sealed: readonly string[]
  /** Entries of an unknown owner are there to cover banned paths. */
  readonly isClosed: boolean
}

export function mountLines(plan: MountPlan): string {
  const { directory, roots, layers, view, scratch, masks, sealed, isClosed, numbers, isKept } = plan
  const options = isKept ? KEPT_OPTIONS : 'userxattr,volatile'
  const at = (name: string): string => `${directory}/${name}`
  const lines = [
    ...roots.flatMap((_, index) => {
      const over = range(layers[index] ?? 0).map((layer) => at(`${LOWER}${index}.${layer}`))
      const lower = `lowerdir=${[...over, at(`${LOWER}${index}`)].join(':')}`
      const number = numbers[index] ?? index
      const upper = `upperdir=${at(`t/u${number}`)},workdir=${at(`t/w${number}`)}`
      const merged = `writ ${at(`${MERGED}${index}`)} overlay ${options},${lower},${upper}`
      // What was before, seen as one: both lie flat on the same layers.
      const before = `writ ${at(`${BEFORE}${index}`)} overlay ro,userxattr,${lower}`
      return over.length === 0 ? [merged] : [merged, before]
    }),
    ...viewLines(view, directory),
    ...range(scratch).map((index) => `${at(`t/p${index}`)} ${at(`${SCRATCH}${index}`)} none bind`),
    `${directory} ${at(READ_ONLY)} none bind,ro`,
    ...masks.map((mask) => {
      const target = escaped(seenAt(mask.path, roots, directory))
      const isShut = isClosed && mask.isBanned === true
      return isShut ? closedLine(mask, at, target) : maskLine(mask, at, target)
    }),
    ...sealedRoots(roots, sealed).map(
      (index) => `${at(`${MERGED}${index}`)} ${at(`${SEALED}${index}`)} none rbind`,
    ),
    ...sealed.map((path) => {
      const place = escaped(seenAt(path, roots, directory, SEALED))
      return `${place} ${place} none rbind,ro,${RUNS}`
    }),
  ]
  return lines.map((line) => `${line} 0 0\n`).join('')
}

/** Returns the places in the list of those roots that have sealed parts. */
export function sealedRoots(
  roots: readonly string[],
  sealed: readonly string[],
): readonly number[] {
  return roots.flatMap((root, index) =>
    sealed.some((path) => isWithin(path, root)) ? [index] : [],
  )
}

/** An overlay needs a second layer where nothing is written to it. */
function viewLines({ covered, bound, files }: MachineView, directory: string): readonly string[] {
  const source = (index: number): string => `${directory}/${linkOf(index)}`
  const target = (path: string): string => escaped(`${directory}/${MACHINE}${path}`)
  const nothing = `${directory}/${NOTHING}`
  return [
    ...covered.map(
      (path, index) =>
        `writ ${target(path)} overlay ro,${MAY_FAIL},lowerdir=${source(index)}:${nothing}`,
    ),
    ...[...bound, ...files].map(
      (path, index) => `${source(covered.length + index)} ${target(path)} none rbind`,
    ),
  ]
}

/** The link to a part of the view, by its place among the covered and the bound ones. */
function linkOf(part: number): string {
  return `${VIEW}/c${part}`
}

/**
 * Inside a root a mask lies on the merged directory, which bubblewrap binds with all it carries, and
 * elsewhere on the view of the machine.
 */
function seenAt(
  path: string,
  roots: readonly string[],
  directory: string,
  over: string = MERGED,
): string {
  const index = roots.findIndex((root) => isWithin(path, root))
  const root = roots[index]
  if (root === undefined) return `${directory}/${MACHINE}${path}`
  return join(directory, `${over}${index}`, path.slice(root.length))
}

function maskLine({ kind, isBanned }: Mask, at: (name: string) => string, target: string): string {
  return kind === 'directory'
    ? `writ ${target} tmpfs ro,size=4k,nr_inodes=2,mode=${isBanned ? '000' : '555'}`
    : `${at(isBanned ? BANNED_FILE : EMPTY_FILE)} ${target} none bind,ro`
}

function closedLine({ kind }: Mask, at: (name: string) => string, target: string): string {
  return `${at(kind === 'directory' ? CLOSED_DIRECTORY : CLOSED_FILE)} ${target} none bind,ro`
}

function escaped(path: string): string {
  return path.replaceAll(/[\s\\#"']/g, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  )
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}

export type PreparedEntry =
  | { readonly kind: 'directory'; readonly name: string }
  | { readonly kind: 'link'; readonly name: string; readonly target: string }
  | { readonly kind: 'file'; readonly name: string; readonly mode: number }

/**
 * What the holder creates in the working directory of a sandbox before it mounts anything: mount points,
 * links to real paths, and files that are mounted over others.
 *
 * `over` are the layers over each root, `scratch` says how many private places lie on a disk.
 */
export function preparedEntries(
  { roots }: OverlayPlan,
  view: MachineView,
  over: readonly (readonly string[])[],
  scratch: number,
): readonly PreparedEntry[] {
  return [
    ...roots.flatMap(({ path }, index) => [
      { kind: 'link' as const, name: `${LOWER}${index}`, target: path },
      directory(`${MERGED}${index}`),
      directory(`${SEALED}${index}`),
    ]),
    ...over.flatMap((layers, index) => layersOf(layers, index)),
    ...viewParts(view),
    directory(READ_ONLY),
    // On a disk they may lie where a mask goes, so they are bound here first.
    ...Array.from({ length: scratch }, (_, index) => directory(`${SCRATCH}${index}`)),
    { kind: 'file', name: EMPTY_FILE, mode: 0o444 },
    { kind: 'file', name: BANNED_FILE, mode: 0o000 },
  ]
}

/** What lies in the memory filesystem of the view before its parts are mounted. */
function viewParts(view: MachineView): readonly PreparedEntry[] {
  const { covered, bound, files, made, links, emptied } = view
  const at = (path: string): string => `${MACHINE}${path}`
  const empty = (path: string) => ({ kind: 'file' as const, name: at(path), mode: 0o444 })
  return [
    directory(NOTHING),
    ...[...made, ...covered, ...bound].map((path) => directory(at(path))),
    ...[...files, ...emptied].map(empty),
    ...links.map(({ path, target }) => ({ kind: 'link' as const, name: at(path), target })),
    ...[...covered, ...bound, ...files].map((target, index) => {
      return { kind: 'link' as const, name: linkOf(index), target }
    }),
  ]
}

function layersOf(layers: readonly string[], index: number): readonly PreparedEntry[] {
  if (layers.length === 0) return []
  const links = layers.map((target, depth) => {
    return { kind: 'link' as const, name: `${LOWER}${index}.${depth}`, target }
  })
  return [directory(`${BEFORE}${index}`), ...links]
}

function directory(name: string): PreparedEntry {
  return { kind: 'directory', name }
}
