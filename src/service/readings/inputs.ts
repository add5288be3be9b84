/**
 * Files of the scope that changed while a person was being asked (G-19d). A rehearsal may have read
 * them, so the approved effects may not be what a run would do now. Found by their time of change.
 * Paths that the act itself changes are compared apart, byte by byte.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { setImmediate as pause } from 'node:timers/promises'
import { displayOfRaw, joinRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { TICK_MS_MAX } from '../../tree/index.ts'

/** A scope that is larger is looked at as far as this. */
const ENTRIES_MAX = 300_000
const LISTED_MAX = 100
const PAUSE_EVERY = 2_000

/** Repositories and writ's own places change by being looked at. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.writ', 'node_modules', '__pycache__'])

export async function changedInputs(
  roots: readonly string[],
  sinceMs: number,
  touched: ReadonlySet<RawPath>,
  shown: ReadonlySet<string>,
): Promise<readonly RawPath[]> {
  const open = roots.map(rawOfText)
  const changed: RawPath[] = []
  let looked = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entriesOf(next)) {
      if (++looked > ENTRIES_MAX || changed.length >= LISTED_MAX) return changed.sort()
      if (looked % PAUSE_EVERY === 0) await pause()
      const path = joinRaw(next, entry.name as RawPath) // `entriesOf` reads raw names.
      if (SKIPPED.has(entry.name) || touched.has(path)) continue
      if (entry.isDirectory()) open.push(path)
      // Files' clock may be a tick behind; what was shown already is not shown again for that.
      else if (changeTimeMs(path) > sinceMs - (shown.has(displayOfRaw(path)) ? 0 : TICK_MS_MAX)) {
        changed.push(path)
      }
    }
  }
  return changed.sort()
}

function entriesOf(directory: RawPath): readonly Dirent[] {
  try {
    return readdirSync(Buffer.from(directory, 'latin1'), {
      withFileTypes: true,
      encoding: 'latin1',
    })
  } catch {
    return []
  }
}

function changeTimeMs(path: RawPath): number {
  return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false })?.ctimeMs ?? 0
}
