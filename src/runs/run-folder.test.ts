/** Processes that died while they wrote leave nothing where people look, nor in the state. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { RunFolder } from './run-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'writ-run-folder-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const RUN = 'run-00000000-0000-7000-8000-000000000000'

it('takes away half-written files, but not an order that a process is giving', async () => {
  const home = { state: join(root, 'state'), directory: join(root, 'home') }
  const state = join(home.state, 'runs', RUN)
  const shown = join(home.directory, 'runs', RUN)
  for (const folder of [join(state, 'begun'), join(state, 'orders'), shown]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'a.json.0123456789ab.tmp'), 'half')
  }
  writeFileSync(join(state, 'waiting.json.0123456789ab.tmp'), '[')
  writeFileSync(join(shown, 'waiting-a.json'), '{}')
  const folder = new RunFolder(home, RUN)
  const inside = await folder.locked(async () => ({
    begun: folder.begun(),
    orders: folder.orders(),
  }))
  expect(inside).toEqual({ begun: [], orders: [] })
  expect(readdirSync(shown)).toEqual(['waiting-a.json'])
  expect(readdirSync(state).filter((name) => name.endsWith('.tmp'))).toEqual([])
  expect(readdirSync(join(state, 'orders'))).toHaveLength(1)
})

it('counts copies of an order once that two processes left at the same moment', () => {
  const home = { state: join(root, 'copies'), directory: join(root, 'home') }
  const folder = new RunFolder(home, RUN)
  folder.leaveOrder({ say: 'yes' }, 6, 'abc')
  folder.leaveOrder({ say: 'no' }, 7, 'def')
  // As a process leaves it that looked before the first one was left.
  const orders = join(home.state, 'runs', RUN, 'orders')
  const copy = (ms: number) => join(orders, `${String(ms).padStart(15, '0')}-abc.json`)
  writeFileSync(copy(5), JSON.stringify({ say: 'yes' }))
  expect(folder.orders().map(({ atMs }) => atMs)).toEqual([5, 7])
  folder.orders()[0]?.done()
  expect(readdirSync(orders)).toHaveLength(1)
  writeFileSync(copy(8), JSON.stringify({ say: 'yes' }))
  folder.leaveOrder({ say: 'yes' }, 9, 'abc')
  expect(folder.orders().map(({ atMs }) => atMs)).toEqual([7])
})
