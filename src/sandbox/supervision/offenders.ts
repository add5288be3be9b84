/**
 * What a limit ends in a sandbox that lasts (S-12a): commands that the agent started, not the agent, unless
 * it takes too much memory itself.
 *
 * Processes of writ's own start before the agent, so everything that began after the agent is its own.
 */
import { type HeldTerminal, memoryOf, startOf, terminalOf } from './meters.ts'
import { childrenOf, killQuietly, processesBelow } from './process-tree.ts'

interface AgentProcesses {
  readonly agent: number
  readonly commands: readonly number[]
}

/** Null if the agent is gone. */
function agentProcesses(first: number, hasTerminal: boolean): AgentProcesses | null {
  const agent = hasTerminal ? leaderOf(terminalOf(first)) : oldest(childrenOf(first))
  if (agent === undefined) return null
  const since = startOf(agent)
  if (since === 0) return null
  const commands = processesBelow(first).filter((pid) => pid !== agent && startOf(pid) > since)
  return { agent, commands }
}

function leaderOf(terminal: HeldTerminal | null): number | undefined {
  return terminal?.leader
}

/** Those that are gone by now have no start. */
function oldest(pids: readonly number[]): number | undefined {
  const starts = pids.map((pid) => ({ pid, start: startOf(pid) })).filter(({ start }) => start > 0)
  return starts.sort((one, other) => one.start - other.start)[0]?.pid
}

/** How often it is looked for processes that were just made. */
const PASSES = 5

/** Ends all commands; returns whether there were any. */
export function endCommands(first: number, hasTerminal: boolean): boolean {
  let isAny = false
  for (let pass = 0; pass < PASSES; pass++) {
    const { commands = [] } = agentProcesses(first, hasTerminal) ?? {}
    if (commands.length === 0) return isAny
    isAny = true
    for (const pid of commands) killQuietly(pid, 'SIGKILL')
  }
  return isAny
}

/** An agent that holds this part of the cap itself is what takes too much. */
const AGENT_PART = 1 / 2
/** A command that holds less than this part of the cap is one of many. */
const COMMAND_PART = 1 / 10

/** Ends what takes the memory: the largest command, all of them if they are many, or the agent. */
export function endForMemory(first: number, hasTerminal: boolean, capBytes: number): boolean {
  const { agent, commands = [] } = agentProcesses(first, hasTerminal) ?? {}
  if (agent === undefined) return false
  const [largest] = [...commands].sort((one, other) => memoryOf(other) - memoryOf(one))
  if (largest === undefined || memoryOf(agent) > capBytes * AGENT_PART) {
    killQuietly(agent, 'SIGKILL')
    return true
  }
  if (memoryOf(largest) < capBytes * COMMAND_PART) return endCommands(first, hasTerminal)
  killQuietly(largest, 'SIGKILL')
  return true
}
