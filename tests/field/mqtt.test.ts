/** Tasks over a real broker (D-1, D-2, D-3): mosquitto with TLS, passwords and the shipped rules. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BrokerLink, downlinkTopic, receiptTopic } from '../../src/broker/index.ts'
import { type DeviceLink, openDeviceKey } from '../../src/device/index.ts'
import { claimTask, startTask, tryBroker, withdrawTask } from '../../src/dispatch/index.ts'
import { ANN, FieldRig, until } from './field-rig.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const WHOLE = ['offered', 'claimed', 'started', 'receipt', 'answered']
const LEASE = 'a'.repeat(32)
const QUIET_MS = 1_500

let rig: FieldRig

beforeEach(async () => {
  rig = await new FieldRig().open(['pump-1', 'pump-2'])
})
afterEach(() => rig.close())

function isWhole(story: readonly string[]): boolean {
  return story.length >= WHOLE.length
}

/** A connection as some user of the broker, which keeps what it hears. */
async function listen(user: string, topics: readonly string[]) {
  const heard: string[] = []
  const { url, ca } = rig.broker
  const link = await BrokerLink.open({
    url,
    ca,
    user,
    password: 'a word for trials',
    clientId: `test-${randomBytes(4).toString('hex')}`,
    topics,
    onMessage: (_topic, text) => heard.push(text),
  })
  await until(
    () => link.isReady,
    (isReady) => isReady,
  )
  return { link, heard }
}

/** The offer of a task that no device has taken. */
async function offered(id: string) {
  await until(
    () => rig.story(id),
    (story) => story.includes('offered'),
  )
  const [, offer] = await rig.facts(id)
  // The first step of a task is its offer.
  return offer?.payload as { readonly nonce: string }
}

function place(taskId: string) {
  return { stream: 'main', taskId }
}

const PUMP = {
  principal: { kind: 'device', id: 'pump-1', namespace: 'farm' },
  source: 'test',
} as const

describe('a task for a device', () => {
  it('is offered, claimed, started, carried out once and answered (D-1)', async () => {
    rig.dispatch()
    await rig.device('pump-1')
    const id = await rig.issue('pump-1')
    expect(await until(() => rig.story(id), isWhole)).toEqual(WHOLE)
    expect(rig.done.get(id)).toBe(1)
    expect(await rig.breach(id)).toBeNull()
  })

  it('is offered with the keys that users of the original system know, signed (D-2)', async () => {
    const pump = await listen('farm/pump-1', ['writ/downlink/farm/pump-1'])
    rig.dispatch()
    const id = await rig.issue('pump-1')
    await until(
      () => pump.heard.length,
      (count) => count > 0,
    )
    const message = JSON.parse(pump.heard[0] ?? '')
    expect(message).toMatchObject({
      command_id: id,
      task_id: id,
      tenant_id: 'farm',
      project_id: 'main',
      device_id: 'pump-1',
      action_type: 'IRRIGATE',
      params: { rate_mm: 12.5 },
      writ: { task: { act_task_id: id, meta: { device_id: 'pump-1' } } },
    })
    expect(Object.keys(message.writ).sort()).toEqual(
      ['digest', 'nonce', 'not_after', 'not_before', 'sig', 'task'].sort(),
    )
    // Nothing is retained: a device that comes later hears it again only because it is sent again.
    const [first, second] = await until(
      () => pump.heard,
      (heard) => heard.length > 1,
    )
    expect(JSON.parse(second ?? '').writ).toEqual(JSON.parse(first ?? '').writ)
    await pump.link.close()
  })

  it('waits for its window, and ends as silent if no device is heard', async () => {
    rig.dispatch()
    const later = await rig.issue('pump-1', 60, 60_000)
    const id = await rig.issue('pump-1', 1)
    const story = await until(
      () => rig.story(id),
      (found) => found.includes('silent'),
    )
    expect(story).toEqual(['offered', 'silent'])
    expect(await rig.story(later)).toEqual([])
    // A receipt that comes late is on the record all the same: it says what happened.
    expect(await rig.breach(id)).toBeNull()
  })

  it('that a human withdrew is not begun, and one that was started is not withdrawn', async () => {
    rig.dispatch([])
    const id = await rig.issue('pump-1')
    await offered(id)
    await withdrawTask(rig.host, place(id), ANN.principal, 'rain')
    await expect(claimTask(rig.host, place(id), PUMP, LEASE)).rejects.toThrow('withdrew')
    const other = await rig.issue('pump-1')
    await offered(other)
    await claimTask(rig.host, place(other), PUMP, LEASE)
    await startTask(rig.host, place(other), PUMP, LEASE)
    await expect(withdrawTask(rig.host, place(other), ANN.principal, null)).rejects.toThrow(
      'started',
    )
    const device = PUMP.principal
    const third = await rig.issue('pump-1')
    await expect(withdrawTask(rig.host, place(third), device, null)).rejects.toThrow('human')
  })

  it('is claimed again after its lease, started once, and unknown after its time', async () => {
    rig.dispatch([])
    const id = await rig.issue('pump-1', 600)
    await offered(id)
    await claimTask(rig.host, place(id), PUMP, LEASE)
    // The same claim again is the first one; another one waits for the lease.
    await claimTask(rig.host, place(id), PUMP, LEASE)
    const other = 'b'.repeat(32)
    await expect(claimTask(rig.host, place(id), PUMP, other)).rejects.toThrow('holds')
    rig.aheadMs = 61_000
    await expect(startTask(rig.host, place(id), PUMP, LEASE)).rejects.toThrow('lease')
    await claimTask(rig.host, place(id), PUMP, other)
    await expect(startTask(rig.host, place(id), PUMP, LEASE)).rejects.toThrow('lease')
    await startTask(rig.host, place(id), PUMP, other)
    await startTask(rig.host, place(id), PUMP, other)
    await expect(claimTask(rig.host, place(id), PUMP, 'c'.repeat(32))).rejects.toThrow('started')
    rig.aheadMs = 700_000
    const story = await until(
      () => rig.story(id),
      (found) => found.includes('unknown'),
    )
    expect(story).toEqual(['offered', 'claimed', 'claimed', 'started', 'unknown'])
  })

  it('is not offered while a human has halted everything', async () => {
    const halt = async (state: string) =>
      rig.ledger.record({
        stream: 'host',
        source: 'test',
        principal: ANN.principal,
        record: { type: 'halt_v1', payload: { state, at: new Date().toISOString() } },
      })
    rig.dispatch()
    await rig.device('pump-1')
    const before = await rig.issue('pump-2')
    await offered(before)
    await halt('HALTED')
    const id = await rig.issue('pump-1')
    await pause(QUIET_MS)
    expect(await rig.story(id)).toEqual([])
    const pump2 = { ...PUMP, principal: { ...PUMP.principal, id: 'pump-2' } }
    await expect(claimTask(rig.host, place(before), pump2, LEASE)).rejects.toThrow('halted')
    await halt('RESUMED')
    expect(await until(() => rig.story(id), isWhole)).toEqual(WHOLE)
  })
})

describe('a broker that cannot be trusted (D-3)', () => {
  it('may deliver an offer many times and in any order: each command runs once', async () => {
    const pump = await listen('farm/pump-1', ['writ/downlink/farm/pump-1'])
    rig.dispatch()
    const ids = [await rig.issue('pump-1'), await rig.issue('pump-1'), await rig.issue('pump-1')]
    await until(
      () => new Set(pump.heard.map((text) => JSON.parse(text).command_id)).size,
      (count) => count === ids.length,
    )
    const device = await rig.device('pump-1')
    const host = await listen('writ', [])
    const again = [...pump.heard, ...pump.heard.toReversed(), ...pump.heard]
    const topic = downlinkTopic('writ', rig.name('pump-1'))
    for (const text of again) await host.link.publish(topic, text, 30)
    for (const id of ids) expect(await until(() => rig.story(id), isWhole)).toEqual(WHOLE)
    for (const text of again) await host.link.publish(topic, text, 30)
    await until(
      () => device.news.filter(({ code }) => code === 'device.offer_known').length,
      (count) => count > 0,
    )
    for (const id of ids) {
      expect(rig.done.get(id)).toBe(1)
      expect(await rig.story(id)).toEqual(WHOLE)
    }
    await Promise.all([pump.link.close(), host.link.close()])
  })

  it('may lose acknowledgements: what was recorded is not recorded twice', async () => {
    rig.dispatch()
    const inner = rig.link('pump-1')
    const said: string[] = []
    const deaf: DeviceLink = {
      open: (onOffer) => inner.open(onOffer),
      close: () => inner.close(),
      // The first two answers to each message are lost on the way.
      say: async (saying) => {
        const answer = await inner.say(saying)
        said.push(saying.status)
        if (said.filter((one) => one === saying.status).length < 3) throw new Error('lost')
        return answer
      },
    }
    await rig.device('pump-1', async () => {}, deaf)
    const id = await rig.issue('pump-1')
    await until(
      () => said.filter((one) => one === 'REPORTED').length,
      (count) => count === 3,
    )
    expect(await rig.story(id)).toEqual(WHOLE)
    expect(rig.done.get(id)).toBe(1)
  })

  it('may be killed and come back without its memory: nothing is lost', async () => {
    rig.dispatch()
    const device = await rig.device('pump-1', () => pause(300))
    const ids: string[] = []
    for (let round = 0; round < 3; round++) {
      ids.push(await rig.issue('pump-1'), await rig.issue('pump-2'))
      await pause(400)
      await rig.broker.stop('SIGKILL')
      await pause(200)
      await rig.broker.start()
    }
    await rig.stop(device.executor)
    await rig.device('pump-2')
    await rig.device('pump-1')
    for (const id of ids) {
      expect(await until(() => rig.story(id), isWhole, 40_000)).toEqual(WHOLE)
      expect(rig.done.get(id)).toBe(1)
    }
  })
})

describe('a message that is not the device’s own (D-2, D-3)', () => {
  it('cannot be published by another user of the broker', async () => {
    const intruder = await listen('intruder', [])
    const topic = receiptTopic('writ', rig.name('pump-1'))
    await expect(intruder.link.publish(topic, '{}', 30)).rejects.toThrow('did not take it')
    const pump2 = await listen('farm/pump-2', [])
    await expect(pump2.link.publish(topic, '{}', 30)).rejects.toThrow('did not take it')
    await Promise.all([intruder.link.close(), pump2.link.close()])
  })

  it('is not recorded: another key, another nonce, another device’s task, a changed receipt', async () => {
    rig.dispatch()
    const id = await rig.issue('pump-1', 120)
    const { nonce } = await offered(id)
    const receipt = { type: 'ao_act_receipt_v0', act_task_id: id }
    const saying = { command_id: id, nonce, lease: LEASE, receipt: null }
    const silent = async (link: DeviceLink, message: Parameters<DeviceLink['say']>[0]) => {
      await link.open(() => {})
      await pause(500)
      await expect(link.say(message)).rejects.toThrow('not answered')
      await link.close()
    }
    // The key of another device, from the right topic.
    const { url, ca } = rig.broker
    const { MqttLink } = await import('../../src/device/index.ts')
    const forged = new MqttLink({
      url,
      ca,
      user: 'farm/pump-1',
      password: 'a word for trials',
      device: rig.name('pump-1'),
      key: openDeviceKey(rig.deviceFolder('pump-2')),
      homeKeys: rig.homeKeys,
      prefix: 'writ',
      trouble: () => {},
    })
    await Promise.all([
      silent(forged, { ...saying, status: 'REPORTED', receipt }),
      silent(rig.link('pump-2'), { ...saying, status: 'ACKED' }),
    ])
    await silent(rig.link('pump-1'), { ...saying, nonce: '0'.repeat(32), status: 'ACKED' })
    const codes = rig.news.flatMap((one) =>
      'code' in one && one.code !== undefined ? [one.code] : [],
    )
    expect(new Set(codes)).toEqual(new Set(['dispatch.signature', 'dispatch.other_device']))
    expect(await rig.story(id)).toEqual(['offered'])
  })

  it('is refused in words when it is the device’s own and comes out of turn', async () => {
    rig.dispatch()
    const id = await rig.issue('pump-1')
    const { nonce } = await offered(id)
    const link = rig.link('pump-1')
    await link.open(() => {})
    await pause(500)
    const saying = { command_id: id, nonce, lease: LEASE, receipt: null }
    expect(await link.say({ ...saying, status: 'RUNNING' })).toMatchObject({
      code: 'dispatch.lease',
    })
    expect(await link.say({ ...saying, status: 'ACKED' })).toEqual({ ok: true })
    expect(await link.say({ ...saying, status: 'RUNNING' })).toEqual({ ok: true })
    const empty = { type: 'ao_act_receipt_v0', act_task_id: id }
    expect(await link.say({ ...saying, status: 'REPORTED', receipt: empty })).toMatchObject({
      ok: false,
      code: 'dispatch.message',
    })
    expect(await rig.story(id)).toEqual(['offered', 'claimed', 'started'])
    await link.close()
  })

  it('is recorded once when it comes twice, and also after the task was given up', async () => {
    const stop = rig.dispatch()
    const id = await rig.issue('pump-1', 2)
    const { nonce } = await offered(id)
    await until(
      () => rig.story(id),
      (found) => found.includes('silent'),
    )
    const receipt = {
      type: 'ao_act_receipt_v0',
      act_task_id: id,
      executor_id: PUMP.principal,
      execution_time: { start_ts: 1, end_ts: 2 },
      execution_coverage: { kind: 'field', ref: 'field:north-7' },
      resource_usage: { fuel_l: null, electric_kwh: null, water_l: 3, chemical_ml: null },
      logs_refs: [{ kind: 'test', ref: 'log:1' }],
      status: 'executed',
      constraint_check: { violated: false, violations: [] },
      observed_parameters: {},
      created_at_ts: 2,
      meta: { idempotency_key: 'late' },
    }
    const link = rig.link('pump-1')
    await link.open(() => {})
    await pause(500)
    const saying = { command_id: id, nonce, lease: '', receipt, status: 'REPORTED' } as const
    expect(await link.say(saying)).toEqual({ ok: true })
    expect(await link.say(saying)).toEqual({ ok: true })
    expect(await rig.story(id)).toEqual(['offered', 'silent', 'receipt', 'answered'])
    expect(await rig.breach(id)).toBeNull()
    await stop()
    await link.close()
  })
})

describe('the trial of a broker (D-2)', () => {
  it('passes with the shipped rules, and says what an open broker lets through', async () => {
    const secretOf = (): string => 'a word for trials'
    expect(await tryBroker(rig.way, secretOf)).toEqual([])
    const { startBroker } = await import('../../examples/field/broker.mjs')
    const open = await startBroker(
      `${rig.folder}/open`,
      { writ: 'x' },
      {
        lines: ['allow_anonymous true'],
        acl: 'topic readwrite #\nuser writ\ntopic readwrite #\n',
      },
    )
    try {
      const found = await tryBroker({ ...rig.way, url: open.url, ca: open.ca }, () => 'x')
      expect(found).toEqual([expect.stringContaining('others than the device')])
    } finally {
      await open.stop()
    }
    const away = await tryBroker({ ...rig.way, user: 'unknown' }, secretOf)
    expect(away).toEqual([expect.stringContaining('does not take the dispatcher')])
  })
})
