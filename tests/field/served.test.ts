/** Tasks through the service (D-1, D-2): devices that ask over HTTP, webhooks, people at the command line. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { WebReceiver } from '../notifications/receivers.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'
import { until } from './field-rig.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 })

const KEY = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`
const LEASE = 'a'.repeat(32)
const TASK = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))

let place: ServicePlace
let homeKey = ''
const tokens: Record<string, string> = {}
const hook = new WebReceiver(200)

beforeAll(async () => {
  place = new ServicePlace('field')
  for (const id of ['pump-1', 'pump-2', 'valve']) tokens[id] = place.tokenOf(`device:${id}@local`)
  tokens['bot'] = place.tokenOf('ai:bot@local')
  homeKey = place.writ(['ledger', 'key', '--json']).json.public_key
  const way = {
    name: 'hook',
    kind: 'webhook',
    url: `${await hook.listen()}/in`,
    secret: 'HOOK_KEY',
  }
  const laws = { laws: [], settings: { dispatch: [{ ...way, devices: ['valve@local'] }] } }
  place.write('.writ/laws.yaml', JSON.stringify(laws))
  const accepted = place.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], {
    passphrase: PASSPHRASE,
  })
  expect(accepted.status, accepted.err).toBe(0)
  place.writ(['secret', 'set', 'HOOK_KEY'], { input: KEY })
  await place.serve()
})

afterAll(async () => {
  await place.end()
  hook.close()
  place.remove()
})

function issue(device: string, seconds = 120): string {
  const start = Date.now()
  const document = {
    ...TASK,
    issuer: { kind: 'human', id: 'ann', namespace: 'local' },
    time_window: { start_ts: start, end_ts: start + seconds * 1_000 },
    meta: { device_id: device },
  }
  const words = ['task', 'issue', '-', '--json', '--pass-fd', '3']
  const { json, err } = place.writ(words, {
    input: JSON.stringify(document),
    passphrase: PASSPHRASE,
  })
  expect(json?.act_task_id, err).toBeDefined()
  return json.act_task_id
}

function stateOf(id: string): Json {
  return place.writ(['task', 'show', id, '--json']).json
}

/** Waits until the dispatcher of the service has come so far with a task. */
function come(id: string, state: string): Promise<Json> {
  return until(
    () => stateOf(id).dispatch,
    (dispatch) => dispatch.state === state,
    40_000,
  )
}

function run(device: string, dir: string, ...words: readonly string[]): ChildProcess {
  const own = ['device', 'run', `${device}@local`, '--home-key', homeKey, '--url', place.url]
  const folder = ['--dir', join(place.folder, dir), '--jsonl']
  const token = tokens[device] ?? ''
  return place.start([...own, ...folder, ...words], { token })
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

describe('a device that asks over HTTP', () => {
  it('is offered its task by the service, carries it out once and reports (D-1, D-2)', async () => {
    const id = issue('pump-1')
    const log = join(place.folder, 'ran')
    const command = `cat > ${join(place.folder, 'task.json')}; echo ran >> ${log}; echo '{"observed_parameters":{"rate_mm":11},"resource_usage":{"water_l":7}}'`
    const child = run('pump-1', 'pump-1', '--', 'sh', '-c', command)
    const dispatch = await come(id, 'answered')
    expect(dispatch).toMatchObject({ device: 'pump-1@local', way: 'http', late: false })
    await ended(child, 'SIGTERM')
    expect(readFileSync(log, 'utf8')).toBe('ran\n')
    expect(JSON.parse(readFileSync(join(place.folder, 'task.json'), 'utf8')).act_task_id).toBe(id)
    const shown = stateOf(id)
    expect(shown.status).toBe('executed')
    expect(shown.evidence_pack.receipts[0]).toMatchObject({
      observed_parameters: { rate_mm: 11 },
      resource_usage: { water_l: 7, fuel_l: null },
    })
    expect(shown.integrity_report.ok).toBe(true)
    const rows = place.writ(['task', 'list', '--json']).json.tasks
    expect(rows.find((row: Json) => row.act_task_id === id).dispatch.state).toBe('answered')
  })

  it('does nothing twice when it is killed while it acts, and a human decides (D-1)', async () => {
    const id = issue('pump-1')
    const log = join(place.folder, 'begun')
    const words = ['--', 'sh', '-c', `echo begun >> ${log}; exec sleep 60`]
    const first = run('pump-1', 'killed', ...words)
    await come(id, 'started')
    await until(
      () => readFileSync(log, { encoding: 'utf8', flag: 'a+' }),
      (text) => text !== '',
    )
    await ended(first, 'SIGKILL')
    const second = run('pump-1', 'killed', ...words)
    let out = ''
    second.stdout?.on('data', (chunk) => {
      out += chunk
    })
    await until(
      () => out,
      (text) => text.includes('"unknown"'),
    )
    await pause(3_000)
    expect(readFileSync(log, 'utf8')).toBe('begun\n')
    expect(stateOf(id).dispatch.state).toBe('started')
    await ended(second, 'SIGTERM')
  })

  it('is not offered a task whose window has ended, and the issuer hears so', () => {
    const document = {
      ...TASK,
      issuer: { kind: 'human', id: 'ann', namespace: 'local' },
      time_window: { start_ts: 1_000, end_ts: 2_000 },
      meta: { device_id: 'pump-1' },
    }
    const { status, err } = place.writ(['task', 'issue', '-', '--pass-fd', '3'], {
      input: JSON.stringify(document),
      passphrase: PASSPHRASE,
    })
    expect(status).toBe(0)
    expect(err).toContain('ended at 1970-01-01T00:00:02.000Z, so pump-1@local is not offered it')
  })

  it('sees and takes its own tasks alone', async () => {
    const id = issue('pump-2')
    await come(id, 'offered')
    const other = place.client(tokens['pump-1'] ?? '')
    const own = place.client(tokens['pump-2'] ?? '')
    const bot = place.client(tokens['bot'] ?? '')
    const list = { params: { id: 'pump-2@local' }, query: {}, wait: 0 }
    await expect(other.listDeviceTasks(list)).rejects.toThrow('dispatch.other_device')
    await expect(bot.listDeviceTasks(list)).rejects.toThrow('dispatch.other_device')
    const { offers } = (await own.listDeviceTasks(list)).value
    expect(offers).toMatchObject([{ command_id: id }])
    const claim = { params: { id }, body: { lease: LEASE } }
    await expect(other.claimTask(claim)).rejects.toThrow('dispatch.other_device')
    await expect(bot.claimTask(claim)).rejects.toThrow('dispatch.other_device')
    expect((await own.claimTask(claim)).value.lease).toBe(LEASE)
    // The lease is on the record, where others read it.
    for (const client of [other, bot])
      await expect(client.claimTask(claim)).rejects.toThrow('dispatch.other_device')
    await expect(other.startTask(claim)).rejects.toThrow('dispatch.other_device')
    expect((await own.listDeviceTasks(list)).value.offers).toEqual([])
    expect((await own.startTask(claim)).value.due_at).toMatch(/^\d{4}-/)
    for (const client of [other, bot])
      await expect(client.startTask(claim)).rejects.toThrow('dispatch.other_device')
    expect((await own.startTask(claim)).value.due_at).toMatch(/^\d{4}-/)
    const receipt = { type: 'ao_act_receipt_v0', act_task_id: id }
    await expect(other.submitReceipt({ body: { receipt } })).rejects.toThrow('receipt')
  })

  it('hears of an offer while it waits, and of none that a human withdrew', async () => {
    const id = issue('pump-2')
    const own = place.client(tokens['pump-2'] ?? '')
    const list = { params: { id: 'pump-2' }, query: {}, wait: 30 }
    expect((await own.listDeviceTasks(list)).value.offers).toMatchObject([{ command_id: id }])
    const words = ['task', 'withdraw', id, '--reason', 'rain', '--json']
    expect(place.writ(words, { token: tokens['pump-2'] ?? '' }).json.error.code).toBe(
      'principal.not_human',
    )
    const gone = place.writ([...words, '--pass-fd', '3'], { passphrase: PASSPHRASE })
    expect(gone.status, gone.err).toBe(0)
    expect((await own.listDeviceTasks({ ...list, wait: 0 })).value.offers).toEqual([])
    expect(stateOf(id).dispatch.state).toBe('withdrawn')
  })
})

interface Passed {
  /** What a device says; null of a question. */
  readonly said: Json | null
  /** Asks the service. */
  readonly real: () => Promise<Json>
}

/** A program in the place of the service: it passes on what it does not change. */
async function inPlace(answer: (passed: Passed) => Promise<Json>) {
  const said: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { url: path = '', method = '' } = request
    const { authorization = '', prefer = '' } = request.headers as Record<string, string>
    const headers = { authorization, prefer, 'content-type': 'application/json' }
    const asked = method === 'POST' ? { method, headers, body } : { headers }
    const real = async () => (await fetch(`${place.url}${path}`, asked)).json()
    const words = method === 'POST' ? JSON.parse(body) : null
    if (words !== null) said.push(words.status)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(await answer({ said: words, real })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  /** A device that asks there; it simulates its work. */
  const device = (dir: string) => {
    const own = ['device', 'run', 'pump-1@local', '--home-key', homeKey, '--url', url, '--jsonl']
    const rest = ['--dir', join(place.folder, dir), '--simulate', '--seconds', '0']
    const child = place.start([...own, ...rest], { token: tokens['pump-1'] ?? '' })
    let out = ''
    child.stdout?.on('data', (chunk) => {
      out += chunk
    })
    return { child, out: () => out }
  }
  return { device, said, close }
}

describe('a program in the place of the service', () => {
  it.each([
    [
      'an answer of its own',
      ({ writ, ...body }: Json) => ({ ...body, writ: { ...writ, code: '', sig: '' } }),
    ],
    [
      'the refusal as a yes',
      ({ writ, ...body }: Json) => ({ ...body, writ: { ...writ, code: '' } }),
    ],
  ])('makes a device begin nothing that was withdrawn: %s (D-1, D-2)', async (what, lie) => {
    const id = issue('pump-1')
    await come(id, 'offered')
    const own = place.client(tokens['pump-1'] ?? '')
    const { offers } = (await own.listDeviceTasks({ params: { id: 'pump-1' }, query: {}, wait: 0 }))
      .value
    expect(offers).toMatchObject([{ command_id: id }])
    const words = ['task', 'withdraw', id, '--json', '--pass-fd', '3']
    expect(place.writ(words, { passphrase: PASSPHRASE }).status).toBe(0)
    // The offer is shown for ever, and every refusal comes as a yes.
    const liar = await inPlace(async ({ said, real }) =>
      said === null ? { offers } : lie(await real()),
    )
    const { child, out } = liar.device(`lied to by ${what}`)
    await until(
      () => liar.said.length,
      (count) => count >= 2,
    )
    await ended(child, 'SIGTERM')
    liar.close()
    expect(liar.said).not.toContain('RUNNING')
    expect(out()).toContain('an answer is not signed by the home')
    expect(stateOf(id).dispatch.state).toBe('withdrawn')
  })

  it('makes a device forget no receipt (D-2)', async () => {
    const id = issue('pump-1')
    let lies = 0
    const liar = await inPlace(async ({ said, real: ask }) => {
      const real = await ask()
      if (said?.status !== 'REPORTED' || ++lies > 1) return real
      return { ...real, status: 'REFUSED', writ: { ...real.writ, code: 'receipt.duplicate' } }
    })
    const { child, out } = liar.device('told a lie about its receipt')
    await until(out, (text) => text.includes('"reported"'), 40_000)
    await ended(child, 'SIGTERM')
    liar.close()
    expect(liar.said).toEqual(['ACKED', 'RUNNING', 'REPORTED', 'REPORTED'])
    expect(stateOf(id).evidence_pack.receipts).toHaveLength(1)
  })
})

describe('a device behind a webhook', () => {
  it('hears of its task, signed as notifications are (D-2)', async () => {
    const id = issue('valve')
    const heard = await until(
      () => hook.got.find(({ body }) => body.includes(id)),
      (found) => found !== undefined,
      40_000,
    )
    const { headers, body = '' } = heard ?? {}
    const event: Json = new Webhook(KEY).verify(body, headers as Record<string, string>)
    expect(event).toMatchObject({
      type: 'task.offered',
      data: { command_id: id, device_id: 'valve' },
    })
    const claim = { params: { id }, body: { lease: LEASE } }
    await place.client(tokens['valve'] ?? '').claimTask(claim)
    expect(stateOf(id).dispatch).toMatchObject({ state: 'claimed', way: 'hook' })
  })
})

describe('a device that is Home Assistant (D-2)', () => {
  it('is reached by calls over HTTP, and answers with the state that came', async () => {
    // Speaks the documented REST API: services with a bearer token, states of entities.
    const states = new Map([['switch.pump_2', 'off']])
    const home = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        if (request.headers.authorization !== 'Bearer long-lived')
          return response.writeHead(401).end()
        const [, service] = /^\/api\/services\/switch\/turn_(on|off)$/.exec(request.url ?? '') ?? []
        if (service !== undefined && request.method === 'POST') {
          const { entity_id } = JSON.parse(body)
          setTimeout(() => states.set(entity_id, service), 300)
          return response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
        }
        const entity_id = (request.url ?? '').replace('/api/states/', '')
        const state = states.get(entity_id)
        if (state === undefined) return response.writeHead(404).end()
        return response.writeHead(200).end(JSON.stringify({ entity_id, state }))
      })
    })
    await new Promise<void>((resolve) => home.listen(0, '127.0.0.1', resolve))
    const { port } = home.address() as AddressInfo
    const file = join(place.folder, 'home-assistant.json')
    const shipped = readFileSync('examples/field/home-assistant.json', 'utf8')
    writeFileSync(
      file,
      shipped.replaceAll('http://homeassistant.local:8123', `http://127.0.0.1:${port}`),
    )
    const id = issue('pump-2')
    const own = ['device', 'run', 'pump-2@local', '--home-key', homeKey, '--url', place.url]
    const around = { token: tokens['pump-2'] ?? '', env: { HASS_TOKEN: 'long-lived' } }
    const child = place.start(
      [...own, '--dir', join(place.folder, 'hass'), '--calls', file],
      around,
    )
    await come(id, 'answered')
    expect(states.get('switch.pump_2')).toBe('off')
    expect(stateOf(id).status).toBe('executed')
    await ended(child, 'SIGTERM')
    home.close()
  })
})

describe('the record of all this', () => {
  it('verifies, and every step follows again from the facts before it (D-1)', () => {
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    const { status, json } = place.writ(['replay', '--json'])
    expect(json.differences).toEqual([])
    expect(status).toBe(0)
    expect(json.checked).toBeGreaterThan(10)
  })
})
