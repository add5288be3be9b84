/** A full disk under the state of a served home: a clear problem, nothing lost, and it goes on (H-4). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import type { Json } from '../cli-gate/place.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-served-full-'))
let answers: Json = {}

beforeAll(() => {
  ensureBuilt()
  mkdirSync(join(folder, 'state'))
  const mounting = 'mount -t tmpfs -o size=8m tmpfs "$1" && shift && exec "$@"'
  const program = [resolve('tests/server/full-disk.program.mjs'), folder, resolve('bin/writ.cjs')]
  const words = ['-c', mounting, 'sh', join(folder, 'state'), process.execPath, ...program]
  answers = JSON.parse(execFileSync('unshare', ['-rm', 'sh', ...words], { encoding: 'utf8' }))
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('works before', () => {
  expect([answers.before.status, answers.before.json.status]).toEqual([200, 'promoted'])
})

it('says that the disk is full, and changes nothing', () => {
  expect([answers.full.status, answers.full.json.code]).toEqual([507, 'ledger.disk_full'])
  expect(answers.full.json.detail).toContain('disk')
  expect(JSON.stringify(answers.full.json)).not.toContain(folder)
  expect(answers.fullFile).toBe(false)
})

it('reads without any room, and says that it is not ready', () => {
  expect(answers.fullList.status).toBe(200)
  expect(answers.fullList.json.actions).toHaveLength(1)
  expect(answers.fullAlive.status).toBe(200)
  expect([answers.fullReady.status, answers.fullReady.json.code]).toEqual([507, 'ledger.disk_full'])
})

it('goes on when there is room again, without a restart', () => {
  expect(answers.freedReady.status).toBe(200)
  expect([answers.after.status, answers.after.json.status]).toEqual([200, 'promoted'])
  expect(answers.afterFile).toBe(true)
  expect(answers.afterList.json.actions).toHaveLength(2)
  expect(answers.exit).toBe(0)
  expect(answers.verify).toMatchObject({ ok: true, problems: [] })
})
