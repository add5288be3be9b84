/** Words for the person and the agent when a limit of a session has ended a command (S-12a). */
import type { SessionTerms } from './session-files.ts'

export function limitWords(
  cap: 'disk' | 'memory' | 'processes',
  { limits }: Pick<SessionTerms, 'limits'>,
): string {
  if (cap === 'memory') {
    return `a command needed more than the ${limits.memory_mb} MB of memory of the session and was ended; \`writ run --memory\` gives more`
  }
  if (cap === 'disk') {
    return `the view holds more than ${limits.disk_mb} MB, so the commands that ran were ended; remove what is not needed, or start with \`--disk\``
  }
  return 'the session has too many processes, so the commands that ran were ended'
}
