/**
 * The machine's tree as a sandbox shows it, put together from parts. A read-only bind does not stop a
 * process from connecting to a unix socket, writing to a named pipe or locking a file; a read-only
 * overlay does, because a file that is seen through it is another inode. So every directory of the
 * machine is shown through an overlay of its own.
 *
 * Overlayfs in a user namespace cannot cover a directory with mounts below it. Such a directory is made
 * empty, and its entries are shown one by one. A filesystem that cannot hold sockets is bound.
 */
import { type Dirent, opendirSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin, type MountPoint } from '../kernel/mount-table.ts'

export interface MachineView {
  /** Directories that a read-only overlay shows. */
  readonly covered: readonly string[]
  /** Directories that are bound with everything mounted below them. */
  readonly bound: readonly string[]
  /** Single files that are bound. */
  readonly files: readonly string[]
  /** Directories that hold others of these; outer ones first. */
  readonly made: readonly string[]
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** Sockets, pipes and devices, in whose place there is an empty file. */
  readonly emptied: readonly string[]
  /** Directories with too many parts, which are shown empty. */
  readonly unseen: readonly string[]
}

/** bubblewrap mounts something of its own there. */
const REPLACED = ['/dev', '/proc', '/run', '/tmp', '/var/tmp']
/** Shows the kernel and nothing else. */
const KERNEL = '/sys'

/** Filesystems on which no socket can be made. */
const SOCKETLESS = new Set([
  ...['binfmt_misc', 'bpf', 'cgroup', 'cgroup2', 'configfs', 'cramfs', 'debugfs', 'devpts'],
  ...['efivarfs', 'erofs', 'exfat', 'fusectl', 'iso9660', 'mqueue', 'msdos', 'nsfs', 'proc'],
  ...['pstore', 'securityfs', 'selinuxfs', 'squashfs', 'sysfs', 'tracefs', 'udf', 'vfat'],
])

/** A directory that would need more parts than this is shown empty. */
const PARTS_MAX = 1024

interface Machine {
  readonly mounts: readonly MountPoint[]
  /** Shown even where the directory that holds them cannot be listed. */
  readonly roots: readonly string[]
  /** Those roots that no single overlay covers. */
  readonly parts: readonly string[]
  /** Whether a mask hides a directory with everything in it. */
  isMasked(directory: string): boolean
}

export function planMachineView(machine: Machine): MachineView {
  return show('/', machine)
}

const NOTHING: MachineView = {
  covered: [],
  bound: [],
  files: [],
  made: [],
  links: [],
  emptied: [],
  unseen: [],
}

function show(directory: string, machine: Machine): MachineView {
  if (REPLACED.includes(directory)) return showParts(directory, machine)
  if (directory === KERNEL) return { ...NOTHING, bound: [directory] }
  // An empty directory needs no overlay: nothing in it can be reached.
  if (directory !== '/' && isEmpty(directory)) return { ...NOTHING, made: [directory] }
  const isBelow = ({ point }: MountPoint): boolean =>
    point !== directory && isWithin(point, directory)
  if (directory === '/' || machine.mounts.some(isBelow)) return showEntries(directory, machine)
  const isSocketless = SOCKETLESS.has(filesystemOf(directory, machine.mounts))
  return isSocketless ? { ...NOTHING, bound: [directory] } : { ...NOTHING, covered: [directory] }
}

/** Shows what is asked for below a directory that has nothing else to show, and the way to it. */
function showParts(directory: string, machine: Machine): MachineView {
  if (machine.parts.includes(directory)) return showEntries(directory, machine)
  return namesBelow(directory, machine.parts)
    .map((name) => showParts(join(directory, name), machine))
    .reduce(joined, { ...NOTHING, made: [directory] })
}

function showEntries(directory: string, machine: Machine): MachineView {
  const empty = { ...NOTHING, made: [directory] }
  if (machine.isMasked(directory)) return empty
  const view = entriesOf(directory, machine)
    .map(([name, kind]) =>
      showEntry(`${directory === '/' ? '' : directory}/${name}`, kind, machine),
    )
    .reduce(joined, empty)
  const isBounded = view.covered.length + view.bound.length + view.files.length <= PARTS_MAX
  return isBounded ? view : { ...empty, unseen: [directory] }
}

/** Returns false for a directory that this user may not list. */
function isEmpty(directory: string): boolean {
  try {
    const handle = opendirSync(directory)
    try {
      return handle.readSync() === null
    } finally {
      handle.closeSync()
    }
  } catch {
    return false
  }
}

type Kind = 'directory' | 'file' | 'link' | 'other'

function showEntry(path: string, kind: Kind, machine: Machine): MachineView {
  switch (kind) {
    case 'directory':
      return show(path, machine)
    case 'file':
      return { ...NOTHING, files: [path] }
    case 'link':
      return { ...NOTHING, links: linkAt(path) }
    case 'other':
      return { ...NOTHING, emptied: [path] }
    default:
      return kind satisfies never
  }
}

function joined(one: MachineView, other: MachineView): MachineView {
  return {
    covered: [...one.covered, ...other.covered],
    bound: [...one.bound, ...other.bound],
    files: [...one.files, ...other.files],
    made: [...one.made, ...other.made],
    links: [...one.links, ...other.links],
    emptied: [...one.emptied, ...other.emptied],
    unseen: [...one.unseen, ...other.unseen],
  }
}

/** Returns the mount points and roots of a directory that this user may pass through but not list. */
function entriesOf(
  directory: string,
  { mounts, roots }: Machine,
): readonly (readonly [string, Kind])[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).map((entry) => [
      entry.name,
      kindOf(entry),
    ])
  } catch {
    const known = [...mounts.map(({ point }) => point), ...roots]
    return namesBelow(directory, known).map((name) => [name, 'directory'])
  }
}

function namesBelow(directory: string, paths: readonly string[]): readonly string[] {
  const below = paths.filter((path) => path !== directory && isWithin(path, directory))
  return [...new Set(below.map((path) => path.slice(directory.length).split('/')[1] ?? ''))]
}

function kindOf(entry: Dirent): Kind {
  if (entry.isDirectory()) return 'directory'
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function linkAt(path: string): MachineView['links'] {
  try {
    return [{ path, target: readlinkSync(path) }]
  } catch {
    // Removed since it was listed.
    return []
  }
}

/** Returns the type of the filesystem that a directory lies on: of the innermost mount, the last of several. */
function filesystemOf(directory: string, mounts: readonly MountPoint[]): string {
  const [first] = mounts
  return mounts
    .filter(({ point }) => isWithin(directory, point))
    .reduce((inner, mount) => (mount.point.length >= inner.point.length ? mount : inner), {
      point: '',
      filesystem: first?.filesystem ?? '',
    }).filesystem
}
