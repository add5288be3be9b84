/** The pages about the service hold what they say: docs/api.md is its description, a backup can be restored. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { apiPage } from './api-page.ts'
import { ServicePlace } from './service-place.ts'

const PAGE = join('docs', 'api.md')
let place: ServicePlace

beforeAll(() => {
  place = new ServicePlace('operations')
}, 60_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

it('docs/api.md has every route as the service describes it', () => {
  if (process.env['WRIT_RECORD'] === '1') writeFileSync(PAGE, apiPage())
  expect(readFileSync(PAGE, 'utf8')).toBe(apiPage())
})

it.runIf(existsSync('/usr/bin/systemd-analyze'))('the unit is one that systemd takes', () => {
  const page = readFileSync(join('docs', 'operations.md'), 'utf8')
  const [, unit = ''] = /```ini\n(.*?)```/s.exec(page) ?? []
  expect(unit).toContain('[Service]')
  const file = join(place.folder, 'writ@.service')
  const faultsOf = (text: string): string => {
    writeFileSync(file, text)
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    return `${stdout}${stderr}`
  }
  expect(faultsOf(unit)).toBe('')
  expect(faultsOf(unit.replace('KillMode=mixed', 'KillMode=mixt'))).toContain('mixt')
})

it('a backup of workspace and state is a whole home again: verified, served, and undone from', async () => {
  const bot = place.tokenOf('ai:bot@local')
  await place.serve()
  const body = place.proposal('kept.txt')
  await place.client(bot).proposeAction({ query: {}, body, wait: 60 } as Json)
  expect(await place.end()).toBe(0)
  const kept = place.writ(['ledger', 'checkpoint']).out
  const folders = ['project', 'state'].map((name) => join(place.folder, name))
  const backup = join(place.folder, 'backup')
  for (const [index, folder] of folders.entries())
    cpSync(folder, join(backup, String(index)), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    })
  for (const folder of folders) rmSync(folder, { recursive: true })
  for (const [index, folder] of folders.entries())
    cpSync(join(backup, String(index)), folder, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    })
  writeFileSync(join(place.folder, 'checkpoint'), kept)
  const around = { isWarm: false }
  const verified = place.writ(
    ['ledger', 'verify', '--from', join(place.folder, 'checkpoint'), '--json'],
    around,
  )
  expect(verified.json).toMatchObject({ ok: true, anchored: true })
  await place.serve()
  const shown = await place.client(bot).showAction({ params: { id: body.descriptor.action_id } })
  expect(shown.value.status).toBe('promoted')
  await place.end()
  const undone = place.writ(['undo', '--json'], around)
  expect(undone.json).toMatchObject({ restored: [join(place.project, 'kept.txt')] })
}, 240_000)
