/** A lock that is taken often holds against others and within the process, also if its program dies. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withWorkspaceLock } from './lock.ts'

const WAIT = { waitMs: 10_000 }
let root: string

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-lock-')))
  // From here on a program of this root sets it.
  for (let count = 0; count < 3; count++) await withWorkspaceLock(root, WAIT, async () => {})
  expect(keepers()).not.toEqual([])
})

afterEach(() => {
  for (const pid of keepers()) process.kill(pid, 'SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

/** Whether another process could have it. */
function isFree(): boolean {
  return spawnSync('flock', ['--nonblock', root, 'true']).status === 0
}

function childrenOf(): readonly number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim()
  return children
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
}

/** The programs of this process that set locks. */
function keepers(): readonly number[] {
  return childrenOf().filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('flock($root'),
  )
}

it('holds against others until the work ends, also if that fails', async () => {
  await withWorkspaceLock(root, WAIT, async () => expect(isFree()).toBe(false))
  expect(isFree()).toBe(true)
  const failing = withWorkspaceLock(root, WAIT, () => Promise.reject(new Error('it failed')))
  await expect(failing).rejects.toThrow('it failed')
  expect(isFree()).toBe(true)
})

it('holds within the process', async () => {
  let inside = 0
  const work = async (): Promise<void> => {
    expect(++inside).toBe(1)
    await pause(5)
    inside--
  }
  await Promise.all(Array.from({ length: 8 }, () => withWorkspaceLock(root, WAIT, work)))
  await withWorkspaceLock(root, WAIT, async () => {
    const second = withWorkspaceLock(root, { waitMs: 0 }, async () => {})
    await expect(second).rejects.toMatchObject({ fault: { code: 'workspace.busy' } })
  })
})

it('is waited for if another process has it', async () => {
  const other = spawnSync('sh', ['-c', 'flock "$0" sleep 0.3 >/dev/null 2>&1 & sleep 0.1', root])
  expect([other.status, isFree()]).toEqual([0, false])
  const none = withWorkspaceLock(root, { waitMs: 0 }, async () => {})
  await expect(none).rejects.toMatchObject({ fault: { code: 'workspace.busy' } })
  expect(await withWorkspaceLock(root, WAIT, async () => isFree())).toBe(false)
})

it('outlives its program, and is dropped without it', async () => {
  await withWorkspaceLock(root, WAIT, async () => {
    for (const pid of keepers()) process.kill(pid, 'SIGKILL')
    await expect.poll(keepers).toEqual([])
    expect(isFree()).toBe(false)
  })
  expect(isFree()).toBe(true)
  await withWorkspaceLock(root, WAIT, async () => expect(isFree()).toBe(false))
  expect(isFree()).toBe(true)
})

it('is that of the directory which is there now', async () => {
  renameSync(root, `${root}.old`)
  mkdirSync(root)
  await withWorkspaceLock(root, WAIT, async () => expect(isFree()).toBe(false))
  expect(isFree()).toBe(true)
  rmSync(`${root}.old`, { recursive: true })
})

it('waits for another process without a program for each wait', async () => {
  const other = spawn('flock', [root, 'sh', '-c', 'echo held; sleep 0.3'])
  await new Promise((resolve) => other.stdout.once('data', resolve))
  const before = childrenOf()
  const waiting = withWorkspaceLock(root, WAIT, async () => expect(isFree()).toBe(false))
  await pause(100)
  const during = childrenOf()
  await waiting
  expect(during).toEqual(before)
})

it('is refused at once where this process has it and may not wait', async () => {
  await withWorkspaceLock(root, WAIT, async () => {
    const before = childrenOf()
    const second = withWorkspaceLock(root, { waitMs: 0 }, async () => undefined)
    await expect(second).rejects.toMatchObject({ fault: { code: 'workspace.busy' } })
    expect(childrenOf()).toEqual(before)
  })
})
