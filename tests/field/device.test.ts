/** What the reference executor refuses before it believes an offer, and what its journal promises (D-2). */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestDocument, faultCode } from '../../src/base/index.ts'
import {
  command,
  DeviceJournal,
  type DeviceNews,
  Executor,
  openDeviceKey,
} from '../../src/device/index.ts'
import { deviceText, formatVerifierKey, offerText, verifierKey } from '../../src/ledger/index.ts'

const TASK = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
const NOW = Date.parse('2026-11-18T08:00:00Z')
const PUMP = { id: 'pump-1', namespace: 'north-farm' }

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-device-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function offer(change: { device?: string; window?: [number, number]; signer?: string } = {}) {
  const { device = 'pump-1', window = [NOW - 1, NOW + 60_000], signer = 'home' } = change
  const [not_before, not_after] = window
  const task = {
    ...TASK,
    time_window: { start_ts: not_before, end_ts: not_after },
    meta: { device_id: device },
  }
  const terms = {
    command_id: task.act_task_id,
    device: deviceText({ id: device, namespace: 'north-farm' }),
    digest: digestDocument(task),
    nonce: '0'.repeat(32),
    not_before,
    not_after,
  }
  const sig = openDeviceKey(join(folder, signer)).sign(offerText(terms))
  return { command_id: task.act_task_id, writ: { ...terms, task, sig } }
}

/** A link that hands these over, and takes everything that is said. */
function handed(...messages: readonly unknown[]): Promise<readonly DeviceNews[]> {
  return handedBy(async () => {}, messages)
}

/** The same; `before` comes before each answer of the home, and may let time pass. */
async function handedBy(
  before: (status: string, pass: (ms: number) => void) => Promise<void>,
  messages: readonly unknown[],
): Promise<readonly DeviceNews[]> {
  const news: DeviceNews[] = []
  let passed = 0
  const executor = new Executor({
    device: PUMP,
    link: {
      open: async (onOffer) => messages.forEach(onOffer),
      say: async ({ status }) => {
        await before(status, (ms) => {
          passed += ms
        })
        return { ok: true }
      },
      close: async () => {},
    },
    journal: DeviceJournal.open(join(folder, 'journal'), NOW),
    carryOut: async () => {
      const logs = [{ kind: 'test', ref: 'log:1' }]
      return { status: 'executed', observed: {}, usage: {}, logs, violations: [] }
    },
    homeKeys: [openDeviceKey(join(folder, 'home')).publicKey],
    tell: (one) => void news.push(one),
    nowMs: () => NOW + passed,
  })
  await executor.start()
  await new Promise((resolve) => setTimeout(resolve, 200))
  await executor.stop()
  return news
}

describe('a device', () => {
  const changed = (() => {
    const { writ, command_id } = { writ: null, command_id: '' }
    return { writ, command_id }
  })()

  it.each([
    ['malformed', () => changed, 'device.offer'],
    ['of another home', () => offer({ signer: 'foreign' }), 'device.offer_signature'],
    ['for another device', () => offer({ device: 'pump-2' }), 'device.offer_foreign'],
    ['expired', () => offer({ window: [NOW - 9, NOW] }), 'device.offer_window'],
    ['early', () => offer({ window: [NOW + 9, NOW + 99] }), 'device.offer_window'],
    [
      'changed on the way',
      () => {
        const { writ, command_id } = offer()
        const parameters = { ...writ.task.parameters, rate_mm: 30 }
        return { command_id, writ: { ...writ, task: { ...writ.task, parameters } } }
      },
      'device.offer',
    ],
    [
      'given a longer window on the way',
      () => {
        const { writ, command_id } = offer()
        const task = { ...writ.task, time_window: { start_ts: NOW - 9, end_ts: NOW + 9e6 } }
        return { command_id, writ: { ...writ, task, digest: digestDocument(task) } }
      },
      'device.offer_signature',
    ],
  ])('refuses an offer that is %s', async (_what, make, code) => {
    expect(await handed(make())).toMatchObject([{ event: 'refused', code }])
  })

  it('begins nothing when the answer to its start comes after the window', async () => {
    const late = async (status: string, pass: (ms: number) => void) => {
      if (status === 'RUNNING') pass(60_000)
    }
    const news = await handedBy(late, [offer()])
    expect(news.map(({ event, code }) => code ?? event)).toEqual(['claimed', 'device.offer_window'])
  })

  it('takes an offer once, in this process and in the next', async () => {
    const events = (news: readonly DeviceNews[]) => news.map(({ event, code }) => code ?? event)
    const first = events(await handed(offer(), offer()))
    expect(first).toEqual(['claimed', 'acting', 'executed', 'reported'])
    expect(events(await handed(offer()))).toEqual(['device.offer_known'])
  })
})

describe('a command', () => {
  it('that cannot be started has done nothing, and one that is killed is unknown', async () => {
    const outcomes = [['/nowhere/pump'], ['sh', '-c', 'kill -9 $$']].map((words) =>
      command(words)(TASK),
    )
    expect(await Promise.all(outcomes)).toMatchObject([
      { status: 'not_executed' },
      { status: 'unknown' },
    ])
  })

  it('sends its token over plain http to this machine alone', () => {
    const key = formatVerifierKey(verifierKey('farm', 1, Buffer.alloc(32, 7)))
    const words = ['device', 'run', 'pump-1@farm', '--home-key', key, '--dir', folder]
    const { status, stderr } = spawnSync(
      process.execPath,
      ['bin/writ.cjs', ...words, '--url', 'http://farm.example:4180', '--', 'true'],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, WRIT_TOKEN: 'writ_x' } },
    )
    expect([status, stderr]).toEqual([2, expect.stringContaining('https://farm.example:4180')])
  })

  it('that is not there keeps the executor from taking tasks', () => {
    const key = `farm+00000000+${Buffer.concat([Buffer.of(1), Buffer.alloc(32)]).toString('base64')}`
    const words = ['device', 'run', 'pump-1@farm', '--home-key', key, '--dir', folder]
    const { status, stderr } = spawnSync(
      process.execPath,
      ['bin/writ.cjs', ...words, '--url', 'http://127.0.0.1:9', '--', 'nosuchpump'],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder, WRIT_TOKEN: 'writ_x' } },
    )
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('there is no program `nosuchpump`'),
    ])
  })
})

describe('the journal', () => {
  it('keeps a device from acting when a line of the journal is damaged', () => {
    const file = join(folder, 'journal.jsonl')
    const entry = { command_id: 'a', nonce: 'n', not_after: NOW, receipt: null, isSettled: false }
    const journal = DeviceJournal.open(folder, NOW)
    journal.keep(entry)
    expect(() => DeviceJournal.open(folder, NOW)).toThrow('another process')
    journal.close()
    // A line whose write was cut short is none; nothing followed from it.
    appendFileSync(file, '{"command_id":"b"')
    const again = DeviceJournal.open(folder, NOW)
    expect(again.find('a')).toEqual(entry)
    expect(again.find('b')).toBeNull()
    again.close()
    appendFileSync(file, '{"command_id":"c"}\n')
    let code: string | null = null
    try {
      DeviceJournal.open(folder, NOW)
    } catch (error) {
      code = faultCode(error)
    }
    expect(code).toBe('device.journal')
  })
})
