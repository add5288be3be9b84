/** The environment of a program that dies with SIGKILL right before the call that `at` names. */
import { join } from 'node:path'

const PRELOAD = join(process.cwd(), 'tests', 'cli-gate', 'die-at.mjs')

/** `at` is `function pattern`; the pattern is matched with the path of the call. */
export function dying(at: string): Record<string, string> {
  return { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_AT: at }
}
