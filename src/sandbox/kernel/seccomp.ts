/**
 * The filter of system calls (G-10c), assembled as classic BPF from the tables of syscalls.ts. Handed to
 * bubblewrap, which loads it last before the command starts.
 *
 * INVARIANT (low halves): arguments that are ints in the kernel are compared on their low 32 bits only,
 *   since the kernel ignores the upper half and a caller may fill it with anything.
 * INVARIANT (nothing unknown): a number beyond the table, the x32 numbers included, does not exist
 *   inside; another architecture's calls kill.
 *
 * Deliberately absent: a list of what is allowed. Programs of any kind run inside; the walls are
 * namespaces and mounts, the filter takes away the calls that reach around them.
 */

import type { SocketProfile } from '../driver/driver.ts'
import {
  type Architecture,
  AUDIT,
  JUDGED,
  LAST_KNOWN,
  numberOn,
  refusedNumbers,
  TOLD,
} from './syscalls.ts'

export interface Instruction {
  readonly code: number
  readonly jumpTrue: number
  readonly jumpFalse: number
  readonly value: number
}

const RETURN = {
  allow: 0x7fff0000,
  kill: 0x80000000,
  tell: 0x7fc00000,
  error: (errno: number) => 0x00050000 | errno,
} as const

const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const

/** Opcodes of classic BPF: load a word, jump by comparison, mask, return. */
const OPCODE = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, and: 0x54, end: 0x06 }

/** Offsets in `struct seccomp_data`; arguments are 64 bits wide, little-endian on both. */
const NUMBER = 0
const ARCHITECTURE = 4
const lowHalf = (argument: number): number => 16 + argument * 8
const highHalf = (argument: number): number => lowHalf(argument) + 4

const NAMESPACES = 0x7e020000 // NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const NEWTIME = 0x80 // For `unshare` only: in `clone` these bits are the signal of the child.

const TERMINAL_INJECTION = [0x5412, 0x541c, 0x541d] // TIOCSTI, TIOCLINUX, TIOCCONS

const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
const SOCKET_KIND = 0xf
const RAW_KINDS = [3, 10] // SOCK_RAW, SOCK_PACKET
const NETLINK_ROUTE = 0

/** PER_LINUX, PER_LINUX32, both with UNAME26, and the question which one it is. */
const PERSONALITIES = [0, 8, 0x20000, 0x20008, 0xffffffff]

export function assembleFilter(architecture: Architecture, sockets: SocketProfile): Instruction[] {
  const number = (name: keyof typeof JUDGED): number => numberOn(architecture, JUDGED[name]) ?? -1
  const eperm = give(RETURN.error(ERRNO.EPERM))
  const enosys = give(RETURN.error(ERRNO.ENOSYS))
  return [
    load(ARCHITECTURE),
    ...unless(OPCODE.equal, AUDIT[architecture], [give(RETURN.kill)]),
    load(NUMBER),
    ...when(OPCODE.atLeast, LAST_KNOWN + 1, [enosys]),
    ...refusedNumbers(architecture).flatMap((refused) => when(OPCODE.equal, refused, [eperm])),
    // With `clone3` the flags lie in memory, where a filter cannot look; libraries fall back.
    ...when(OPCODE.equal, number('clone3'), [enosys]),
    ...when(OPCODE.equal, number('clone'), anyFlag(NAMESPACES)),
    ...when(OPCODE.equal, number('unshare'), anyFlag(NAMESPACES | NEWTIME)),
    ...when(OPCODE.equal, number('ioctl'), [
      load(lowHalf(1)),
      ...TERMINAL_INJECTION.flatMap((request) => when(OPCODE.equal, request, [eperm])),
      give(RETURN.allow),
    ]),
    ...when(OPCODE.equal, number('personality'), [
      load(lowHalf(0)),
      ...PERSONALITIES.flatMap((known) => when(OPCODE.equal, known, [give(RETURN.allow)])),
      eperm,
    ]),
    ...when(OPCODE.equal, number('socketpair'), families([AF.unix])),
    ...when(OPCODE.equal, number('socket'), socketRules(sockets)),
    give(RETURN.allow),
  ]
}

/**
 * In the upper half of the flags of `renameat2`, where the kernel does not look: the first process does
 * not tell itself. Who else writes it there gets the kernel's own answer.
 */
export const RENAME_MARK = 0x77726974
const RENAME_FLAGS = 4

/** Assembles the second filter: it reports renames to the first process inside, see first-process.ts. */
export function assembleRenameFilter(architecture: Architecture): Instruction[] {
  const number = (name: keyof typeof TOLD): number => numberOn(architecture, TOLD[name]) ?? -1
  const tell = [give(RETURN.tell)]
  const plain = (['rename', 'renameat', 'landlock_restrict_self'] as const).map(number)
  return [
    load(NUMBER),
    ...plain.filter((each) => each >= 0).flatMap((each) => when(OPCODE.equal, each, tell)),
    ...when(OPCODE.equal, number('renameat2'), [
      load(highHalf(RENAME_FLAGS)),
      ...unless(OPCODE.equal, RENAME_MARK, tell),
      give(RETURN.allow),
    ]),
    give(RETURN.allow),
  ]
}

function anyFlag(flags: number): Instruction[] {
  return [
    load(lowHalf(0)),
    ...when(OPCODE.anyBit, flags >>> 0, [give(RETURN.error(ERRNO.EPERM))]),
    give(RETURN.allow),
  ]
}

function families(allowed: readonly number[]): Instruction[] {
  return [
    load(lowHalf(0)),
    ...allowed.flatMap((family) => when(OPCODE.equal, family, [give(RETURN.allow)])),
    give(RETURN.error(ERRNO.EAFNOSUPPORT)),
  ]
}

function socketRules(sockets: SocketProfile): Instruction[] {
  const eperm = give(RETURN.error(ERRNO.EPERM))
  const internet: Instruction[] = [
    load(lowHalf(1)),
    { code: OPCODE.and, jumpTrue: 0, jumpFalse: 0, value: SOCKET_KIND },
    ...RAW_KINDS.flatMap((kind) => when(OPCODE.equal, kind, [eperm])),
    give(RETURN.allow),
  ]
  const netlink: Instruction[] = [
    load(lowHalf(2)),
    ...when(OPCODE.equal, NETLINK_ROUTE, [give(RETURN.allow)]),
    eperm,
  ]
  return [
    load(lowHalf(0)),
    ...(sockets === 'inside' ? when(OPCODE.equal, AF.unix, [give(RETURN.allow)]) : []),
    ...when(OPCODE.equal, AF.inet, internet),
    ...when(OPCODE.equal, AF.inet6, internet),
    ...when(OPCODE.equal, AF.netlink, netlink),
    give(RETURN.error(ERRNO.EAFNOSUPPORT)),
  ]
}

function load(offset: number): Instruction {
  return { code: OPCODE.load, jumpTrue: 0, jumpFalse: 0, value: offset }
}

function give(value: number): Instruction {
  return { code: OPCODE.end, jumpTrue: 0, jumpFalse: 0, value }
}

/** Every block ends by returning, so nothing has to jump over what follows it. */
function when(code: number, value: number, block: readonly Instruction[]): Instruction[] {
  return [{ code, jumpTrue: 0, jumpFalse: block.length, value }, ...block]
}

function unless(code: number, value: number, block: readonly Instruction[]): Instruction[] {
  return [{ code, jumpTrue: block.length, jumpFalse: 0, value }, ...block]
}

/** The bytes of `struct sock_filter[]`, as the kernel takes them. */
export function filterBytes(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  program.forEach(({ code, jumpTrue, jumpFalse, value }, index) => {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, jumpTrue)
    view.setUint8(index * 8 + 3, jumpFalse)
    view.setUint32(index * 8 + 4, value >>> 0, true)
  })
  return bytes
}
