/**
 * Reads and writes files of a host's configuration. Refuses a symbolic link anywhere below the top
 * directory, and a file or directory that another user owns or may write to.
 */
import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync, type Stats } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { writeWhole } from '../../machine/index.ts'
import { refusal } from './parts.ts'

const TEXT_MAX = 4 * 1024 * 1024

/** Null if there is no such file. */
export function readConfigurationFile(top: string, file: string): string | null {
  const stats = checkedStats(top, file)
  if (stats === null) return null
  if (stats.size > TEXT_MAX) throw refusal(file, 'it is larger than 4 MiB')
  const text = readFileSync(file)
  const decoded = text.toString('utf8')
  if (!Buffer.from(decoded).equals(text)) throw refusal(file, 'it is not UTF-8')
  return decoded
}

/** Keeps the mode of a file that is there. */
export function writeConfigurationFile(
  top: string,
  file: string,
  text: string,
  isExecutable: boolean,
): void {
  const stats = checkedStats(top, file)
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  checkedStats(top, file)
  const mode = stats === null ? (isExecutable ? 0o755 : 0o644) : stats.mode & 0o777
  writeWhole(file, text, mode)
}

/** Also removes directories above it that are empty now, up to `upTo`. */
export function removeConfigurationFile(top: string, file: string, made: readonly string[]): void {
  checkedStats(top, file)
  rmSync(file, { force: true })
  for (const folder of made) {
    try {
      rmdirSync(folder)
    } catch {
      // It holds something else by now.
    }
  }
}

/** The directories that writing a file will make, the innermost first. */
export function missingFolders(top: string, file: string): readonly string[] {
  const folders: string[] = []
  for (let folder = dirname(file); folder !== top && folder !== dirname(folder); ) {
    if (statsIfThere(folder) !== null) break
    folders.push(folder)
    folder = dirname(folder)
  }
  return folders
}

function checkedStats(top: string, file: string): Stats | null {
  const below = relative(top, file)
  if (below.startsWith('..')) throw refusal(file, 'it lies outside its directory')
  let path = top
  let stats: Stats | null = null
  for (const name of below.split('/')) {
    path = join(path, name)
    stats = statsIfThere(path)
    if (stats === null) return null
    checkEntry(path, stats, path === file)
  }
  return stats
}

function checkEntry(path: string, stats: Stats, isLast: boolean): void {
  if (stats.isSymbolicLink()) throw refusal(path, 'it is a symbolic link')
  if (isLast ? !stats.isFile() : !stats.isDirectory()) throw refusal(path, 'it is no plain file')
  const user = process.getuid?.() ?? 0
  if (stats.uid !== user) throw refusal(path, 'it belongs to another user')
  if ((stats.mode & 0o002) !== 0) throw refusal(path, 'every user may write to it')
}

function statsIfThere(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
