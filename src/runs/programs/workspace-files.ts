/**
 * A workspace as the search for programs sees it: what is there, what it holds, and where links lead.
 * Paths are relative to the workspace; the root is the empty path. Nothing outside is looked at.
 */
import {
  type BigIntStats,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs'
import { dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path'
import { type Digest, digestBytes } from '../../base/index.ts'

/** The orchestration log, which the host writes into the workspace (F-11). */
export const LOG_FILE = 'orchestration_log.md'

interface KnownFile {
  /** Identity, size and time of the last change: a file that has these as before is as before. */
  readonly stamp: string
  readonly bytes: Buffer
  readonly digest: Digest
}

/** A program that is larger is pinned, and not searched for what it loads. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024
const LINKS_MAX = 40
/** A larger tree is not hashed whole. */
const TREE_FILES_MAX = 5_000
const TREE_BYTES_MAX = 64 * 1024 * 1024

interface StateAt {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly mode: number
  /** Of a link. */
  readonly target: string
}

interface TreeEntry {
  /** Below the tree. */
  readonly name: string
  readonly size: number
  readonly link: string | null
}

export class WorkspaceFiles {
  readonly root: string
  readonly #known = new Map<string, KnownFile>()
  readonly #digests = new Map<string, Omit<KnownFile, 'bytes'>>()

  constructor(root: string) {
    this.root = root
  }

  /** The path of a word that names something inside the workspace; null for any other word. */
  pathOf(word: string, from = ''): string | null {
    if (word === '' || word.includes('\0')) return null
    const plain = word.startsWith('file://') ? word.slice('file://'.length) : word
    const base = join(this.root, from)
    const path = relative(this.root, isAbsolute(plain) ? normalize(plain) : resolve(base, plain))
    return path === '..' || path.startsWith('../') || isAbsolute(path) ? null : path
  }

  isFile(path: string): boolean {
    return this.#stat(path)?.isFile() ?? false
  }

  /** Returns whether it is a plain file, and no link, that may be rules or settings by its size. */
  isSmallFile(path: string): boolean {
    const found = this.isLink(path) ? null : this.#stat(path)
    return found?.isFile() === true && found.size <= TEXT_BYTES_MAX
  }

  /** What is at a path itself; null when there is nothing. */
  stateAt(path: string): StateAt | null {
    const file = join(this.root, path)
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) return null
    if (found.isSymbolicLink()) return { kind: 'symlink', mode: 0, target: readlinkSync(file) }
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other'
    return { kind, mode: found.mode & 0o7777, target: '' }
  }

  isDirectory(path: string): boolean {
    return this.#stat(path)?.isDirectory() ?? false
  }

  isExecutable(path: string): boolean {
    const found = this.#stat(path)
    return found?.isFile() === true && (found.mode & 0o111n) !== 0n
  }

  /** Null for what is not there, and for a word that is no name of a file at all. */
  #stat(path: string): BigIntStats | null {
    try {
      return statSync(join(this.root, path), { bigint: true })
    } catch {
      return null
    }
  }

  /**
   * The path itself, every link on the way, and where they lead, as far as that is in the workspace.
   * A change of any of them changes what the path means.
   */
  withLinks(path: string): readonly string[] {
    const found = new Set([path])
    const open = [path]
    for (let next = open.pop(), tries = 0; next !== undefined && tries < LINKS_MAX; tries++) {
      const names = next.split('/')
      for (let count = 1; count <= names.length; count++) {
        const place = names.slice(0, count).join('/')
        const target = this.#linkAt(place)
        if (target === null) continue
        found.add(place)
        const rest = names.slice(count).join('/')
        const led = this.pathOf(join(target, rest), dirname(place) === '.' ? '' : dirname(place))
        if (led !== null && !found.has(led)) {
          found.add(led)
          open.push(led)
        }
        break
      }
      next = open.pop()
    }
    return [...found]
  }

  #linkAt(path: string): string | null {
    const file = join(this.root, path)
    try {
      return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : null
    } catch {
      return null
    }
  }

  isLink(path: string): boolean {
    return this.#linkAt(path) !== null
  }

  /** Of a file, or of a directory with everything in it. Null when there is neither. */
  digest(path: string): Digest | null {
    if (this.isDirectory(path)) return this.#treeDigest(path)
    return this.#read(path)?.digest ?? null
  }

  /**
   * Links count by where they lead. Of a tree that is too large for that, files below its first level
   * count by name and size.
   */
  #treeDigest(path: string): Digest {
    const entries = this.#treeBelow(path)
    const bytes = entries.reduce((sum, { size }) => sum + size, 0)
    const isLarge = entries.length > TREE_FILES_MAX || bytes > TREE_BYTES_MAX
    const lines = entries.map(({ name, size, link }) => {
      if (link !== null) return [name, 'link', link]
      return isLarge && name.includes('/')
        ? [name, size]
        : [name, this.#digestOnly(below(path, name))]
    })
    return digestBytes(JSON.stringify(lines))
  }

  #treeBelow(path: string): readonly TreeEntry[] {
    const found: TreeEntry[] = []
    const open = ['']
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      const place = join(this.root, path, folder)
      for (const entry of readdirSync(place, { withFileTypes: true })) {
        const name = below(folder, entry.name)
        const file = join(place, entry.name)
        if (entry.isDirectory()) open.push(name)
        else if (entry.isSymbolicLink()) found.push({ name, size: 0, link: readlinkSync(file) })
        else if (entry.isFile()) found.push({ name, size: statSync(file).size, link: null })
      }
    }
    return found.sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  /** Keeps no bytes: trees of packages are not read as programs. */
  #digestOnly(path: string): Digest | null {
    const found = this.#stat(path)
    if (found === null) return null
    const stamp = stampOf(found)
    const known = this.#digests.get(path)
    if (known?.stamp === stamp) return known.digest
    const digest = digestBytes(readFileSync(join(this.root, path)))
    this.#digests.set(path, { stamp, digest })
    return digest
  }

  /** Null when there is no such file. */
  bytes(path: string): Uint8Array | null {
    return this.#read(path)?.bytes ?? null
  }

  /** The text of a file, as far as it may be a program; empty for any other. */
  text(path: string): string {
    const bytes = this.#read(path)?.bytes
    return bytes === undefined || bytes.length > TEXT_BYTES_MAX ? '' : bytes.toString('utf8')
  }

  #read(path: string): KnownFile | null {
    const file = join(this.root, path)
    const found = this.#stat(path)
    if (found?.isFile() !== true) return null
    const stamp = stampOf(found)
    const known = this.#known.get(path)
    if (known?.stamp === stamp) return known
    const bytes = readFileSync(file)
    const read = { stamp, bytes, digest: digestBytes(bytes) }
    this.#known.set(path, read)
    return read
  }

  /** Names in a directory, in order; none when there is no such directory. */
  names(path: string): readonly string[] {
    try {
      return readdirSync(join(this.root, path)).sort()
    } catch {
      return []
    }
  }

  /** Every file below a directory, links not followed; directories that `isLeftOut` names are not entered. */
  filesBelow(path: string, isLeftOut: (name: string) => boolean): readonly string[] {
    return this.#entriesBelow(path, isLeftOut, (entry) => entry.isFile())
  }

  /** Every link below a directory, in the same way. */
  linksBelow(path: string, isLeftOut: (name: string) => boolean): readonly string[] {
    return this.#entriesBelow(path, isLeftOut, (entry) => entry.isSymbolicLink())
  }

  #entriesBelow(
    path: string,
    isLeftOut: (name: string) => boolean,
    isWanted: (entry: Dirent) => boolean,
  ): readonly string[] {
    const files: string[] = []
    const open = [path]
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      const entries = readdirSync(join(this.root, folder), { withFileTypes: true })
      for (const entry of entries) {
        const below = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory() && !isLeftOut(entry.name)) open.push(below)
        else if (isWanted(entry)) files.push(below)
      }
    }
    return files.sort()
  }
}

function stampOf({ dev, ino, size, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${ctimeNs}`
}

/** The directory of a path, as the other paths here are written. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

/** The directory and those above it, up to the workspace itself. */
export function upFrom(directory: string): readonly string[] {
  const names = directory === '' ? [] : directory.split('/')
  return Array.from({ length: names.length + 1 }, (_, count) =>
    names.slice(0, names.length - count).join('/'),
  )
}

export function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
