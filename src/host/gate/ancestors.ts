/**
 * The programs that this process was started by, nearest first. Whether one of them is a known agent
 * is the gate's question; an agent can hide itself, so the answer only makes things stricter.
 */
import { readFileSync } from 'node:fs'

const DEPTH_MAX = 64

/** Names and first arguments of the parent chain, as far as this user can see. */
export function ancestorNames(): readonly string[] {
  const names: string[] = []
  let pid = process.ppid
  for (let depth = 0; depth < DEPTH_MAX && pid > 1; depth++) {
    const process = readProcess(pid)
    if (process === null) break
    names.push(...process.names)
    pid = process.parent
  }
  return names
}

function readProcess(pid: number): { names: readonly string[]; parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    // An agent written for an interpreter is told by its script.
    const programs = argv.slice(0, 2).map((word) => word.slice(word.lastIndexOf('/') + 1))
    return { names: [name, ...programs].filter((word) => word !== ''), parent }
  } catch {
    return null
  }
}
