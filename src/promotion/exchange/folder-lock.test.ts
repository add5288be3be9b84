/** Locks of folders hold within a process and against others, and end with the process. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { faultCode } from '../../base/index.ts'
import { withFolderLock } from './folder-lock.ts'

let folder: string

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-folder-lock-')))
  // From here on one program holds the locks of this process.
  for (let count = 0; count < 3; count++) await withFolderLock(folder, async () => undefined)
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Whether another process could have it. */
function isFree(): boolean {
  return spawnSync('flock', ['--nonblock', folder, 'true']).status === 0
}

function children(): readonly string[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ')
  return pids.filter((pid) => pid !== '')
}

async function codeOf(work: Promise<unknown>): Promise<string | null> {
  return work.then(
    () => null,
    (error: unknown) => faultCode(error),
  )
}

it('holds against others until the work ends, also if that fails', async () => {
  await withFolderLock(folder, async () => expect(isFree()).toBe(false))
  expect(isFree()).toBe(true)
  const failing = withFolderLock(folder, () => Promise.reject(new Error('broken')))
  await expect(failing).rejects.toThrow('broken')
  expect(isFree()).toBe(true)
})

it('is refused while this process or another one has it', async () => {
  await withFolderLock(folder, async () => {
    expect(await codeOf(withFolderLock(folder, async () => undefined))).toBe('workspace.busy')
  })
  const other = spawn('flock', [folder, 'sh', '-c', 'echo held; read line'])
  await new Promise((resolve) => other.stdout.once('data', resolve))
  expect(await codeOf(withFolderLock(folder, async () => undefined))).toBe('workspace.busy')
  const gone = new Promise((resolve) => other.once('exit', resolve))
  other.stdin.end()
  await gone
  expect(await codeOf(withFolderLock(folder, async () => undefined))).toBe(null)
})

it('needs no program for each lock', async () => {
  const before = children()
  await withFolderLock(folder, async () => {
    expect(children()).toEqual(before)
    const held = before.flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)),
    )
    expect(held).toContain(folder)
  })
})

it('keeps folders apart', async () => {
  const other = realpathSync(mkdtempSync(join(tmpdir(), 'writ-folder-lock-')))
  await withFolderLock(folder, () =>
    withFolderLock(other, async () => expect(isFree()).toBe(false)),
  )
  expect(isFree()).toBe(true)
  rmSync(other, { recursive: true })
})
