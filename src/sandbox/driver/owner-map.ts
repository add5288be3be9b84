/**
 * The users and groups that root's sandbox knows: every one that root's own namespace knows, so that
 * owners stay what they are wherever in the tree they occur (G-13a).
 */
import { readFileSync, writeFileSync } from 'node:fs'

const SETGID = 1n << 6n
const SETUID = 1n << 7n

/** Whether this process may write such maps: root, with the two rights that the kernel asks for. */
export function mayMapOwners(): boolean {
  if (process.getuid?.() !== 0) return false
  const [, rights = '0'] =
    /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  return (BigInt(`0x${rights}`) & (SETGID | SETUID)) === (SETGID | SETUID)
}

/** Writes the maps of a new user namespace: each number means inside what it means here. */
export function mapOwners(pid: number): void {
  for (const name of ['uid_map', 'gid_map']) {
    writeFileSync(`/proc/${pid}/${name}`, sameNumbers(readFileSync(`/proc/self/${name}`, 'latin1')))
  }
}

/** A container's root knows some numbers only, in ranges that lie elsewhere outside of it. */
export function sameNumbers(map: string): string {
  const ranges = map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return ranges.map(([first = '', , count = '']) => `${first} ${first} ${count}\n`).join('')
}
