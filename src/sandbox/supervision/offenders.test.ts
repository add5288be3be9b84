/** Which processes a limit ends in a sandbox that lasts, with real processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { isDead } from './meters.ts'
import { endCommands, endForMemory } from './offenders.ts'
import { processesBelow } from './process-tree.ts'

const MEBIBYTE = 1024 * 1024
let first: ChildProcess
afterEach(() => {
  for (const pid of [...processesBelow(first.pid ?? 0), first.pid ?? 0]) {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  }
})

/** A first process, an agent below it, and commands below that; resolves to the agent's id when they run. */
async function started(commands: string): Promise<number> {
  // The agent begins before its commands by more than a tick of the kernel's clock.
  const agent = `sleep 0.1; ${commands} echo ready; read -r _`
  first = spawn('bash', ['-c', `bash -c '${agent}'; sleep 60`], {
    // The agent waits for a line that never comes, and so starts no process of its own.
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  await new Promise((resolve) => first.stdout?.once('data', resolve))
  const [pid = 0] = processesBelow(first.pid ?? 0)
  return pid
}

const LARGE = `node -e "const kept = Buffer.alloc(3e8, 1); setInterval(() => kept.length, 1e3)" &`

describe('a limit', () => {
  it('of memory ends the largest command, or all where they are many, and spares the agent', async () => {
    const agent = await started(`${LARGE} sleep 61 & sleep 62 & sleep 2;`)
    const before = processesBelow(agent)
    expect(endForMemory(first.pid ?? 0, false, 400 * MEBIBYTE, () => true)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const dead = before.filter(isDead)
    expect([dead.length, isDead(agent)]).toEqual([1, false])
    expect(endForMemory(first.pid ?? 0, false, 4_000 * MEBIBYTE, () => true)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([before.every(isDead), isDead(agent)]).toEqual([true, false])
  })

  it('of memory ends nothing if the memory is free again', async () => {
    const agent = await started('sleep 65 & sleep 0.2;')
    const before = processesBelow(agent)
    expect(endForMemory(first.pid ?? 0, false, MEBIBYTE, () => false)).toBeNull()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([...before, agent].filter(isDead)).toEqual([])
  })

  it('ends every command of an agent, also one that left it', async () => {
    const agent = await started('setsid sleep 63 & (sleep 64 &) ; sleep 0.2;')
    const before = processesBelow(agent)
    expect(endCommands(first.pid ?? 0, false)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([before.every(isDead), isDead(agent)]).toEqual([true, false])
  })
})
