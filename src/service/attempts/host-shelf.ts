/**
 * The layer of an attempt in which nothing runs: the host alone puts a new file there, such as the
 * artifact of a participant elsewhere. It is scanned, judged, staged and promoted as a layer of a
 * sandbox is. Nothing is mounted for it, so it lies over one directory, in which the file is new.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { removeTree, writePlainFile } from '../../machine/index.ts'
import { type Control, type Layer, ownerMark, type Sandbox } from '../../sandbox/index.ts'
import { isRoot } from '../surface/context.ts'

/** What is judged of an attempt, wherever its changes lie. */
export type AttemptGround = Pick<Sandbox, 'close' | 'controls' | 'layers'>

const NOTHING_RAN: readonly Control[] = [
  { name: 'no_process', detail: 'nothing ran: the host itself wrote the files of this act' },
]
const SET_GROUP = 0o2000
const NO_NAMES: ReadonlySet<string> = new Set(['', '.', '..'])

export class HostShelf implements AttemptGround {
  readonly controls = NOTHING_RAN
  readonly layers: readonly Layer[]
  readonly file: ShelvedFile
  readonly #upper: string

  private constructor(file: ShelvedFile, root: string, upper: string) {
    this.file = file
    this.#upper = upper
    const upperDevice = lstatSync(upper).dev
    this.layers = [{ root, upper, merged: upper, upperDevice }]
  }

  /**
   * Puts one new file on a shelf below `place`. Returns null where only an overlay shows what would be
   * there: something has that name, or a directory above it is a link, a mount or another user's.
   */
  static put(place: string, name: string, file: ShelvedFile): HostShelf | null {
    const ground = groundOf(file)
    if (ground === null) return null
    // The name says whose it is: what a process leaves that is gone is swept up with other layers.
    const upper = join(place, `${ownerMark()}-${name}.upper`)
    mkdirSync(upper, { mode: 0o700 })
    const shelf = new HostShelf(file, ground.path, upper)
    const { mode, uid, gid } = ground.stats
    if (isRoot()) chownSync(upper, uid, gid)
    writePlainFile(upper, file.path.slice(ground.path.length), file.bytes)
    // As the directory below it: only what is new differs.
    chmodSync(upper, mode & 0o7777)
    return shelf
  }

  close(): Promise<void> {
    return removeTree(this.#upper)
  }
}

interface ShelvedFile {
  readonly workspace: string
  /** Below the workspace. */
  readonly path: string
  readonly bytes: Uint8Array
}

interface Ground {
  readonly path: string
  readonly stats: Stats
}

/** The innermost directory on the way to the file that is there. */
function groundOf({ workspace, path }: Pick<ShelvedFile, 'workspace' | 'path'>): Ground | null {
  const names = path.slice(workspace.length + 1).split('/')
  if (!path.startsWith(`${workspace}/`) || names.some((name) => NO_NAMES.has(name))) return null
  let ground: Ground = { path: workspace, stats: lstatSync(workspace) }
  const { dev } = ground.stats
  for (const name of names) {
    const next = join(ground.path, name)
    const stats = lookAt(next)
    if (stats === undefined) return isOurs(ground.stats) ? ground : null
    if (stats === null || !stats.isDirectory() || stats.dev !== dev) return null
    ground = { path: next, stats }
  }
  return null
}

/** Undefined for nothing, null for what cannot be looked at. */
function lookAt(path: string): Stats | undefined | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return null
  }
}

/** What is made in a directory that hands its group on has another owner than elsewhere. */
function isOurs({ uid, mode }: Stats): boolean {
  return (isRoot() || uid === process.getuid?.()) && (mode & SET_GROUP) === 0
}
