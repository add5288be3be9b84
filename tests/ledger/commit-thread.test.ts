/** The thread that commits for a process which appends often: the process goes on while it waits. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-commit-thread-')))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Appends until the thread has the ledger open, which shows as a second descriptor of the file. */
const BUSY = `
import { readdirSync, readlinkSync } from 'node:fs'
const [, folder, store] = process.argv
const { connect, createLedger, openLedger } = await import(store)
const principal = { kind: 'human', id: 'ann', namespace: 'local' }
await createLedger({ directory: folder }, 'example.org/t', { principal, source: 'test' })
const ledger = await openLedger({ directory: folder })
const draft = {
  stream: 'main',
  idempotencyKey: null,
  middle: '"principal":{"id":"ann","kind":"human","namespace":"local"},"record":{"type":"t"}',
  tail: '"source":"","stream":"main"',
  expectedSize: null,
}
const file = folder + '/ledger.db'
const target = (fd) => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
const isOpenTwice = () => readdirSync('/proc/self/fd').filter((fd) => target(fd) === file).length > 1
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
let count = 0
const append = async (expectedSize = null) => {
  const [fact] = await ledger.store.append([{ ...draft, expectedSize }])
  count++
  return fact.size
}
for (let commit = 0; commit < 40; commit++) await append()
for (let look = 0; look < 300 && !isOpenTwice(); look++) await pause(100)
await pause(500)
`

/** Other code of the process runs while another connection holds the lock of the ledger. */
const HELD = `${BUSY}
const other = connect(file, 'write')
other.exec('BEGIN IMMEDIATE')
let ticks = 0
const timer = setInterval(() => {
  if (++ticks === 10) other.exec('ROLLBACK')
}, 5)
const sizes = await Promise.all([append(), append(), append(0).catch((error) => error.fault.code)])
clearInterval(timer)
other.close()
const head = await ledger.store.head('main')
const facts = await ledger.store.read('main', 0, 1000)
await ledger.close()
console.log(JSON.stringify({ ticks, sizes, count, head: head.size, facts: facts.length }))
`

/** A process that has nothing else to do stays until what it appends is recorded. */
const LEFT = `${BUSY}
append().then((size) => console.log(JSON.stringify({ size })))
`

function answerOf(script: string) {
  const store = pathToFileURL(resolve('dist/store/index.js')).href
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script, folder, store],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('commits of a busy process', () => {
  it('leave its thread free, and refuse and record as before', () => {
    const { ticks, sizes, count, head, facts } = answerOf(HELD)
    expect(ticks).toBeGreaterThanOrEqual(10)
    expect(sizes).toEqual([42, 42, 'ledger.head_moved'])
    expect([count, head, facts]).toEqual([42, 42, 42])
  })

  it('are waited for by a process that has nothing else to do', () => {
    expect(answerOf(LEFT)).toEqual({ size: 41 })
  })
})
