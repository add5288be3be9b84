/** Devices that cheat and a broker that lies (D-3): nothing runs twice, and the record stays whole. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAsync } from 'mqtt'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BrokerLink } from '../../src/broker/index.ts'
import { withdrawTask } from '../../src/dispatch/index.ts'
import { ANN, FieldRig, until } from './field-rig.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const LEASE = 'a'.repeat(32)
const OTHER = 'b'.repeat(32)
const WHOLE = ['offered', 'claimed', 'started', 'receipt', 'answered']
const DOWN = 'writ/downlink/farm/pump-1'

let rig: FieldRig

beforeEach(async () => {
  rig = await new FieldRig().open(['pump-1', 'pump-2'])
})
afterEach(() => rig.close())

/** A device of one's own making, which says what it likes. */
async function cheat(id = 'pump-1') {
  const link = rig.link(id)
  await link.open(() => {})
  await pause(500)
  return link
}

async function wire(user: string, topics: readonly string[] = []) {
  const heard: string[] = []
  const { url, ca } = rig.broker
  const link = await BrokerLink.open({
    url,
    ca,
    user,
    password: 'a word for trials',
    clientId: `test-${randomBytes(4).toString('hex')}`,
    topics,
    onMessage: (_topic, text) => void heard.push(text),
  })
  await until(
    () => link.isReady,
    (isReady) => isReady,
  )
  return { link, heard }
}

async function offeredTo(device = 'pump-1') {
  const id = await rig.issue(device, 600)
  await until(
    () => rig.story(id),
    (story) => story.includes('offered'),
  )
  const [, offer] = await rig.facts(id)
  // The first step of a task is its offer.
  const { nonce } = (offer?.payload ?? {}) as { readonly nonce: string }
  return { id, saying: { command_id: id, nonce, lease: LEASE, receipt: null } as const }
}

function receiptOf(id: string, observed: Record<string, number> = {}, device = 'pump-1') {
  return {
    type: 'ao_act_receipt_v0',
    act_task_id: id,
    executor_id: { kind: 'device', id: device, namespace: 'farm' },
    execution_time: { start_ts: 1, end_ts: 2 },
    execution_coverage: { kind: 'field', ref: 'field:north-7' },
    resource_usage: { fuel_l: null, electric_kwh: null, water_l: 3, chemical_ml: null },
    logs_refs: [{ kind: 'test', ref: 'log:1' }],
    status: 'executed',
    constraint_check: { violated: false, violations: [] },
    observed_parameters: observed,
    created_at_ts: 2,
    meta: { idempotency_key: 'once' },
  }
}

describe('a broker that lies (D-3)', () => {
  it('cannot repeat a claim whose lease has ended', async () => {
    rig.dispatch()
    const { id, saying } = await offeredTo()
    const link = await cheat()
    expect(await link.say({ ...saying, status: 'ACKED' })).toEqual({ ok: true })
    rig.aheadMs = 61_000
    expect(await link.say({ ...saying, status: 'ACKED' })).toMatchObject({
      code: 'dispatch.lease',
    })
    expect(await rig.story(id)).toEqual(['offered', 'claimed'])
    expect(await link.say({ ...saying, lease: OTHER, status: 'ACKED' })).toEqual({ ok: true })
    await link.close()
  })

  it('cannot make a second executor begin with answers to the first', async () => {
    const stop = rig.dispatch()
    const ear = await wire('farm/pump-1', [DOWN])
    const { id, saying } = await offeredTo()
    const first = await cheat()
    expect(await first.say({ ...saying, status: 'ACKED' })).toEqual({ ok: true })
    expect(await first.say({ ...saying, status: 'RUNNING' })).toEqual({ ok: true })
    await first.close()
    await stop()
    const answers = ear.heard.filter((text) => text.includes('"answers"'))
    expect(answers.length).toBeGreaterThan(1)
    const second = await cheat()
    const broker = await wire('writ')
    for (const status of ['ACKED', 'RUNNING'] as const) {
      const said = second.say({ ...saying, lease: OTHER, status }).catch(() => 'no answer')
      await pause(300)
      for (const text of answers) await broker.link.publish(DOWN, text, 30)
      expect(await said).toBe('no answer')
    }
    expect(await rig.story(id)).toEqual(['offered', 'claimed', 'started'])
    await Promise.all([second.close(), broker.link.close(), ear.link.close()])
  })
})

describe('a device that cheats (D-3)', () => {
  it('is held to the first receipt of a key, and the record stays whole', async () => {
    rig.dispatch()
    const { id, saying } = await offeredTo()
    const link = await cheat()
    const report = (receipt: object) =>
      link.say({ ...saying, lease: '', status: 'REPORTED', receipt: { ...receipt } })
    expect(await report(receiptOf(id))).toEqual({ ok: true })
    expect(await report(receiptOf(id, { rate_mm: 99 }))).toMatchObject({
      code: 'receipt.duplicate',
    })
    expect(await rig.story(id)).toEqual(['offered', 'receipt', 'answered'])
    expect(await rig.breach(id)).toBeNull()
    // What has a receipt is not begun.
    expect(await link.say({ ...saying, status: 'ACKED' })).toMatchObject({ code: 'dispatch.ended' })
    await link.close()
  })

  it('cannot sign a claim with a receipt in it', async () => {
    rig.dispatch()
    const { id, saying } = await offeredTo()
    const link = await cheat()
    const said = link.say({ ...saying, status: 'ACKED', receipt: { ...receiptOf(id) } })
    await expect(said).rejects.toThrow('has not answered')
    expect(await rig.story(id)).toEqual(['offered'])
    expect(await rig.breach(id)).toBeNull()
    await link.close()
  })

  it('cannot report on another task under the name of its own', async () => {
    rig.dispatch()
    const [own, second, foreign] = [await offeredTo(), await offeredTo(), await offeredTo('pump-2')]
    const link = await cheat()
    for (const { id } of [second, foreign]) {
      const said = { ...own.saying, lease: '', status: 'REPORTED', receipt: receiptOf(id) } as const
      expect(await link.say(said)).toMatchObject({ code: 'dispatch.message' })
      expect(await rig.story(id)).toEqual(['offered'])
    }
    expect(await rig.story(own.id)).toEqual(['offered'])
    await link.close()
  })

  it('harms no other by messages that are long, broken, many or misplaced', async () => {
    rig.dispatch()
    const { url, ca } = rig.broker
    const { readFileSync } = await import('node:fs')
    const loud = await connectAsync(url, {
      protocolVersion: 5,
      username: 'farm/pump-2',
      password: 'a word for trials',
      ca: readFileSync(ca),
    })
    const say = (bytes: string | Buffer, topic = 'writ/receipt/farm/pump-2', retain = false) =>
      loud.publishAsync(topic, bytes, { qos: 1, retain }).catch(() => null)
    const { id: own, saying } = await offeredTo('pump-2')
    await say(Buffer.alloc(70_000, 'x'))
    await say(Buffer.alloc(1_000_000, 'x'))
    await say(Buffer.from(JSON.stringify({ ...saying, writ: { status: '\u00ff' } }), 'latin1'))
    await say('{"command_id":', 'writ/receipt/farm/pump-2', true)
    await say(JSON.stringify({ command_id: own, writ: { task: {} } }), DOWN)
    await say('{}', 'writ/receipt/farm/pump-1')
    await Promise.all(Array.from({ length: 2_000 }, () => say('{}')))
    const device = await rig.device('pump-1')
    const id = await rig.issue('pump-1')
    expect(
      await until(
        () => rig.story(id),
        (story) => story.length >= 5,
      ),
    ).toEqual(WHOLE)
    expect(await rig.story(own)).toEqual(['offered'])
    const told = rig.news.flatMap((one) => ('message' in one ? [one.message ?? ''] : []))
    expect(told.filter((words) => words.includes('too long or no text'))).toHaveLength(2)
    expect(told.some((words) => words.includes('not JSON'))).toBe(true)
    // The shipped rules keep it from the topics of others.
    expect(
      rig.news.some((one) => 'device' in one && one.device === 'pump-1@farm' && one.code),
    ).toBe(false)
    expect(device.news.some(({ event }) => event === 'refused')).toBe(false)
    await loud.endAsync()
  })
})

describe('a withdrawal', () => {
  it('reaches a device that has the offer and has not begun (D-2)', async () => {
    rig.dispatch()
    let goOn: () => void = () => {}
    const busy = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const device = await rig.device('pump-1', () => busy)
    const first = await rig.issue('pump-1')
    await until(
      () => rig.done.has(first),
      (isBegun) => isBegun,
    )
    const { id } = await offeredTo()
    await pause(1_000)
    await withdrawTask(rig.host, { stream: 'main', taskId: id }, ANN.principal, 'rain')
    await until(
      () => device.news,
      (news) => news.some(({ command_id, code }) => command_id === id && code === 'dispatch.ended'),
    )
    goOn()
    expect(
      await until(
        () => rig.story(first),
        (story) => story.length >= 5,
      ),
    ).toEqual(WHOLE)
    expect(rig.done.has(id)).toBe(false)
    expect(await rig.story(id)).toEqual(['offered', 'withdrawn'])
  })
})
