/**
 * Files that processes inside hold open and that no name leads to: removed ones, which still lie on a
 * disk, and those that never had a name, which lie in memory. No directory and no resident size shows
 * them.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { procInside } from './meters.ts'

interface Nameless {
  readonly memoryBytes: number
  readonly diskBytes: number
}

export const NOTHING_NAMELESS: Nameless = { memoryBytes: 0, diskBytes: 0 }

/** Of every process in the namespace whose first process has this id outside. */
export function namelessFiles(pid: number): Nameless {
  const top = procInside(pid)
  const seen = new Set<string>()
  let { memoryBytes, diskBytes } = NOTHING_NAMELESS
  // Before bubblewrap has changed its root, the path still shows the whole machine's processes.
  if (deviceOf(top) === deviceOf('/proc')) return NOTHING_NAMELESS
  for (const process of namesIn(top)) {
    if (!/^\d+$/.test(process)) continue
    for (const descriptor of namesIn(`${top}/${process}/fd`)) {
      const file = `${top}/${process}/fd/${descriptor}`
      const target = targetOf(file)
      if (!target.endsWith(' (deleted)')) continue
      const bytes = bytesOf(file, seen)
      if (target.startsWith('/memfd:')) memoryBytes += bytes
      else diskBytes += bytes
    }
  }
  return { memoryBytes, diskBytes }
}

/** Each file once, however many hold it; one whose name only looks like it has links. */
function bytesOf(file: string, seen: Set<string>): number {
  try {
    const { dev, ino, nlink, blocks } = statSync(file)
    const key = `${dev}:${ino}`
    if (nlink > 0 || seen.has(key)) return 0
    seen.add(key)
    return blocks * 512
  } catch {
    // Closed meanwhile.
    return 0
  }
}

function targetOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function deviceOf(path: string): number | null {
  try {
    return statSync(path).dev
  } catch {
    return null
  }
}
