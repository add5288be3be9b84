/**
 * Finds the built file of a thread. Bundled code does not know where it ended up: the same source
 * stands in a shared chunk, in the program or in a room's door. The layout under the build's directory
 * is the one of the sources, so the file is looked for from here upwards.
 *
 * Running from TypeScript sources there is no such file beside us; whoever does that (tests) builds the
 * thread and names it.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { invariant } from '../base/index.ts'

/** Rooms lie two levels below the build's directory at most. */
const LEVELS_MAX = 3

export function workerEntry(name: string, from: string = import.meta.url): URL {
  let directory = dirname(fileURLToPath(from))
  for (let level = 0; level < LEVELS_MAX; level++) {
    const file = join(directory, name)
    if (existsSync(file)) return pathToFileURL(file)
    directory = dirname(directory)
  }
  invariant(false, `the built file ${name} is not beside the program`)
}
