/**
 * The arguments of bubblewrap, and the shell that waits as first process inside. A function of what is
 * to be mounted where; the order of the lines is what makes it safe.
 *
 * INVARIANT (order): first the machine read-only, then private and masked places, then overlays over
 *   the roots, then what is hidden. A later line covers an earlier one, so nothing shows through.
 */
import type { Mask } from './masks.ts'
import { isWithin } from './mount-table.ts'

export interface Bubble {
  /** Overlays by the path they stand at, outer ones first. */
  readonly binds: readonly { readonly from: string; readonly at: string }[]
  /** Roots that are covered in parts only. */
  readonly shown: readonly string[]
  /** An empty file, to stand for every hidden one. */
  readonly emptyFile: string
  /** Scratch directories for the private places of the machine. */
  readonly scratch: readonly { readonly from: string; readonly at: string }[]
  readonly systemMasks: readonly Mask[]
  readonly procReadOnly: readonly string[]
  readonly procHidden: readonly string[]
  readonly hidden: readonly Mask[]
  readonly uid: number
  readonly gid: number
  /** With the full map bubblewrap stays in the holder's user namespace and keeps these. */
  readonly capabilities: readonly string[] | null
  readonly sharedMemoryBytes: number
}

/** For root over files of many owners; they count in the sandbox's own user namespace only. */
export const OWNER_CAPABILITIES = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_SETUID',
  'CAP_SETGID',
]

/** File descriptors: what bubblewrap reads, and what the waiting shell speaks over. */
export const FD = { filter: 3, holder: 4, inner: 5, script: 6, status: 7, stderr: 8 } as const

/**
 * First process inside. It cannot be killed from inside, says that it is there, waits for the word, runs
 * the script, tells how it ended, and stays until it is killed from outside.
 */
const INNER = [
  `exec ${FD.filter}<&- ${FD.status}>&-`,
  `echo R >&${FD.inner}`,
  // Other lines are sizes of a terminal that came too late for an earlier run.
  `while read -r line <&${FD.inner} || exit; do [ "$line" = go ] && break; done`,
  `. /proc/self/fd/${FD.script}`,
  `echo "X$?" >&${FD.inner}`,
  `while read -r line <&${FD.inner}; do :; done`,
].join('\n')

const RUNTIME_BYTES = 1024 * 1024
const PAGE_BYTES = 4096

export function bubbleArguments(bubble: Bubble): readonly string[] {
  return [
    ...namespaces(bubble),
    ...machine(bubble),
    ...bubble.systemMasks.flatMap((mask) => maskArguments(mask, bubble)),
    ...bubble.scratch.flatMap(({ from, at }) => ['--bind', from, at]),
    ...emptyPlaces(bubble),
    ...bubble.shown.flatMap((path) => ['--ro-bind', path, path]),
    ...bubble.binds.flatMap(({ from, at }) => ['--bind', from, at]),
    ...sealed(bubble),
    ...bubble.hidden.flatMap((mask) => [...maskArguments(mask, bubble), ...sealOf(mask)]),
    ...['--chdir', '/', '--clearenv', '--cap-drop', 'ALL'],
    ...(bubble.capabilities ?? []).flatMap((name) => ['--cap-add', name]),
    ...['--new-session', '--die-with-parent', '--as-pid-1'],
    ...['--seccomp', String(FD.filter), '--json-status-fd', String(FD.status)],
    ...['--', '/bin/sh', '-c', INNER, 'writ'],
  ]
}

function namespaces({ uid, gid, capabilities }: Bubble): readonly string[] {
  const user =
    capabilities === null
      ? ['--unshare-user', '--uid', String(uid), '--gid', String(gid), '--disable-userns']
      : []
  return [
    ...user,
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--hostname', 'writ'],
  ]
}

function machine({
  procReadOnly,
  procHidden,
  emptyFile,
  sharedMemoryBytes,
}: Bubble): readonly string[] {
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev'],
    // bubblewrap's /dev is an unsized, writable tmpfs.
    ...['--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--proc', '/proc'],
    ...procReadOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...procHidden.flatMap((path) => ['--ro-bind', emptyFile, path]),
    ...['--size', String(PAGE_BYTES), '--tmpfs', '/sys/fs/cgroup'],
    ...['--remount-ro', '/sys/fs/cgroup'],
  ]
}

function emptyPlaces({ binds }: Bubble): readonly string[] {
  if (binds.some(({ at }) => at === '/run')) return []
  return ['--size', String(RUNTIME_BYTES), '--tmpfs', '/run']
}

function maskArguments({ path, kind }: Mask, { emptyFile }: Bubble): readonly string[] {
  return kind === 'directory'
    ? ['--size', String(PAGE_BYTES), '--tmpfs', path]
    : ['--ro-bind', emptyFile, path]
}

function sealOf({ path, kind }: Mask): readonly string[] {
  return kind === 'directory' ? ['--remount-ro', path] : []
}

/** Only now: a root inside a masked directory needed a mount point made in it. */
function sealed({ systemMasks, binds }: Bubble): readonly string[] {
  return systemMasks
    .filter(({ path }) => !binds.some(({ at }) => at === path || isWithin(path, at)))
    .flatMap(sealOf)
}
