/**
 * The whole way of a task (D-1, D-2, W-2): a person issues it in the console with a passkey, a simulated
 * pump hears of it over MQTT from a real broker, carries it out, and its signed receipt is on the record.
 */
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Broker, startBroker } from '../../examples/field/broker.mjs'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE } from '../server/service-place.ts'
import { ConsolePlace, startBrowser } from '../web/console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const WORD = 'a-word-for-trials'
const KEYS = JSON.stringify([{ name: 'water_mm', type: 'number', min: 0, max: 40 }])

let place: ConsolePlace
let broker: Broker
let browser: Browser
let pump: ChildProcess | null = null

function human(...words: readonly string[]): void {
  const { status, err } = place.writ([...words, '--pass-fd', '3'], { passphrase: PASSPHRASE })
  expect(status, err).toBe(0)
}

beforeAll(async () => {
  place = new ConsolePlace('field-console')
  browser = await startBrowser()
  broker = await startBroker(join(place.folder, 'broker'), { writ: WORD, 'local/pump-1': WORD })
  const way = { name: 'field', kind: 'mqtt', url: broker.url, user: 'writ', secret: 'FIELD_WORD' }
  const dispatch = [{ ...way, ca: broker.ca, devices: ['pump-1@local'] }]
  place.write('.writ/laws.yaml', JSON.stringify({ laws: [], settings: { dispatch } }))
  human('laws', 'accept', '--yes')
  expect(place.writ(['secret', 'set', 'FIELD_WORD'], { input: WORD }).status).toBe(0)
  const dir = join(place.folder, 'pump-1')
  human('principal', 'add', 'device:pump-1@local')
  human('device', 'enroll', 'pump-1@local', place.writ(['device', 'key', '--dir', dir]).out.trim())
  await place.serve()
  const homeKey = place.writ(['ledger', 'key', '--json']).json.public_key
  const word = join(place.folder, 'word')
  writeFileSync(word, WORD)
  const reach = ['--broker', broker.url, '--ca', broker.ca, '--password-file', word]
  const own = ['pump-1@local', '--home-key', homeKey, '--dir', dir]
  pump = place.start(['device', 'run', ...own, ...reach, '--simulate', '--seconds', '0'])
})

afterAll(async () => {
  pump?.kill('SIGTERM')
  await browser?.close()
  await place?.end()
  await broker?.stop()
  place?.remove()
})

it('a task that is issued in the console is carried out by a pump over MQTT, and its receipt verifies', async () => {
  const page = await place.open(browser)
  await place.register(page)
  await page.goto(`${place.address}/tasks`)
  await page.getByRole('button', { name: 'Issue a task' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Parameters: names, types and bounds').fill(KEYS)
  await dialog.getByLabel('Place', { exact: true }).fill('north/7')
  await dialog.getByLabel('Device that carries it out').fill('pump-1')
  await dialog.getByLabel('water_mm (0…40)').fill('12')
  await dialog.getByRole('button', { name: /passkey/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /^act-|^task-/ }).click()
  await page.getByText('the device has answered').waitFor({ timeout: 120_000 })
  await page.getByRole('heading', { name: 'Receipt', exact: true }).waitFor()
  await page.getByText('The record is intact').waitFor()
  expect(place.reports).toEqual([])

  const [{ act_task_id }] = place.writ(['task', 'list', '--json']).json.tasks
  const shown: Json = place.writ(['task', 'show', act_task_id, '--json']).json
  expect(shown).toMatchObject({ status: 'executed', integrity_report: { ok: true } })
  expect(shown.dispatch).toMatchObject({ state: 'answered', way: 'field', device: 'pump-1@local' })
  const receipts = shown.facts.filter((fact: Json) => fact.record.type.includes('receipt'))
  expect(receipts).toHaveLength(1)
  expect(receipts[0].record.payload.observed_parameters).toEqual({ water_mm: 12 })
  expect(place.writ(['ledger', 'verify']).status).toBe(0)
  expect(place.writ(['replay', '--json']).json.differences).toEqual([])
})
