/** When a session may settle by itself. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Boundary, isGitBusy } from './boundary.ts'

const [AGENT, TOOL] = [10, 20]

function boundaryOf(written: Map<number, number>): Boundary {
  return new Boundary(0, (pid) => written.get(pid) ?? 0)
}

function look(nowMs: number, processes: readonly number[], more = {}) {
  return { nowMs, processes, writers: () => [], isGitBusy: false, ...more }
}

describe('a boundary', () => {
  it('waits for processes that wrote, for git, and for two seconds', () => {
    const written = new Map<number, number>()
    const boundary = boundaryOf(written)
    expect(boundary.isReached(look(1_000, [AGENT]))).toBe(false)
    expect(boundary.isReached(look(2_500, [AGENT]))).toBe(true)
    expect(boundary.isReached(look(2_600, [AGENT], { isGitBusy: true }))).toBe(false)
    expect(boundary.isReached(look(2_700, [AGENT], { writers: () => [AGENT] }))).toBe(false)
    boundary.settled(2_800)
    expect(boundary.isReached(look(4_700, [AGENT]))).toBe(false)
    expect(boundary.isReached(look(6_000, [AGENT, TOOL]))).toBe(true)
    written.set(TOOL, 5)
    expect(boundary.isReached(look(6_300, [AGENT, TOOL]))).toBe(false)
    // It installs something: as long as it lives and wrote lately, nothing is settled.
    expect(boundary.isReached(look(16_300, [AGENT, TOOL]))).toBe(false)
    expect(boundary.isReached(look(16_600, [AGENT]))).toBe(true)
  })

  it('leaves it to the end of the session when all processes have ended', () => {
    const boundary = boundaryOf(new Map([[AGENT, 1]]))
    boundary.look(1_000, [AGENT])
    expect(boundary.isReached(look(9_000, []))).toBe(false)
  })

  it('takes the agent itself for done when it writes nothing for a moment', () => {
    const written = new Map([[AGENT, 1]])
    const boundary = boundaryOf(written)
    expect(boundary.isReached(look(3_000, [AGENT]))).toBe(false)
    expect(boundary.isReached(look(3_500, [AGENT]))).toBe(false)
    expect(boundary.isReached(look(3_700, [AGENT]))).toBe(true)
  })

  it('knows the agent also if it starts late, and writes later still', () => {
    const written = new Map<number, number>()
    const boundary = boundaryOf(written)
    boundary.look(9_000, [AGENT])
    boundary.look(20_000, [AGENT])
    written.set(AGENT, 1)
    expect(boundary.isReached(look(20_300, [AGENT]))).toBe(false)
    expect(boundary.isReached(look(21_000, [AGENT]))).toBe(true)
  })

  it('takes a server for done that has not written for half a minute', () => {
    const written = new Map([[TOOL, 1]])
    const boundary = boundaryOf(written)
    boundary.look(1_000, [AGENT])
    boundary.isReached(look(10_000, [AGENT, TOOL]))
    expect(boundary.isReached(look(39_000, [AGENT, TOOL]))).toBe(false)
    expect(boundary.isReached(look(40_500, [AGENT, TOOL]))).toBe(true)
  })
})

describe('git', () => {
  it('is at work while a lock or a rebase is there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-boundary-'))
    try {
      expect(isGitBusy([folder, join(folder, 'absent')])).toBe(false)
      writeFileSync(join(folder, 'index.lock'), '')
      expect(isGitBusy([folder])).toBe(true)
      rmSync(join(folder, 'index.lock'))
      mkdirSync(join(folder, 'rebase-merge'))
      expect(isGitBusy([folder])).toBe(true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
