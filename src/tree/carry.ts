/**
 * Two ways of carrying entries from an upper layer into the stage, both with everything that G-13a
 * asks for: renaming, when both lie on one filesystem, and `tar`, which copies any number of entries
 * with exact times, attributes, holes and hard links in one pipeline of bounded memory.
 */
import { chmodSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { joinRaw, parentOfRaw, type RawPath } from '../gate/index.ts'
import {
  allStatsOf,
  codeOf,
  type HeldDirectory,
  inChunks,
  itselfAt,
  namesIn,
  nodePath,
  type Pace,
  runTool,
  statsOf,
  toolFailure,
} from '../machine/index.ts'

export interface Load {
  readonly upper: HeldDirectory
  /** A directory of the stage that mirrors the layer; it exists. */
  readonly target: HeldDirectory
  /** Below the layer's root, without a leading slash; a directory comes before what is in it. */
  readonly names: readonly RawPath[]
  /** Those of the names that are moved by themselves. */
  readonly units: readonly RawPath[]
  /** Directories of the real tree, which others go on using: each is taken as it was found. */
  readonly isLive?: boolean
}

const CREATE = [
  '--create',
  '--file=-',
  '--format=posix',
  '--pax-option=delete=atime,delete=ctime',
  '--no-recursion',
  '--null',
  '--files-from=-',
  '--xattrs',
  '--xattrs-include=user.*',
  '--xattrs-exclude=user.overlay.*',
  '--acls',
  '--sparse',
  '--hole-detection=seek',
  '--numeric-owner',
]
const EXTRACT = [
  '--extract',
  '--file=-',
  '--xattrs',
  '--xattrs-include=*',
  '--acls',
  '--preserve-permissions',
  '--numeric-owner',
  '--delay-directory-restore',
  '--warning=no-timestamp',
]

/** The shell connects both with a pipe. `failed` on stderr shows that the first half failed. */
const PIPELINE = `{ tar ${CREATE.join(' ')} || echo failed >&2; } | tar ${EXTRACT.join(' ')} --directory="$1"`

/** A few plain files and links take one process instead of three. */
const COPY = ['--archive', '--parents', '--sparse=never']
const COPIED_SINGLY_MAX = 64
const PLAIN_NAME = /^[\x20-\x7e]+$/

/** Not with holes, which `cp` finds where there were none. */
function areFewAndPlain({ upper, names }: Load): boolean {
  if (names.length > COPIED_SINGLY_MAX) return false
  return names.every((name) => {
    const stats = allStatsOf(joinRaw(upper.prefix, name))
    if (stats === null || !PLAIN_NAME.test(name)) return false
    return stats.isSymbolicLink() || (stats.isFile() && stats.blocks * BLOCK_BYTES >= stats.size)
  })
}

const BLOCK_BYTES = 512n

/** Returns whether `tar` complains only about files that changed while it read them. */
export function isChangeAlone(stderr: string): boolean {
  const lines = stderr.trim().split('\n')
  const isTold = (line: string): boolean => line.endsWith(': file changed as we read it')
  return lines.some(isTold) && lines.every((line) => isTold(line) || line === 'failed')
}

export async function copyAcross(load: Load): Promise<void> {
  if (areFewAndPlain(load)) return copyFew(load)
  const { target, upper, names } = load
  const stdin = inChunks(dotted(names))
  const { status, stderr } = await runTool('sh', ['-c', PIPELINE, 'sh', target.prefix], {
    stdin,
    cwd: upper.prefix,
  })
  if (status === 0 && stderr === '') return
  if (load.isLive === true && status === 0 && isChangeAlone(stderr)) return
  throw toolFailure('tar', target.prefix, stderr)
}

async function copyFew({ upper, target, names }: Load): Promise<void> {
  const words = [...COPY, `--target-directory=${target.prefix}`, '--', ...names]
  const { status, stderr } = await runTool('cp', words, { cwd: upper.prefix })
  if (status !== 0 || stderr !== '') throw toolFailure('cp', target.prefix, stderr)
}

function* dotted(names: Iterable<RawPath>): Generator<string> {
  for (const name of names) yield `./${name}`
}

/**
 * Moves the units. Returns false if the two places are not on one filesystem; then nothing was moved.
 * Opens modes freely: `settle` gives moved entries their own modes, and the rest is deleted.
 */
export async function moveAcross(load: Load, pace: Pace): Promise<boolean> {
  const wanted = new Set(load.names)
  const opened = new Set<RawPath>()
  for (const [index, name] of load.units.entries()) {
    const [source, target] = [joinRaw(load.upper.prefix, name), joinRaw(load.target.prefix, name)]
    prepareParents(load, name, opened)
    const isDirectory = statsOf(source)?.isDirectory() === true
    if (isDirectory) openUp(source)
    try {
      renameSync(nodePath(source), nodePath(target))
    } catch (error) {
      if (index === 0 && codeOf(error) === 'EXDEV') return false
      throw error
    }
    if (isDirectory) await prune(load.target.prefix, name, wanted, pace)
    await pace.step()
  }
  return true
}

/** Directories on the way to a name: writable above, made below. */
function prepareParents({ upper, target }: Load, name: RawPath, opened: Set<RawPath>): void {
  const parent = parentOfRaw(`/${name}` as RawPath)
  if (opened.has(parent)) return
  opened.add(parent)
  openUp(itselfAt(upper.prefix))
  // Prefixes and parents are raw, so texts joined from them are.
  for (let end = parent.indexOf('/', 1); end !== -1; end = parent.indexOf('/', end + 1)) {
    openUp(`${upper.prefix}${parent.slice(0, end)}` as RawPath)
  }
  if (parent === '/') return
  // As above.
  openUp(`${upper.prefix}${parent}` as RawPath)
  mkdirSync(nodePath(`${target.prefix}${parent}` as RawPath), { recursive: true, mode: 0o700 })
}

function openUp(directory: RawPath): void {
  const mode = statsOf(directory)?.mode ?? 0o700
  if ((mode & 0o700) !== 0o700) chmodSync(nodePath(directory), mode | 0o700)
}

/** Takes away what came along and is not wanted. */
async function prune(
  prefix: RawPath,
  unit: RawPath,
  wanted: ReadonlySet<RawPath>,
  pace: Pace,
): Promise<void> {
  const open: RawPath[] = [unit]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const directory = joinRaw(prefix, name)
    openUp(directory)
    for (const child of namesIn(directory)) {
      const [below, at] = [joinRaw(name, child), joinRaw(directory, child)]
      if (!wanted.has(below)) removeAll(at)
      else if (statsOf(at)?.isDirectory() === true) open.push(below)
    }
    await pace.step()
  }
}

export function removeAll(path: RawPath): void {
  const directories: RawPath[] = []
  const open: RawPath[] = [path]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (statsOf(at)?.isDirectory() !== true) {
      unlinkSync(nodePath(at))
      continue
    }
    openUp(at)
    directories.push(at)
    for (const name of namesIn(at)) open.push(joinRaw(at, name))
  }
  for (const directory of directories.reverse()) rmdirSync(nodePath(directory))
}
