/**
 * `kill -9` between a recorded yes, or a decision that needed none, and its promotion. The lock of the
 * workspace is held meanwhile, so that the process dies exactly there; and at random moments, where
 * either end is right as long as a fact says which.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Json, Place } from './place.ts'

const ROUNDS = Number(process.env['WRIT_YES_KILLS'] ?? 3)

let place: Place
let holder: ChildProcess | null = null
beforeEach(() => {
  place = new Place('yes', { runs: 'warm' }).init()
})
afterEach(() => {
  holder?.kill('SIGKILL')
  place.remove()
})

function facts(type: string): Json[] {
  const { facts: found } = place.writ(['log', '--type', type, '--json']).json
  return found.map((fact: Json) => fact.record.payload)
}

function stateOfHome(): string {
  const id = readFileSync(join(place.project, '.writ', 'id'), 'utf8').trim()
  return join(place.folder, 'state', 'writ', id)
}

/** Leaves a question about a new file; its id. */
function ask(): string {
  expect(place.exec([], 'echo new > f').status).toBe(75)
  return place.pending()[0].id
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolved) => child.on('exit', resolved))
  }
}

async function holdWorkspace(): Promise<void> {
  holder = spawn('flock', [place.project, 'sh', '-c', 'echo held; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  await new Promise((resolved) => holder?.stdout?.once('data', resolved))
}

async function letGo(): Promise<void> {
  if (holder === null) return
  // The sleep is of its group.
  process.kill(-(holder.pid ?? 0), 'SIGKILL')
  await ended(holder)
  holder = null
}

/** Approves while the workspace is locked by another process, and dies with the yes on the record. */
async function approveAndDie(id: string): Promise<void> {
  await holdWorkspace()
  const child = place.start(['approve', id, '--yes'])
  while (facts('confirmation_v1').length === 0) await pause(50)
  child.kill('SIGKILL')
  await ended(child)
  await letGo()
  expect(place.has('f')).toBe(false)
}

describe('a yes on the record whose process died before the promotion', () => {
  it.each([
    ['recover', ['recover']],
    ['inbox', ['inbox']],
    ['exec', ['exec', '--', 'true']],
  ] as const)(
    'is carried out by %s',
    async (_, command) => {
      await approveAndDie(ask())
      const next = place.writ(command)
      expect(next.status, next.err).toBe(0)
      if (command[0] === 'recover') expect(next.out).toMatch(/promoted .* interrupted, and carried/)
      expect(place.text('f')).toBe('new\n')
      expect(facts('promotion_v1')[0]).toMatchObject({ status: 'APPLIED', paths: 1 })
      expect(place.writ(['recover']).out).toBe('nothing to recover: no promotion was interrupted\n')
      expect(place.writ(['undo']).status).toBe(0)
      expect(place.has('f')).toBe(false)
    },
    120_000,
  )

  it('is not carried out by a command of an agent, and is by the next one of a person', async () => {
    expect(place.writ(['principal', 'add', 'ai:bot@local']).status).toBe(0)
    const { token } = place.writ(['token', 'create', 'ai:bot@local', '--json']).json
    await approveAndDie(ask())
    expect(place.writ(['exec', '--', 'true'], { token }).status).toBe(0)
    expect(place.has('f')).toBe(false)
    const next = place.writ(['exec', '--', 'true'])
    expect([next.status, place.text('f')]).toEqual([0, 'new\n'])
    expect(next.err).toMatch(/promoted .* approved before, interrupted, and carried out now/)
  }, 120_000)

  it('is ended by a halt, and not carried out after it', async () => {
    await approveAndDie(ask())
    const halted = place.writ(['halt'])
    expect(halted.status).toBe(0)
    expect(halted.err).toMatch(/not promoted .* nothing was changed/)
    expect(facts('decision_v1').at(-1)).toMatchObject({ decision: 'BLOCK' })
    expect(place.writ(['resume', '--reason', 'ok']).status).toBe(0)
    expect(place.writ(['exec', '--', 'true']).status).toBe(0)
    expect(place.has('f')).toBe(false)
    expect(place.writ(['replay']).status).toBe(0)
  }, 120_000)

  it('is named by recover and inbox while it is there', async () => {
    await approveAndDie(ask())
    const file = join(stateOfHome(), 'halted')
    writeFileSync(file, '')
    for (const command of ['recover', 'inbox']) {
      expect(place.writ([command]).out).toMatch(/interrupted .* approved before and interrupted/)
    }
    rmSync(file)
    expect(place.writ(['recover']).out).toMatch(/promoted .* carried out now/)
  }, 120_000)

  it('is ended with a fact where the tree is another by then', async () => {
    await approveAndDie(ask())
    place.write('f', 'theirs')
    expect(place.writ(['recover']).out).toMatch(/not promoted .* \(promote\.conflict\)/)
    expect(place.text('f')).toBe('theirs')
    expect(facts('decision_v1').at(-1)).toMatchObject({ decision: 'BLOCK' })
    expect(place.writ(['recover']).out).toBe('nothing to recover: no promotion was interrupted\n')
  }, 120_000)
})

describe('a decision to promote whose process died before the promotion', () => {
  /** Runs a declared act, without a question, and kills it while another process holds the workspace. */
  async function actAndDie(script: string): Promise<void> {
    await holdWorkspace()
    const child = place.start(['exec', '--write', '.', '--', 'sh', '-c', script])
    while (facts('decision_v1').length === 0) await pause(50)
    child.kill('SIGKILL')
    await ended(child)
    await letGo()
    expect(place.has('f')).toBe(false)
  }

  it.each([
    ['recover', ['recover']],
    ['exec', ['exec', '--', 'true']],
  ] as const)(
    'is carried out by %s',
    async (_, command) => {
      await actAndDie('echo new > f')
      const next = place.writ(command)
      expect(next.status, next.err).toBe(0)
      if (command[0] === 'recover')
        expect(next.out).toMatch(/promoted .* begun before, interrupted/)
      expect(place.text('f')).toBe('new\n')
      expect(facts('promotion_v1')[0]).toMatchObject({ status: 'APPLIED', paths: 1 })
      expect(place.writ(['recover']).out).toBe('nothing to recover: no promotion was interrupted\n')
      expect(place.writ(['undo']).status).toBe(0)
    },
    120_000,
  )

  it('is ended with a fact where the tree is another by then', async () => {
    await actAndDie('echo new > f')
    place.write('f', 'theirs')
    expect(place.writ(['recover']).out).toMatch(/not promoted .* \(promote\.conflict\)/)
    expect(place.text('f')).toBe('theirs')
    expect(facts('decision_v1').at(-1)).toMatchObject({ decision: 'BLOCK' })
    expect(place.writ(['recover']).out).toBe('nothing to recover: no promotion was interrupted\n')
  }, 120_000)

  it('is left to its process while that lives', async () => {
    await holdWorkspace()
    const child = place.start(['exec', '--write', '.', '--', 'sh', '-c', 'echo new > f'])
    while (facts('decision_v1').length === 0) await pause(50)
    expect(place.pending()).toEqual([])
    expect(facts('promotion_v1')).toEqual([])
    await letGo()
    await ended(child)
    expect(child.exitCode).toBe(0)
    expect(facts('promotion_v1')).toHaveLength(1)
  }, 120_000)
})

describe(`${ROUNDS} processes killed at random moments of a declared act`, () => {
  it('leave it done or not, and of every decision a fact says which', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const child = place.start(['exec', '--write', '.', '--', 'sh', '-c', `echo new > f${round}`])
      await pause(150 + Math.random() * 450)
      child.kill('SIGKILL')
      await ended(child)
      expect(place.writ(['recover']).status).toBe(0)
      const decided = facts('decision_v1').filter(({ decision }) => decision === 'PROMOTE').length
      const ends = facts('promotion_v1').length
      const files = [...Array(round + 1).keys()].filter((each) => place.has(`f${each}`)).length
      expect({ round, ends, files }).toEqual({ round, ends: decided, files: decided })
    }
  }, 600_000)
})

describe(`${ROUNDS} processes killed at random moments of a yes`, () => {
  it('leave the act promoted, refused or waiting, and a fact says which', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      rmSync(join(place.project, 'f'), { force: true })
      const id = ask()
      const child = place.start(['approve', id, '--yes'])
      await pause(50 + Math.random() * 500)
      child.kill('SIGKILL')
      await ended(child)
      expect(place.writ(['recover']).status).toBe(0)
      const isWaiting = place.pending().length > 0
      const yes = facts('confirmation_v1').filter(({ answer }) => answer === 'APPROVED').length
      const isPromoted = facts('promotion_v1').length === yes
      expect({ round, isWaiting, isPromoted, has: place.has('f') }).toEqual(
        isWaiting
          ? { round, isWaiting, isPromoted: true, has: false }
          : { round, isWaiting, isPromoted: true, has: true },
      )
      if (isWaiting) expect(place.writ(['deny', id]).status).toBe(0)
    }
  }, 600_000)
})
