/**
 * The halt (G-23). A file in the state directory says it at once to every process that runs a
 * sandbox; the fact on the ledger is the record. The file is made first and removed last, so that no
 * order of failures lets something run on.
 */
import { existsSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { writeWhole } from '../../machine/index.ts'

const FILE = 'halted'
/** Watching a directory can miss an event; looking again costs nothing. */
const LOOK_MS = 200

export function isHalted(state: string): boolean {
  return existsSync(join(state, FILE))
}

export function raiseHalt(state: string, at: string): void {
  writeWhole(join(state, FILE), `${at}\n`, 0o600)
}

export function liftHalt(state: string): void {
  rmSync(join(state, FILE), { force: true })
}

/** Calls `abort` as soon as a human halts. Returns a function that ends the watch. */
export function watchHalt(state: string, abort: () => void): () => void {
  const look = (): void => {
    if (isHalted(state)) abort()
  }
  // Everything that is recorded changes the directory: only a change of the file is looked at.
  const watcher = watch(state, { persistent: false }, (_, name) => {
    if (name === null || name === FILE) look()
  })
  watcher.on('error', () => {})
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  look()
  return () => {
    clearInterval(timer)
    watcher.close()
  }
}
