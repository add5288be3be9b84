/**
 * Whether the packages of this checkout can be seen from inside a sandbox: places such as /tmp are
 * private there, and an ordinary user may not look into every home. Tasks that run tools from them are
 * left out where they cannot be seen.
 */
import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RoutineTask } from './task.ts'

const PRIVATE = ['/tmp/', '/var/tmp/', '/dev/shm/', '/run/']

export function runsHere({ run }: RoutineTask): boolean {
  return !run.includes('{packages}') || arePackagesSeen()
}

function arePackagesSeen(): boolean {
  const packages = realpathSync('node_modules')
  if (PRIVATE.some((place) => packages.startsWith(place))) return false
  for (let place = packages; place !== '/'; place = dirname(place)) {
    if ((statSync(place).mode & 0o005) !== 0o005) return false
  }
  return true
}
