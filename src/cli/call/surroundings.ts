/** Where a command runs, and for whom: read from the process once, for rooms that do not read it. */
import { homedir, userInfo } from 'node:os'
import type { Surroundings } from '../../home/index.ts'

export function surroundings(): Surroundings {
  return {
    cwd: process.cwd(),
    env: process.env,
    userDirectory: homedir(),
    userName: userName(),
  }
}

/** Some systems run without an entry in the table of users. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'user'
  }
}
