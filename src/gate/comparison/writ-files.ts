/** Which changed paths are files of writ: those that people share, and the directory around them. */
import type { Change } from '../evidence/manifest.ts'
import type { RawPath } from '../paths/raw-path.ts'

const SHARED = /\/\.writ(?:\/(?:laws\.yaml|\.gitignore|rules(?:\/.*)?))?$/s

/** `.writ` as a directory, and in it the law file, the rules and what git ignores; no links. */
export function isSharedOfHome({ path, before, after }: Change): boolean {
  if (path.indexOf('/.writ/') !== path.lastIndexOf('/.writ/') || !SHARED.test(path)) return false
  const mayBeDirectory = !/\/(?:laws\.yaml|\.gitignore)$/.test(path)
  const mayBeFile = /\/\.writ\/./.test(path)
  return [before, after].every((state) => {
    if (state === null) return true
    return (state.kind === 'directory' && mayBeDirectory) || (state.kind === 'file' && mayBeFile)
  })
}

/** The directory of writ that a path lies in; the path itself where it lies in none. */
export function writOf(path: RawPath): RawPath {
  const end = path.indexOf('/.writ/')
  return end === -1 ? path : (path.slice(0, end + '/.writ'.length) as RawPath)
}
