/**
 * Continues a command that has a terminal of its own from `script(1)`. When the child of `script` is
 * stopped, `script` stops too; when `script` goes on, it continues its child and reads a SIGCHLD about
 * that. The kernel keeps one SIGCHLD at a time: if the child ends before `script` has read that one,
 * `script` never learns of the end. So the rest of the foreground group goes on only after it has.
 */

import {
  groupMembers,
  type HeldTerminal,
  hasPending,
  SIGCHLD,
  stateOf,
  terminalOf,
} from '../supervision/meters.ts'
import { killQuietly } from '../supervision/process-tree.ts'

const POLL_MS = 5
/** A child that computes all the time looks like one that did not run yet. */
const POLLS_MAX = 400

/** `first` is the first process inside; `isRunning` says whether its command still runs. */
export function resumeTerminal(first: number, isRunning: () => boolean, polls = POLLS_MAX): void {
  const held = isRunning() ? terminalOf(first) : null
  if (held === null) return
  if (polls === 0 || isRelayed(held)) return killQuietly(-held.group, 'SIGCONT')
  // `script` may have stopped only after the last signal.
  if (stateOf(held.leader) === 'T')
    for (const member of groupMembers(first)) killQuietly(member, 'SIGCONT')
  setTimeout(() => resumeTerminal(first, isRunning, polls - 1), POLL_MS)
}

/** Whether the child of `script` went on, and `script` knows. */
function isRelayed({ leader, relay }: HeldTerminal): boolean {
  const state = stateOf(leader)
  return state !== 'T' && state !== 'R' && !hasPending(relay, SIGCHLD)
}
