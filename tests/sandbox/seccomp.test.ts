/**
 * The filter as a function: tables of calls and what becomes of them, run by an interpreter on both
 * architectures, for both socket profiles. Numbers are written out here a second time, on purpose.
 */
import { describe, expect, it } from 'vitest'
import type { SocketProfile } from '../../src/sandbox/driver/driver.ts'
import {
  assembleFilter,
  assembleRenameFilter,
  filterBytes,
} from '../../src/sandbox/kernel/seccomp.ts'
import type { Architecture } from '../../src/sandbox/kernel/syscalls.ts'
import { interpret } from './interpreter.ts'

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 }
const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64']
const PROFILES: readonly SocketProfile[] = ['none', 'inside']

/** name: x64, arm64; -1 where there is none. */
const REFUSED: Readonly<Record<string, readonly [number, number]>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  lookup_dcookie: [212, 18],
  modify_ldt: [154, -1],
  uselib: [134, -1],
  ustat: [136, -1],
  sysfs: [139, -1],
  _sysctl: [156, -1],
  nfsservctl: [180, 42],
  syslog: [103, 116],
  lsm_set_self_attr: [460, 460],
  mount: [165, 40],
  umount2: [166, 39],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pivot_root: [155, 41],
  chroot: [161, 51],
  setns: [308, 268],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, -1],
  get_kernel_syms: [177, -1],
  query_module: [178, -1],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  iopl: [172, -1],
  ioperm: [173, -1],
}

/** Ordinary calls that every program makes. */
const ORDINARY: Readonly<Record<string, readonly [number, number]>> = {
  read: [0, 63],
  write: [1, 64],
  openat: [257, 56],
  execve: [59, 221],
  mmap: [9, 222],
  futex: [202, 98],
  exit_group: [231, 94],
  unlinkat: [263, 35],
  renameat2: [316, 276],
  statx: [332, 291],
  fchmodat2: [452, 452],
  setxattr: [188, 5],
  connect: [42, 203],
  sendmsg: [46, 211],
  prctl: [157, 167],
  seccomp: [317, 277],
  pidfd_open: [434, 434],
  close_range: [436, 436],
  landlock_create_ruleset: [444, 444],
  memfd_create: [319, 279],
  removexattrat: [466, 466],
}

const HIGH = 0xdeadbeefn << 32n

/** call, x64 and arm64 number, arguments, what becomes of it (by profile where it differs). */
const BY_ARGUMENTS: readonly [
  name: string,
  numbers: readonly [number, number],
  values: readonly bigint[],
  none: number,
  inside?: number,
][] = [
  ['clone of a thread', [56, 220], [0x3d0f00n], ALLOW],
  ['clone as fork', [56, 220], [0x1200011n], ALLOW],
  ['clone NEWUSER', [56, 220], [0x10000011n], EPERM],
  ['clone NEWNS', [56, 220], [0x20011n], EPERM],
  ['clone NEWPID', [56, 220], [0x20000011n], EPERM],
  ['clone NEWNET', [56, 220], [0x40000011n], EPERM],
  ['clone NEWUTS', [56, 220], [0x4000011n], EPERM],
  ['clone NEWIPC', [56, 220], [0x8000011n], EPERM],
  ['clone NEWCGROUP', [56, 220], [0x2000011n], EPERM],
  ['clone NEWUSER below a filled upper half', [56, 220], [HIGH | 0x10000011n], EPERM],
  ['clone3', [435, 435], [0n], ENOSYS],
  ['unshare of files', [272, 97], [0x400n], ALLOW],
  ['unshare NEWUSER', [272, 97], [0x10000000n], EPERM],
  ['unshare NEWNS', [272, 97], [0x20000n], EPERM],
  ['unshare NEWTIME', [272, 97], [0x80n], EPERM],
  ['unshare NEWNET below a filled upper half', [272, 97], [HIGH | 0x40000000n], EPERM],
  ['ioctl TCGETS', [16, 29], [0n, 0x5401n], ALLOW],
  ['ioctl TIOCGWINSZ', [16, 29], [0n, 0x5413n], ALLOW],
  ['ioctl TIOCSTI', [16, 29], [0n, 0x5412n], EPERM],
  ['ioctl TIOCSTI below a filled upper half', [16, 29], [0n, HIGH | 0x5412n], EPERM],
  ['ioctl TIOCLINUX', [16, 29], [0n, 0x541cn], EPERM],
  ['ioctl TIOCCONS', [16, 29], [0n, 0x541dn], EPERM],
  ['socket AF_UNIX', [41, 198], [1n, 1n, 0n], EAFNOSUPPORT, ALLOW],
  ['socket AF_UNIX, upper half', [41, 198], [HIGH | 1n, 1n, 0n], EAFNOSUPPORT, ALLOW],
  ['socket AF_INET', [41, 198], [2n, 1n, 0n], ALLOW],
  ['socket AF_INET with flags', [41, 198], [2n, 0x80801n, 6n], ALLOW],
  ['socket AF_INET6', [41, 198], [10n, 2n, 0n], ALLOW],
  ['socket AF_INET raw', [41, 198], [2n, 3n, 1n], EPERM],
  ['socket AF_INET raw with flags', [41, 198], [2n, HIGH | 0x80003n, 1n], EPERM],
  ['socket AF_INET6 raw', [41, 198], [10n, 3n, 58n], EPERM],
  ['socket AF_INET packet', [41, 198], [2n, 10n, 3n], EPERM],
  ['socket AF_NETLINK route', [41, 198], [16n, 3n, 0n], ALLOW],
  ['socket AF_NETLINK audit', [41, 198], [16n, 3n, 9n], EPERM],
  ['socket AF_NETLINK uevent', [41, 198], [16n, 3n, HIGH | 15n], EPERM],
  ['socket AF_PACKET', [41, 198], [17n, 3n, 0n], EAFNOSUPPORT],
  ['socket AF_VSOCK', [41, 198], [40n, 1n, 0n], EAFNOSUPPORT],
  ['socket AF_ALG', [41, 198], [38n, 5n, 0n], EAFNOSUPPORT],
  ['socket AF_BLUETOOTH', [41, 198], [31n, 3n, 0n], EAFNOSUPPORT],
  ['socket AF_XDP', [41, 198], [44n, 3n, 0n], EAFNOSUPPORT],
  ['socketpair AF_UNIX', [53, 199], [1n, 1n, 0n], ALLOW],
  ['socketpair AF_TIPC', [53, 199], [30n, 1n, 0n], EAFNOSUPPORT],
  ['personality, asked', [135, 92], [0xffffffffn], ALLOW],
  ['personality, ordinary', [135, 92], [0n], ALLOW],
  ['personality, 32 bits', [135, 92], [8n], ALLOW],
  ['personality READ_IMPLIES_EXEC', [135, 92], [0x400000n], EPERM],
  ['personality ADDR_NO_RANDOMIZE', [135, 92], [0x40000n], EPERM],
]

describe.each(ARCHITECTURES)('the filter for %s', (architecture) => {
  const index = architecture === 'x64' ? 0 : 1
  const ask = (sockets: SocketProfile, number: number, values: readonly bigint[] = []): number =>
    interpret(assembleFilter(architecture, sockets), {
      architecture: AUDIT[architecture],
      number,
      arguments: values,
    })

  it.each(Object.entries(REFUSED))('refuses %s', (_, numbers) => {
    if (numbers[index] === -1) return
    for (const profile of PROFILES) expect(ask(profile, numbers[index] ?? 0)).toBe(EPERM)
  })

  it.each(Object.entries(ORDINARY))('lets %s through', (_, numbers) => {
    for (const profile of PROFILES) expect(ask(profile, numbers[index] ?? 0)).toBe(ALLOW)
  })

  it.each(BY_ARGUMENTS)('judges %s', (_, numbers, values, none, inside = none) => {
    expect(ask('none', numbers[index] ?? 0, values)).toBe(none)
    expect(ask('inside', numbers[index] ?? 0, values)).toBe(inside)
  })

  it('knows no number beyond its table, the x32 ones included', () => {
    for (const number of [467, 468, 500, 1000, 0x40000000, 0x40000101, 0x7fffffff, 0xffffffff]) {
      expect(ask('inside', number)).toBe(ENOSYS)
    }
  })

  it('refuses nothing by accident', () => {
    const refused = new Set(
      [...Object.values(REFUSED), [435, 435]].map((numbers) => numbers[index] ?? -1),
    )
    const judged = new Set(BY_ARGUMENTS.map(([, numbers]) => numbers[index] ?? -1))
    for (let number = 0; number <= 466; number++) {
      if (!refused.has(number) && !judged.has(number)) expect(ask('inside', number)).toBe(ALLOW)
    }
  })

  it('kills calls of every other architecture', () => {
    for (const [name, audit] of Object.entries(AUDIT)) {
      if (name === architecture) continue
      const program = assembleFilter(architecture, 'inside')
      expect(interpret(program, { architecture: audit, number: 1, arguments: [] })).toBe(KILL)
    }
  })

  it('fits what the kernel takes', () => {
    for (const profile of PROFILES) {
      const program = assembleFilter(architecture, profile)
      expect(program.length).toBeLessThan(4096)
      for (const { jumpTrue, jumpFalse } of program) {
        expect(Math.max(jumpTrue, jumpFalse)).toBeLessThan(256)
      }
      expect(filterBytes(program).length).toBe(program.length * 8)
    }
  })
})

const TELL = 0x7fc00000
/** name: x64, arm64; -1 where there is none. */
const TOLD: Readonly<Record<string, readonly [number, number]>> = {
  rename: [82, -1],
  renameat: [264, 38],
  renameat2: [316, 276],
  landlock_restrict_self: [446, 446],
}

describe.each(ARCHITECTURES)('renames on %s', (architecture) => {
  const program = assembleRenameFilter(architecture)
  const index = architecture === 'x64' ? 0 : 1
  const numbers = Object.values(TOLD).map((each) => each[index] ?? -1)
  const made = (number: number, flags = 0n): number =>
    interpret(program, {
      architecture: AUDIT[architecture],
      number,
      arguments: [0n, 0n, 0n, 0n, flags, 0n],
    })

  it('are reported, and nothing else is', () => {
    for (let number = 0; number <= 500; number++) {
      expect(made(number), String(number)).toBe(numbers.includes(number) ? TELL : ALLOW)
    }
  })

  it('of the first process are not, by a mark that the kernel ignores', () => {
    const [, , renameat2 = -1] = numbers
    expect(made(renameat2, 0x77726974_00000002n)).toBe(ALLOW)
    expect(made(renameat2, 0x77726975_00000002n)).toBe(TELL)
    expect(made(renameat2, 0x00000000_77726974n)).toBe(TELL)
  })
})
