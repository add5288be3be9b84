/** The built program at a place that every user may read. */
import { cpSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Packages that are not bundled into the program and that every command needs. */
const NATIVE = ['better-sqlite3']

/** Copies the program: other users may not read the checkout, and a build may replace it meanwhile. */
export function copyProgram(folder: string): string {
  const copy = join(folder, 'program')
  for (const part of [
    'bin',
    'dist',
    'package.json',
    ...NATIVE.map((name) => `node_modules/${name}`),
  ]) {
    cpSync(realpathSync(part), join(copy, part), { recursive: true, dereference: true })
  }
  return join(copy, 'bin', 'writ.cjs')
}
