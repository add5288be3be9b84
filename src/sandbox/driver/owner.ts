/**
 * The owner of files that may be left behind: their name has the number of the process that made them,
 * and the PID namespace of that number. Several namespaces can share a directory (containers with a
 * common /tmp); a process never sweeps up files of another namespace. Numbers come round again, on some
 * machines within minutes: where a wrong answer would last, the time when the process started goes along.
 */
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { readableText } from '../../machine/index.ts'

let known: string | null = null

/** The number of the namespace of processes that this one lives in. */
function namespace(): string {
  known ??= /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  return known
}

/** What the names of things begin with that this process makes. */
export function ownerMark(): string {
  return `${process.pid}.${namespace()}`
}

/**
 * Whether the process that made it is gone, by the name of the thing behind a prefix. With the time when
 * that process started, another one of the same number does not count as it.
 */
export function isLeftBehind(name: string, prefix = '', started = ''): boolean {
  const mark = name.startsWith(prefix) ? /^(\d+)\.(\d+)-/.exec(name.slice(prefix.length)) : null
  if (mark === null || mark[2] !== namespace()) return false
  const pid = Number(mark[1])
  return isGone(pid) || (started !== '' && startedAt(pid) !== started)
}

/** When a process started, in ticks of the machine; empty if it is gone. */
export function startedAt(pid: number): string {
  const text = readableText(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return /^[ZX]/.test(fields[0] ?? '') ? '' : (fields[19] ?? '')
}

/** For certain: a process that cannot be looked at may be alive. */
export function isGone(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return /^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // Thrown by readFileSync.
    return code === 'ENOENT' || code === 'ESRCH'
  }
}

const SETGID = 1n << 6n
const SETUID = 1n << 7n

/**
 * The users and groups that root's sandbox knows: every one that root's own namespace knows, so that
 * owners stay what they are wherever in the tree they occur (G-13a). Whether this process may write
 * such maps: root, with the two rights that the kernel asks for.
 */
export function mayMapOwners(): boolean {
  if (process.getuid?.() !== 0) return false
  const [, rights = '0'] =
    /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  return (BigInt(`0x${rights}`) & (SETGID | SETUID)) === (SETGID | SETUID)
}

/**
 * Writes the maps of a new user namespace: each number means inside what it means here. The user
 * `withheld` is unknown inside.
 */
export function mapOwners(pid: number, withheld: number | null): void {
  const map = (name: string, text: string): void => writeFileSync(`/proc/${pid}/${name}`, text)
  map('uid_map', sameNumbers(ownMap('uid_map'), withheld))
  map('gid_map', sameNumbers(ownMap('gid_map')))
}

/** A container's root knows some numbers only, in ranges that lie elsewhere outside of it. */
export function sameNumbers(map: string, withheld: number | null = null): string {
  return rangesOf(map)
    .map(({ first, count }) => [first, first + count - 1 === withheld ? count - 1 : count] as const)
    .flatMap(([first, count]) => (count === 0 ? [] : [`${first} ${first} ${count}\n`]))
    .join('')
}

/**
 * Returns the highest number of a user here, which no account has: accounts are numbered from below.
 * Null where root is the only user.
 */
export function spareOwner(map = ownMap('uid_map')): number | null {
  const highest = Math.max(...rangesOf(map).map(({ first, count }) => first + count - 1))
  return highest > 0 ? highest : null
}

function ownMap(name: 'uid_map' | 'gid_map'): string {
  return readFileSync(`/proc/self/${name}`, 'latin1')
}

function rangesOf(map: string): readonly { readonly first: number; readonly count: number }[] {
  return map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }))
}
