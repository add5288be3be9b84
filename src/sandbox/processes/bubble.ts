/**
 * The arguments of bubblewrap: a function of what is bound where. The order of the lines is what makes
 * it safe.
 *
 * INVARIANT (order): first the machine as the holder shows it, read-only, then private and masked
 *   places, then the roots. A later line covers an earlier one, so nothing shows through.
 *
 * For every bind bubblewrap reads the whole mount table, so the holder mounts as much as it can before.
 */
import type { ProcMasks } from '../layers/masks.ts'

interface Bind {
  readonly from: string
  readonly at: string
}

export interface BubblewrapOptions {
  /** The directory that becomes the root. */
  readonly machine: string
  /** Overlays by the path they stand at. */
  readonly binds: readonly Bind[]
  /** Roots that are covered in parts only, unwritable. */
  readonly shown: readonly Bind[]
  /** Directories for the private places of the machine. */
  readonly scratch: readonly Bind[]
  /** Directories that are emptied before roots inside them are bound. */
  readonly masks: readonly string[]
  /** The same in places that are private anyway, and so after those. */
  readonly emptied: readonly string[]
  /** The directory with the pipes of the side shell, and where it is seen; null without a channel. */
  readonly tools: Bind | null
  /** Directories of writ's own, writable, in which roots may lie. */
  readonly private: readonly Bind[]
  /** What lies at /dev/shm; null for memory of its own. */
  readonly sharedMemory: string | null
  /** As root only, whom the kernel would let write there. */
  readonly proc: ProcMasks | null
  /** An empty file, to stand for every hidden one. */
  readonly emptyFile: string
  readonly uid: number
  readonly gid: number
  /** With the full map bubblewrap stays in the holder's user namespace and keeps these. */
  readonly capabilities: readonly string[] | null
  readonly sharedMemoryBytes: number
  /** The command line of the first process inside. */
  readonly first: readonly string[]
}

export const OPENS_ALL = 'CAP_DAC_OVERRIDE'

/** For root; they count in the sandbox's own user namespace only. */
export const OWNER_CAPABILITIES = [
  'CAP_CHOWN',
  OPENS_ALL,
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_SETUID',
  'CAP_SETGID',
]

/** File descriptors: what bubblewrap reads, and what the shells inside speak over. */
export const FD = {
  filter: 3,
  holder: 4,
  /** Inside, where `holder` is not open: the script of the shell that becomes the command. */
  own: 4,
  inner: 5,
  /** What the first process reads that belongs around a command. */
  around: 6,
  status: 7,
  stderr: 8,
  channel: 9,
  keeper: 10,
} as const

const RUNTIME_BYTES = 1024 * 1024
const PAGE_BYTES = 4096

export function bubbleArguments(bubble: BubblewrapOptions): readonly string[] {
  const bind =
    (option: string) =>
    ({ from, at }: Bind) => [option, from, at]
  return [
    ...namespaces(bubble),
    ...machine(bubble),
    ...bubble.masks.flatMap(emptied),
    ...bubble.scratch.flatMap(bind('--bind')),
    ...(bubble.binds.some(({ at }) => at === '/run') ? [] : runtime()),
    ...bubble.emptied.flatMap(emptied),
    ...bubble.private.flatMap(bind('--bind')),
    ...bubble.shown.flatMap(bind('--ro-bind')),
    ...bubble.binds.flatMap(bind('--bind')),
    ...(bubble.tools === null ? [] : bind('--ro-bind')(bubble.tools)),
    // Only now: places for the roots were made in the emptied ones.
    ...closed(bubble, [...bubble.masks, ...bubble.emptied]),
    ...['--chdir', '/', '--clearenv', '--cap-drop', 'ALL'],
    ...(bubble.capabilities ?? []).flatMap((name) => ['--cap-add', name]),
    ...['--new-session', '--die-with-parent', '--as-pid-1'],
    ...['--seccomp', String(FD.filter), '--json-status-fd', String(FD.status)],
    ...['--', ...bubble.first],
  ]
}

function namespaces({ uid, gid, capabilities }: BubblewrapOptions): readonly string[] {
  const user =
    capabilities === null
      ? ['--unshare-user', '--uid', String(uid), '--gid', String(gid), '--disable-userns']
      : []
  return [
    ...user,
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--hostname', 'localhost'],
  ]
}

function machine(bubble: BubblewrapOptions): readonly string[] {
  const { proc, emptyFile, sharedMemoryBytes, sharedMemory } = bubble
  const memory =
    sharedMemory === null
      ? ['--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm']
      : ['--bind', sharedMemory, '/dev/shm']
  const hidden = [...(proc?.hiddenDirectories ?? []), '/sys/fs/cgroup']
  return [
    ...['--ro-bind', bubble.machine, '/', '--dev', '/dev'],
    // bubblewrap's /dev is an unsized, writable tmpfs.
    ...[...memory, '--remount-ro', '/dev'],
    ...['--proc', '/proc'],
    ...(proc?.readOnly ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...(proc?.hiddenFiles ?? []).flatMap((path) => ['--ro-bind', emptyFile, path]),
    ...hidden.flatMap(emptied),
    ...closed(bubble, [...hidden, '/proc']),
  ]
}

/** Returns arguments for an empty directory that not even its owner may write without capabilities. */
function emptied(path: string): readonly string[] {
  return ['--perms', '0555', '--size', String(PAGE_BYTES), '--tmpfs', path]
}

/** Remounts read-only if the command has capabilities, with which it could ignore the modes there. */
function closed({ capabilities }: BubblewrapOptions, paths: readonly string[]): readonly string[] {
  return capabilities === null ? [] : paths.flatMap((path) => ['--remount-ro', path])
}

function runtime(): readonly string[] {
  return ['--size', String(RUNTIME_BYTES), '--tmpfs', '/run']
}
