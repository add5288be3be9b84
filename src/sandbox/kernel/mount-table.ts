/** The mounts of this process: where they are and of which filesystem, as `mountinfo` tells. */
import { readFileSync } from 'node:fs'

export interface MountPoint {
  readonly point: string
  readonly filesystem: string
}

/** Mounts seldom change, so what was understood of a text is kept for when it is the same. */
class MountReader {
  #text = ''
  #mounts: readonly MountPoint[] = []

  read(): readonly MountPoint[] {
    const text = readFileSync('/proc/self/mountinfo', 'utf8')
    if (text !== this.#text) this.#mounts = parseMounts(text)
    this.#text = text
    return this.#mounts
  }
}

const reader = new MountReader()

export function readMounts(): readonly MountPoint[] {
  return reader.read()
}

/** `36 35 98:0 /root /point options tags… - filesystem source options`, with octal escapes. */
export function parseMounts(text: string): readonly MountPoint[] {
  const mounts: MountPoint[] = []
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const point = before.split(' ')[4]
    if (point === undefined) continue
    mounts.push({ point: unescaped(point), filesystem: after.split(' ')[0] ?? '' })
  }
  return mounts
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  const bytes = text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
  // Escapes stand for single bytes and are ASCII (blank, tab, newline, backslash).
  return bytes
}

/** Whether `path` lies below `root`, or is it. Both absolute and normal. */
export function isWithin(path: string, root: string): boolean {
  return path === root || root === '/' || path.startsWith(`${root}/`)
}
