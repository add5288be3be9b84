/** Where the program files of this installation lie, as configurations of hosts name them. */
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The script that this process runs; a link in a `bin` directory stays a link, since updates keep it. */
export function ownProgram(): string {
  return resolve(process.argv[1] ?? '')
}

/** The package's `bin` directory: `dist/cli/program.cjs` lies two directories below the package. */
export function ownBin(): string {
  return join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin')
}

/** The program that hooks start inside of sessions. */
export function sessionHook(): string {
  return join(ownBin(), 'hooks', 'writ')
}

/** The manifest of the package, which lies next to everything that belongs to it. */
export function ownPackage(): string {
  return join(ownBin(), '..', 'package.json')
}
