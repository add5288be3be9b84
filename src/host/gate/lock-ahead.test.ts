/** A lock that was asked for ahead is held once, and let go whatever becomes of it. */

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import { ParkedLock, withWorkspaceLock } from '../promotion/index.ts'
import { expectManyTools } from '../tree/tool.ts'
import { LOCK, LockAhead } from './lock-ahead.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-lock-ahead-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function isFree(waitMs: number): Promise<boolean> {
  try {
    await withWorkspaceLock(root, { waitMs }, async () => undefined)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(FaultError)
    return false
  }
}

it('is held by who takes it, until that lets it go', async () => {
  const ahead = new LockAhead(root)
  ahead.begin()
  await nextTurn()
  const { release } = await ahead.take()
  expect(await isFree(0)).toBe(false)
  ahead.letGo()
  expect(await isFree(0)).toBe(false)
  release()
  expect(await isFree(0)).toBe(true)
})

it('is let go when nobody takes it, though it comes only then', async () => {
  const ahead = new LockAhead(root)
  ahead.begin()
  await nextTurn()
  ahead.letGo()
  expect(await isFree(60_000)).toBe(true)
})

it('is not asked for any more when all is over', async () => {
  const ahead = new LockAhead(root)
  ahead.begin()
  ahead.letGo()
  await nextTurn()
  expect(await isFree(60_000)).toBe(true)
})

it('is asked for by who takes it, when nobody did before', async () => {
  const { release } = await new LockAhead(root).take()
  expect(await isFree(0)).toBe(false)
  release()
})

describe('a program that waits to set it', () => {
  it('sets it when it is told to, and not before', async () => {
    const parked = new ParkedLock(root)
    expect(await isFree(0)).toBe(true)
    const { release } = await parked.take(LOCK)
    expect(await isFree(0)).toBe(false)
    release()
    expect(await isFree(0)).toBe(true)
  })

  it('sets nothing when it is ended', async () => {
    new ParkedLock(root).end()
    expect(await isFree(0)).toBe(true)
  })

  it('tells when somebody else has it', async () => {
    const parked = new ParkedLock(root)
    await withWorkspaceLock(root, LOCK, async () => {
      await expect(parked.take({ waitMs: 0 })).rejects.toMatchObject({
        fault: { code: 'workspace.busy' },
      })
    })
    expect(await isFree(0)).toBe(true)
  })

  it('locks the directory that is there by then', async () => {
    const parked = new ParkedLock(root)
    renameSync(root, `${root}.old`)
    mkdirSync(root)
    const { release } = await parked.take(LOCK)
    expect(await isFree(0)).toBe(false)
    release()
    rmSync(`${root}.old`, { recursive: true })
  })

  it('is started while a command runs, by a process that lives long', async () => {
    expectManyTools()
    for (const isTaken of [true, false]) {
      const ahead = new LockAhead(root)
      ahead.park()
      await expect.poll(parked, { timeout: 5000 }).toBe(1)
      expect(await isFree(0)).toBe(true)
      if (isTaken) {
        const { release } = await ahead.take()
        expect(await isFree(0)).toBe(false)
        release()
      }
      ahead.letGo()
      expect(await isFree(0)).toBe(true)
      await expect.poll(parked, { timeout: 5000 }).toBe(0)
    }
  })

  it('gives way when its directory cannot be looked at any more', async () => {
    const [above, below] = [join(root, 'above'), join(root, 'above', 'below')]
    mkdirSync(below, { recursive: true })
    const one = new ParkedLock(below)
    rmSync(above, { recursive: true })
    writeFileSync(above, '')
    await expect(one.take(LOCK)).rejects.toBeInstanceOf(FaultError)
    await expect.poll(parked, { timeout: 5000 }).toBe(0)
    rmSync(above)
  })
})

/** How many programs of this process wait to set a lock. */
function parked(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim()
  return children
    .split(' ')
    .filter((pid) => pid !== '')
    .filter((pid) => commandLineOf(pid).includes('read -r waiting')).length
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It ended in this moment.
    return ''
  }
}
