/** The build, made once by each worker: files share the modules of their worker. */
import { execFileSync } from 'node:child_process'

let isBuilt = false

/** Builds the program if a source has changed since the last build. */
export function ensureBuilt(): void {
  if (isBuilt) return
  execFileSync(process.execPath, ['tools/build.mjs'])
  isBuilt = true
}
