/**
 * What a limit ends in a sandbox that lasts (S-12a): commands that the agent started, not the agent, unless
 * it takes too much memory itself.
 *
 * Processes of writ's own start before the agent, so everything that began after the agent is its own.
 */
import { type HeldTerminal, memoryOf, startOf, stateOf, terminalOf } from './meters.ts'
import { childrenOf, killQuietly, processesBelow } from './process-tree.ts'

interface AgentProcesses {
  readonly agent: number
  readonly commands: readonly number[]
  /** The agent and what began before it. */
  readonly others: readonly number[]
}

/** Null if the agent is gone. */
function agentProcesses(first: number, hasTerminal: boolean): AgentProcesses | null {
  const agent = hasTerminal ? leaderOf(terminalOf(first)) : oldest(childrenOf(first))
  if (agent === undefined) return null
  const since = startOf(agent)
  if (since === 0) return null
  const [commands, others]: [number[], number[]] = [[], [agent]]
  for (const pid of processesBelow(first)) {
    const start = startOf(pid)
    if (start > since) commands.push(pid)
    else if (start > 0) others.push(pid)
  }
  return { agent, commands, others }
}

function leaderOf(terminal: HeldTerminal | null): number | undefined {
  return terminal?.leader
}

/** Those that are gone by now have no start. */
function oldest(pids: readonly number[]): number | undefined {
  const starts = pids.map((pid) => ({ pid, start: startOf(pid) })).filter(({ start }) => start > 0)
  return starts.sort((one, other) => one.start - other.start)[0]?.pid
}

/** A machine that has time for nothing else is slow to end them; the next look goes on then. */
const END_MS = 2000
/** Between two lists of processes that end. */
const REST_MS = 1

/**
 * Ends all commands; returns whether there were any. Stops them before it kills them: processes that
 * multiply are faster than a list of them, but one that has to stop makes no other. What the agent itself
 * started is killed at once, so that the agent sees an end and not a stop.
 */
export function endCommands(first: number, hasTerminal: boolean): boolean {
  const found = agentProcesses(first, hasTerminal)
  if (found === null || found.commands.length === 0) return false
  const spared = new Set([first, ...found.others])
  const until = performance.now() + END_MS
  const told = new Set<number>()
  for (let before = -1; told.size > before && performance.now() < until; ) {
    before = told.size
    stopBelow(first, { ...found, spared, told })
  }
  const living = (): readonly number[] =>
    processesBelow(first).filter((pid) => !spared.has(pid) && !'ZX'.includes(stateOf(pid)))
  for (let left = living(); left.length > 0 && performance.now() < until; left = living()) {
    for (const pid of left) killQuietly(pid, 'SIGKILL')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REST_MS)
  }
  return true
}

/** Stops each process as soon as it is listed, in one pass from the first process down. */
function stopBelow(
  first: number,
  { agent, spared, told }: { agent: number; spared: ReadonlySet<number>; told: Set<number> },
): void {
  const open = [first]
  for (let above = open.shift(); above !== undefined; above = open.shift()) {
    for (const pid of childrenOf(above)) {
      if (!spared.has(pid) && !told.has(pid)) {
        killQuietly(pid, above === agent ? 'SIGKILL' : 'SIGSTOP')
        told.add(pid)
      }
      open.push(pid)
    }
  }
}

/** An agent that holds this part of the cap itself is what takes too much. */
const AGENT_PART = 1 / 2
/** A command that holds less than this part of the cap is one of many. */
const COMMAND_PART = 1 / 10

/**
 * Ends what takes the memory: the largest command, all of them if they are many, or the agent. Null if the
 * memory is free again by the time that all are listed: an ended command lets go of it late, and neither
 * the agent nor other commands must pay for that.
 */
export function endForMemory(
  first: number,
  hasTerminal: boolean,
  capBytes: number,
  isOver: () => boolean,
): boolean | null {
  const { agent, commands = [] } = agentProcesses(first, hasTerminal) ?? {}
  if (agent === undefined) return false
  const [largest] = [...commands].sort((one, other) => memoryOf(other) - memoryOf(one))
  if (!isOver()) return null
  if (largest === undefined || memoryOf(agent) > capBytes * AGENT_PART) {
    killQuietly(agent, 'SIGKILL')
    return true
  }
  if (memoryOf(largest) < capBytes * COMMAND_PART) return endCommands(first, hasTerminal)
  killQuietly(largest, 'SIGKILL')
  return true
}
