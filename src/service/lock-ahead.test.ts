/** A lock that was asked for ahead is held once, and let go whatever becomes of it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { FaultError } from '../base/index.ts'
import { withWorkspaceLock } from '../promotion/index.ts'
import { LockAhead } from './lock-ahead.ts'

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
