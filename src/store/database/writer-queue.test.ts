/** Turns at a ledger's file: in the order of asking, and never longer than patience lasts. */

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import { SqliteError } from './sqlite-driver.ts'
import { WaitingList, WriterQueue } from './writer-queue.ts'

let directory = ''
let file = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'writ-queue-'))
  file = join(directory, 'ledger.db-turns')
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function busy(): never {
  throw new SqliteError('database is locked', 'SQLITE_BUSY')
}

describe('the waiting list', () => {
  it('tells how many came before', () => {
    const [first, second, third] = [1, 2, 3].map(() => new WaitingList(file)) as [
      WaitingList,
      WaitingList,
      WaitingList,
    ]
    for (const [ahead, list] of [first, second, third].entries()) {
      expect(list.look()).toBe(ahead)
      list.wait()
    }
    first.leave()
    expect(third.look()).toBe(1)
    // A writer that comes again goes to the end of the list.
    expect(first.look()).toBe(2)
    second.leave()
    expect(third.look()).toBe(0)
  })

  it('forgets who has stopped looking', async () => {
    const [dead, alive] = [new WaitingList(file), new WaitingList(file)]
    dead.look()
    dead.wait()
    expect(alive.look()).toBe(1)
    await sleep(60)
    expect(alive.look()).toBe(0)
  })

  it('is empty when it cannot be used, and follows no link', () => {
    const target = join(directory, 'precious')
    writeFileSync(target, 'text')
    symlinkSync(target, file)
    const list = new WaitingList(file)
    expect(list.look()).toBe(0)
    list.wait()
    list.leave()
    list.close()
    expect(new WaitingList(join(directory, 'none', 'turns')).look()).toBe(0)
  })

  it('counts as empty no matter what else the file holds', () => {
    writeFileSync(file, Buffer.alloc(5_000, 0xff))
    expect(new WaitingList(file).look()).toBe(0)
  })
})

describe('the writer queue', () => {
  const emptyList = { look: () => 0, wait: () => undefined, leave: () => undefined }

  it('does not ask while a process is in front', () => {
    const ahead = [3, 2, 1, 0]
    let asked = 0
    new WriterQueue({ ...emptyList, look: () => ahead.shift() ?? 0 }).enter(() => asked++)
    expect([ahead, asked]).toEqual([[], 1])
  })

  it('asks again as long as it is busy, and leaves the list either way', () => {
    let [asked, left] = [0, 0]
    const list = { ...emptyList, leave: () => void left++ }
    new WriterQueue(list).enter(() => (++asked < 5 ? busy() : undefined))
    expect([asked, left]).toEqual([5, 1])
    expect(() => new WriterQueue(list).enter(() => JSON.parse('{'))).toThrow(SyntaxError)
    expect(left).toBe(2)
  })

  it('gives up after its bound', () => {
    const queue = new WriterQueue(emptyList, 30)
    expect(() => queue.enter(busy)).toThrow(FaultError)
  })

  it('believes the list no longer than a second', () => {
    const started = performance.now()
    new WriterQueue({ ...emptyList, look: () => 7 }).enter(() => undefined)
    expect(performance.now() - started).toBeGreaterThan(900)
  })
})
