/**
 * Finds a file that the build makes by itself: a worker thread, or a program that runs inside a sandbox.
 * Bundled code does not know its own place: the same source is part of a shared chunk, of the program
 * and of a room's door. The build's directory has the layout of the sources, so this searches upwards.
 *
 * Sources that run without a build have no such file; tests build it and pass its address.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { invariant } from '../base/index.ts'

/** Rooms lie two levels below the build's directory at most. */
const LEVELS_MAX = 3

export function workerEntry(name: string, from: string = import.meta.url): URL {
  const entry = builtEntry(name, from)
  invariant(entry !== null, `the built file ${name} is not next to the program`)
  return entry
}

/** The same; null where the file was not built, as in a program that is one file. */
export function builtEntry(name: string, from: string = import.meta.url): URL | null {
  let directory = dirname(fileURLToPath(from))
  for (let level = 0; level < LEVELS_MAX; level++) {
    const file = join(directory, name)
    if (existsSync(file)) return pathToFileURL(file)
    directory = dirname(directory)
  }
  return null
}
