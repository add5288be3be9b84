/** Processes below another one, as the machine outside counts them. */
import { readdirSync } from 'node:fs'
import { textOr } from './meters.ts'

/** Returns the processes below one, parents before children. */
export function processesBelow(first: number): readonly number[] {
  const found: number[] = []
  const open = [...childrenOf(first)]
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    found.push(pid)
    open.push(...childrenOf(pid))
  }
  return found
}

/** Every thread has children of its own. */
export function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) => {
    const children = textOr(`/proc/${pid}/task/${thread}/children`)
    return children === '' ? [] : children.split(' ').map(Number)
  })
}

export function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It ended meanwhile.
    return []
  }
}

/** Sends a signal to a process that may be gone. */
export function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself in this moment.
  }
}
