/**
 * The owner of files that may be left behind: their name has the number of the process that made them,
 * and the PID namespace of that number. Several namespaces can share a directory (containers with a
 * common /tmp); a process never sweeps up files of another namespace.
 */
import { readFileSync, readlinkSync } from 'node:fs'

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

/** Whether the process that made it is gone, by the name of the thing behind a prefix. */
export function isLeftBehind(name: string, prefix = ''): boolean {
  const mark = name.startsWith(prefix) ? /^(\d+)\.(\d+)-/.exec(name.slice(prefix.length)) : null
  return mark !== null && mark[2] === namespace() && isGone(Number(mark[1]))
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
