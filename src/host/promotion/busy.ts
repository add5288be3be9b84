/**
 * Who has files open for writing, as far as this user may look (`/proc/PID/fd`): root sees everybody,
 * others see their own processes. Names are compared first and inodes only where a name fits, so a
 * machine full of processes costs a few milliseconds.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

export interface Writer {
  readonly process: number
  readonly inode: string
}

const ACCESS_MODE = 0o3

/** `byInode`: device and inode (`dev:ino`) of the files; `names`: the last segments of their paths. */
export function findWriters(
  names: ReadonlySet<string>,
  byInode: (inode: string) => boolean,
): Writer[] {
  const writers: Writer[] = []
  if (names.size === 0) return writers
  for (const name of readdirSync('/proc')) {
    const process = Number(name)
    if (!Number.isInteger(process)) continue
    for (const handle of handlesOf(process)) {
      const inode = writtenInode(process, handle, names)
      if (inode !== null && byInode(inode)) writers.push({ process, inode })
    }
  }
  return writers
}

function handlesOf(process: number): readonly string[] {
  try {
    return readdirSync(`/proc/${process}/fd`)
  } catch {
    // Gone meanwhile, or somebody else's.
    return []
  }
}

function writtenInode(process: number, handle: string, names: ReadonlySet<string>): string | null {
  try {
    const link = readlinkSync(`/proc/${process}/fd/${handle}`, 'latin1')
    if (!link.startsWith('/') || !names.has(link.slice(link.lastIndexOf('/') + 1))) return null
    const flags = /^flags:\s*([0-7]+)/m.exec(
      readFileSync(`/proc/${process}/fdinfo/${handle}`, 'latin1'),
    )
    if ((Number.parseInt(flags?.[1] ?? '0', 8) & ACCESS_MODE) === 0) return null
    const { dev, ino } = statSync(`/proc/${process}/fd/${handle}`, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}
