/**
 * Tries each control for real, as this user, and says how it is had: by the kernel, by supervision, or
 * not at all; with the one command that repairs it. Looks into no list of versions: what works works.
 */
import { mkdirSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  findProgram,
  installCommand,
  type Program,
  removeTree,
  runProgram,
} from '../../machine/index.ts'
import type { Probe } from '../driver/driver.ts'
import { userNamespaceHint } from '../driver/failure.ts'
import { findGroupPlaces, groupCommand } from './cgroup.ts'
import { assembleFilter, assembleRenameFilter, filterBytes } from './seccomp.ts'
import { ownNumber } from './syscalls.ts'

const TRY_MS = 10_000

/** A shell script, and whether it did what it should. */
type Try = (script: string) => Promise<boolean>

export async function probeMachine(base = '/tmp'): Promise<readonly Probe[]> {
  if (process.platform !== 'linux') return [{ name: 'platform', status: 'absent', hint: OTHER }]
  const directory = mkdtempSync(join(base, 'writ-probe-'))
  const attempt: Try = (script) => tried(script, directory)
  try {
    return [
      ...programProbes(),
      ...(await namespaceProbes(attempt)),
      ...(await overlayProbes(attempt)),
      ...(await bubbleProbes(attempt, directory)),
      ...groupProbes(),
    ]
  } finally {
    await removeTree(directory)
  }
}

const OTHER = 'commands can be rehearsed on Linux only; contracts, rules and ledger work here'

const PROGRAMS: readonly Program[] = ['bwrap', 'perl', 'unshare', 'mount', 'mkfifo']

function programProbes(): readonly Probe[] {
  return [...PROGRAMS, 'getfattr' as const].map((name) =>
    verdict(name, findProgram(name) !== null, installCommand(name)),
  )
}

function verdict(name: string, works: boolean, hint: string): Probe {
  return works ? { name, status: 'kernel' } : { name, status: 'absent', hint }
}

async function namespaceProbes(attempt: Try): Promise<readonly Probe[]> {
  const user = await attempt('unshare -U -r true')
  const mount = user && (await attempt('unshare -U -m -r mount -t tmpfs writ "$D"'))
  const network = user && (await attempt('unshare -U -n -r true'))
  const door = network && (await attempt(DOOR))
  const pid = user && (await attempt('unshare -U -p -f -r true'))
  return [
    verdict('user_namespace', user, userNamespaceHint()),
    verdict('mount_namespace', mount, userNamespaceHint()),
    verdict('network_namespace', network, userNamespaceHint()),
    verdict('network_door', door, installCommand('nsenter')),
    verdict('pid_namespace', pid, userNamespaceHint()),
  ]
}

/** Enters the network of a namespace from outside, as the door of a run with a network does. */
const DOOR = [
  'unshare -U -n -r sleep 5 & i=0',
  'until nsenter --user=/proc/$!/ns/user --net=/proc/$!/ns/net --preserve-credentials true; do',
  'i=$((i+1)); [ $i -lt 50 ] || { kill $!; exit 1; }; sleep 0.05; done',
  // Before it has made its own, the namespaces of a process are those of the machine.
  '[ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/self/ns/net)" ]; s=$?; kill $!; exit $s',
].join('\n')

/** A whiteout and an opaque directory are what a diff is read from. */
const OVERLAY = [
  'mkdir -p "$D/l/d" "$D/m" "$T/u" "$T/w" && touch "$D/l/f" "$D/l/d/g"',
  'mount -t overlay writ -o "userxattr,lowerdir=$D/l,upperdir=$T/u,workdir=$T/w" "$D/m"',
  'rm "$D/m/f" && rm -r "$D/m/d" && mkdir "$D/m/d"',
  '[ -c "$T/u/f" ] && [ -z "$(ls -A "$D/m/d")" ] && [ -d "$T/u/d" ]',
].join(' && ')

async function overlayProbes(attempt: Try): Promise<readonly Probe[]> {
  const inNamespace = (script: string): Promise<boolean> =>
    attempt(`unshare -U -m -r sh -c ${JSON.stringify(script).replaceAll('$', '\\$')}`)
  const onDisk = await inNamespace(`T="$D/disk"; mkdir "$T" && ${OVERLAY}`)
  const inMemory = await inNamespace(
    `T="$D/memory"; mkdir "$T" && mount -t tmpfs writ "$T" && ${OVERLAY}`,
  )
  return [
    verdict(
      'overlay_disk',
      onDisk,
      'Linux 5.11 or newer is needed: sudo apt-get install linux-image-amd64',
    ),
    verdict(
      'overlay_memory',
      inMemory,
      'layers lie on the disk instead; Linux 6.6 or newer has both',
    ),
  ]
}

async function bubbleProbes(attempt: Try, directory: string): Promise<readonly Probe[]> {
  const bubble = 'bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc'
  const plain = await attempt(`${bubble} --new-session --die-with-parent true`)
  const terminal =
    plain &&
    findProgram('script') !== null &&
    (await attempt(`${bubble} script -qec true /dev/null`))
  return [
    verdict('bubblewrap', plain, installCommand('bwrap')),
    verdict('seccomp', plain && (await filterWorks(attempt, directory, bubble)), SECCOMP_HINT),
    verdict('terminal', terminal, installCommand('script')),
    verdict('directory_rename', plain && (await tellsRenames(attempt, bubble)), RENAME_HINT),
  ]
}

const SECCOMP_HINT = 'the kernel has to be built with CONFIG_SECCOMP_FILTER, on x86-64 or arm64'

const RENAME_HINT = `directories of the real tree cannot be renamed inside: ${installCommand('perl')}`

/** The kernel tells a process of ours of the calls of others. */
async function tellsRenames(attempt: Try, bubble: string): Promise<boolean> {
  const { arch } = process
  if (findProgram('perl') === null || (arch !== 'x64' && arch !== 'arm64')) return false
  const filter = Buffer.from(filterBytes(assembleRenameFilter(arch))).toString('hex')
  const program = [
    `my $code = pack "H*", "${filter}"`,
    'my $filter = pack "S x6 P", length($code) / 8, $code',
    `exit(syscall(${ownNumber(arch, 'seccomp')}, 1, 8, $filter) < 0)`,
  ].join('; ')
  return attempt(`${bubble} perl -e '${program}'`)
}

/** Under the filter no namespace can be made, and ordinary programs run. */
async function filterWorks(attempt: Try, directory: string, bubble: string): Promise<boolean> {
  if (process.arch !== 'x64' && process.arch !== 'arm64') return false
  writeFileSync(join(directory, 'filter'), filterBytes(assembleFilter(process.arch, 'none')))
  const filtered = `${bubble} --seccomp 3`
  return (
    (await attempt(`${filtered} true 3<"$D/filter"`)) &&
    !(await attempt(`${filtered} unshare -U true 3<"$D/filter"`))
  )
}

/** What cannot be had from the kernel is supervised, so nothing here is ever missing. */
function groupProbes(): readonly Probe[] {
  const places = findGroupPlaces()
  const has = (place: string | null): boolean => place !== null && canMakeGroup(place)
  const cap = (name: string, isKernel: boolean): Probe =>
    isKernel ? { name, status: 'kernel' } : { name, status: 'polled', hint: groupCommand() }
  return [
    cap('cap_memory', has(places.memory)),
    cap('cap_processes', has(places.processes)),
    // The kernel counts processor time of a group but does not stop it.
    { name: 'cap_cpu', status: 'polled' },
    { name: 'cap_duration', status: 'polled' },
    {
      name: 'cap_disk',
      status: 'kernel',
      hint: 'above 256 MB layers lie on the disk and are polled',
    },
  ]
}

function canMakeGroup(place: string): boolean {
  const directory = join(place, `writ-probe-${process.pid}`)
  try {
    mkdirSync(directory)
    rmdirSync(directory)
    return true
  } catch {
    return false
  }
}

async function tried(script: string, directory: string): Promise<boolean> {
  const shell = findProgram('sh')
  if (shell === null) return false
  const options = { variables: { D: directory }, timeout: TRY_MS }
  const { error } = await runProgram(shell, ['-c', script], options)
  return error === null
}
