/** The keys of devices: a new one is named, one that another device has is refused, and silence has words. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { digestDocument } from '../../src/base/index.ts'
import { DeviceJournal, type DeviceNews, Executor, openDeviceKey } from '../../src/device/index.ts'
import { offerText } from '../../src/ledger/index.ts'
import { type Ended, Place } from '../cli-gate/place.ts'

let place: Place

beforeAll(() => {
  place = new Place('device-keys')
  place.writ(['init', '--no-pass'])
  for (const id of ['pump-1', 'pump-2'])
    expect(place.writ(['principal', 'add', `device:${id}@local`]).status).toBe(0)
}, 60_000)

afterAll(() => place.remove())

function keyOf(folder: string): string {
  return place.writ(['device', 'key', '--dir', join(place.folder, folder)]).out.trim()
}

function enroll(device: string, key: string): Ended {
  return place.writ(['device', 'enroll', device, key])
}

it('enrolls a key for one device alone, and names the key that it replaces', () => {
  const [one, two] = [keyOf('one'), keyOf('two')]
  expect(enroll('pump-1@local', one).out).not.toContain('no longer')
  const taken = enroll('pump-2@local', one)
  expect([taken.status, taken.err]).not.toEqual([0, ''])
  expect(taken.err).toContain('the device `pump-1@local` has this key')
  expect(enroll('pump-1@local', two).out).toContain(`and no longer with ${one}`)
  expect(enroll('pump-1@local', two).out).not.toContain('no longer')
  expect(enroll('pump-2@local', one).status).toBe(0)
}, 60_000)

it('says at the start that it made a key, with the command that enrolls it', async () => {
  const word = join(place.folder, 'word')
  writeFileSync(word, 'word')
  const homeKey = place.writ(['ledger', 'key', '--json']).json.public_key
  const dir = join(place.folder, 'elsewhere')
  const reach = ['--broker', 'mqtts://127.0.0.1:9', '--password-file', word]
  const own = ['pump-1@local', '--home-key', homeKey, '--dir', dir, '--simulate']
  const words = [join(process.cwd(), 'bin', 'writ.cjs'), 'device', 'run', ...own, ...reach]
  const child = spawn(process.execPath, words)
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const err = await new Promise<string>((resolve) => {
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
      if (text.includes('--dir')) resolve(text)
    })
    child.once('exit', () => resolve(text))
  })
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  child.kill()
  const [line = '', ...more] = out.trim().split('\n')
  expect(line).toMatch(/trouble {2}mqtts:\/\/127\.0\.0\.1:9: .*ECONNREFUSED.*is it running/)
  expect(more.length).toBeLessThan(3)
  expect(err).toContain(`writ device enroll pump-1@local ${keyOf('elsewhere')}`)
}, 60_000)

it('tells once that the home does not answer, and what to look at', async () => {
  const now = Date.parse('2026-11-18T08:00:00Z')
  const file = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
  const [not_before, not_after] = [now - 1, now + 60_000]
  const time_window = { start_ts: not_before, end_ts: not_after }
  const task = { ...file, time_window, meta: { device_id: 'pump-1' } }
  const [command_id, digest, nonce] = [task.act_task_id, digestDocument(task), '0'.repeat(32)]
  const device = 'pump-1@north-farm'
  const terms = { command_id, device, digest, nonce, not_before, not_after }
  const home = openDeviceKey(join(place.folder, 'home'))
  const news: DeviceNews[] = []
  const message = { command_id, writ: { ...terms, task, sig: home.sign(offerText(terms)) } }
  const executor = new Executor({
    device: { id: 'pump-1', namespace: 'north-farm' },
    link: {
      open: async (onOffer) => onOffer(message),
      say: async () => Promise.reject(new Error('no answer')),
      close: async () => {},
    },
    journal: DeviceJournal.open(join(place.folder, 'journal'), now),
    carryOut: async () => ({ status: 'unknown', reason: 'never' }),
    homeKeys: [home.publicKey],
    tell: (one) => void news.push(one),
    nowMs: () => now,
  })
  await executor.start()
  await new Promise((resolve) => setTimeout(resolve, 1_800))
  await executor.stop()
  expect(news).toMatchObject([{ event: 'trouble', command_id, code: 'device.host' }])
  expect(news[0]?.message).toContain('writ device list')
}, 60_000)
