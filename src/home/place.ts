/**
 * Where homes and their state lie. `.writ/` in a project is found by walking up; its state is kept
 * apart from it, under the user's state directory, because a project is shared and a ledger is not.
 */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { faultError, showPath } from '../base/index.ts'

import { readTrusted } from './trust.ts'

/** What a command knows of where it runs; handed in, so that nothing here reads the process. */
export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly userDirectory: string
  readonly userName: string
}

export const HOME_NAME = '.writ'

/** `$XDG_STATE_HOME/writ`; a relative value is ignored, as the base directory rules say. */
export function stateRoot({ env, userDirectory }: Surroundings): string {
  const given = env['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(given) ? given : join(userDirectory, '.local', 'state'), 'writ')
}

/** The home that was named, by option or by `WRIT_HOME`: the folder itself, or the one it lies in. */
function namedHome({ cwd, env }: Surroundings, given: string | null): string | null {
  const name = given ?? env['WRIT_HOME'] ?? ''
  if (name === '') return null
  const folder = resolve(cwd, name)
  return basename(folder) === HOME_NAME ? folder : join(folder, HOME_NAME)
}

/** The home that a command obeys: a `.writ` that is there, or one that is registered and is gone. */
export function findHome(surroundings: Surroundings, given: string | null): string {
  const registered = new Set(readTrusted(stateRoot(surroundings)).map(({ path }) => path))
  const named = namedHome(surroundings, given)
  if (named !== null) {
    const found = homeAt(named, registered)
    if (found !== null) return found
    const message = `there is no home at ${showPath(named)}`
    throw faultError('home.missing', named, message, 'go to the project and run `writ init`')
  }
  for (let folder = surroundings.cwd; ; folder = dirname(folder)) {
    const found = homeAt(join(folder, HOME_NAME), registered)
    if (found !== null) return found
    if (folder === dirname(folder)) break
  }
  const message = `writ is not set up in ${showPath(surroundings.cwd)} or in a directory above it: there is no \`.writ\``
  const hint = 'go to the top directory of the project and run `writ init`'
  throw faultError('home.missing', surroundings.cwd, message, hint)
}

/** A registered home whose `.writ` is gone is still that home: its state lies elsewhere. */
function homeAt(directory: string, registered: ReadonlySet<string>): string | null {
  if (existsSync(directory)) return realpathSync(directory)
  if (!existsSync(dirname(directory))) return null
  const path = join(realpathSync(dirname(directory)), HOME_NAME)
  return registered.has(path) ? path : null
}

/** Where `writ init` makes one: as named, else in the current directory. */
export function newHome(surroundings: Surroundings, given: string | null): string {
  return namedHome(surroundings, given) ?? join(surroundings.cwd, HOME_NAME)
}
