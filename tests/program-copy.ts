/** The built program at a place that every user may read. */
import { chmodSync, cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Of the package that is not bundled into the program: sources of SQLite take 25 MB of it. */
const NATIVE = ['package.json', 'lib', 'build/Release/better_sqlite3.node'].map(
  (part) => `node_modules/better-sqlite3/${part}`,
)

let shared: string | null = null

/**
 * Copies the program, once in each worker, and packages that a test needs besides. Other users may not
 * read the checkout, and a build may replace it meanwhile.
 */
export function sharedProgram(packages: readonly string[] = []): string {
  const folder = shared ?? makeShared()
  shared = folder
  for (const name of packages) copyPart(`node_modules/${name}`, join(folder, 'program'))
  return join(folder, 'program', 'bin', 'writ.cjs')
}

function makeShared(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-program-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  copyProgram(folder)
  return folder
}

/** Copies the program into a folder. */
export function copyProgram(folder: string): string {
  const copy = join(folder, 'program')
  for (const part of ['bin', 'dist', 'package.json', ...NATIVE]) copyPart(part, copy)
  return join(copy, 'bin', 'writ.cjs')
}

function copyPart(part: string, copy: string): void {
  const target = join(copy, part)
  if (existsSync(target)) return
  cpSync(realpathSync(part), target, { recursive: true, dereference: true })
}
