/**
 * System calls by name, with their numbers on x86-64 and arm64; null where an architecture has none.
 * Data only: which are refused outright, which are judged by their arguments, which programs of ours
 * make by their number, and up to which number they are known at all. From Linux 5.5 on new calls have one number everywhere.
 */

export type Architecture = 'x64' | 'arm64'

type Numbers = readonly [x64: number | null, arm64: number | null]

/** Refused for everyone inside, grouped by what they would reach. */
const REFUSED = {
  otherProcesses: {
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    process_madvise: [440, 440],
    pidfd_getfd: [438, 438],
    kcmp: [312, 272],
    migrate_pages: [256, 238],
    move_pages: [279, 239],
  },
  keys: {
    add_key: [248, 217],
    request_key: [249, 218],
    keyctl: [250, 219],
  },
  kernelSurface: {
    bpf: [321, 280],
    perf_event_open: [298, 241],
    io_uring_setup: [425, 425],
    io_uring_enter: [426, 426],
    io_uring_register: [427, 427],
    userfaultfd: [323, 282],
    fanotify_init: [300, 262],
    fanotify_mark: [301, 263],
    lookup_dcookie: [212, 18],
    modify_ldt: [154, null],
    uselib: [134, null],
    ustat: [136, null],
    sysfs: [139, null],
    _sysctl: [156, null],
    nfsservctl: [180, 42],
    syslog: [103, 116],
    lsm_set_self_attr: [460, 460],
  },
  mounts: {
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
  },
  handles: {
    name_to_handle_at: [303, 264],
    open_by_handle_at: [304, 265],
  },
  machine: {
    kexec_load: [246, 104],
    kexec_file_load: [320, 294],
    init_module: [175, 105],
    finit_module: [313, 273],
    delete_module: [176, 106],
    create_module: [174, null],
    get_kernel_syms: [177, null],
    query_module: [178, null],
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
    iopl: [172, null],
    ioperm: [173, null],
  },
} as const satisfies Record<string, Record<string, Numbers>>

/** Let through or refused by what they are called with. */
export const JUDGED = {
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  personality: [135, 92],
} as const satisfies Record<string, Numbers>

/** Told to the first process inside, which answers them or lets them go on. */
export const TOLD = {
  rename: [82, null],
  renameat: [264, 38],
  renameat2: [316, 276],
  landlock_restrict_self: [446, 446],
} as const satisfies Record<string, Numbers>

/** Made by interpreters of ours, which have no names for them. */
const OWN = {
  unshare: JUDGED.unshare,
  mount: REFUSED.mounts.mount,
  prctl: [157, 167],
  close: [3, 57],
  dup3: [292, 24],
  setsid: [112, 157],
  llistxattr: [195, 12],
  lgetxattr: [192, 9],
  mknodat: [259, 33],
  lsetxattr: [189, 6],
  lremovexattr: [198, 15],
  fchownat: [260, 54],
  utimensat: [280, 88],
  openat: [257, 56],
  pread64: [17, 67],
  statx: [332, 291],
  ioctl: JUDGED.ioctl,
  seccomp: [317, 277],
  pidfd_open: [434, 434],
  renameat2: TOLD.renameat2,
  name_to_handle_at: REFUSED.handles.name_to_handle_at,
  pidfd_getfd: [438, 438],
  kcmp: REFUSED.otherProcesses.kcmp,
} as const satisfies Record<string, readonly [x64: number, arm64: number]>

export function ownNumber(architecture: Architecture, name: keyof typeof OWN): number {
  const [x64, arm64] = OWN[name]
  return architecture === 'x64' ? x64 : arm64
}

/** `removexattrat`. What came later has not been looked at, and does not exist inside. */
export const LAST_KNOWN = 466

/** `AUDIT_ARCH_*`: how the kernel names the architecture of a call. */
export const AUDIT: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
}

export function numberOn(architecture: Architecture, [x64, arm64]: Numbers): number | null {
  return architecture === 'x64' ? x64 : arm64
}

export function refusedNumbers(architecture: Architecture): readonly number[] {
  const groups: readonly Readonly<Record<string, Numbers>>[] = Object.values(REFUSED)
  return groups
    .flatMap((group) => Object.values(group))
    .map((numbers) => numberOn(architecture, numbers))
    .filter((number) => number !== null)
    .sort((one, other) => one - other)
}
