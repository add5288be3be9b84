/** Where hooks are installed for this caller, and the programs of writ that they start. */
import { join } from 'node:path'
import { gitTop, stateRoot } from '../../home/index.ts'
import type { HookPlaces } from '../../hooks/index.ts'
import { surroundings } from '../call/terminal.ts'
import { ownBin, ownProgram } from './own-program.ts'

/** Long enough for a settle at the end of a tool. */
const HOOK_SECONDS = 60

export function placesHere(): HookPlaces {
  const around = surroundings()
  const bin = ownBin()
  return {
    home: around.userDirectory,
    project: gitTop(around.cwd) ?? around.cwd,
    state: stateRoot(around),
    writ: ownProgram(),
    shell: join(bin, 'writ-shell.cjs'),
    plugins: join(bin, 'plugins'),
    seconds: HOOK_SECONDS,
  }
}
