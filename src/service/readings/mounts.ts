/** The mounts of this process, as the kernel lists them, and the questions the gate asks of them. */
import { readFileSync } from 'node:fs'

export interface Mount {
  /** Where it is mounted, as bytes told in text. */
  readonly path: string
  /** `ext4`, `tmpfs`, `nfs4`, … */
  readonly type: string
  readonly readOnly: boolean
}

export function readMounts(file = '/proc/self/mountinfo'): readonly Mount[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before, after] = line.split(' - ')
      const [path, options = ''] = before?.split(' ').slice(4) ?? []
      const type = after?.split(' ')[0]
      if (path === undefined || type === undefined) return []
      return [{ path: unescapePath(path), type, readOnly: options.split(',').includes('ro') }]
    })
}

/** Space, tab, newline and backslash are written as octal numbers. */
function unescapePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** The mount that a path lies on: the last listed of the longest that hold it. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | null {
  let found: Mount | null = null
  for (const mount of mounts) {
    if (!holds(mount.path, path)) continue
    if (found === null || mount.path.length >= found.path.length) found = mount
  }
  return found
}

/** Mounts strictly below a directory. */
export function mountsBelow(mounts: readonly Mount[], directory: string): readonly string[] {
  return mounts
    .map(({ path }) => path)
    .filter((path) => path !== directory && holds(directory, path))
}

function holds(directory: string, path: string): boolean {
  if (directory === '/') return true
  return path === directory || path.startsWith(`${directory}/`)
}
