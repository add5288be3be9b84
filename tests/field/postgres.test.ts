/** Tasks on a home whose facts lie in PostgreSQL (D-1, D-2): the whole way, over HTTP and over MQTT. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Broker, startBroker } from '../../examples/field/broker.mjs'
import { claimTask, startTask } from '../../src/dispatch/index.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'
import { FieldRig, until } from './field-rig.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const WORD = 'a-word-for-trials'
const TASK = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
let server: PostgresServer
let url = ''

beforeAll(async () => {
  server = await startPostgres()
  url = `postgresql://postgres@/postgres?host=${server.connection.host}`
})
afterAll(() => server.stop())

describe('several dispatchers on one server', () => {
  const rig = new FieldRig()
  let second: Ledger

  beforeAll(async () => {
    const schema = 'field_rig'
    await rig.open(['pump-1', 'pump-2'], { kind: 'postgres', url, schema })
    second = await openLedger({ directory: rig.state })
  })
  afterAll(async () => {
    await rig.close()
    await second.close()
  })

  it('take each step of a task once', async () => {
    const id = await rig.issue('pump-2', 600)
    const place = { stream: 'main', taskId: id }
    const stops = [rig.dispatch([], 500), rig.dispatch([], 500, second)]
    await until(
      () => rig.story(id),
      (story) => story.length > 0,
    )
    const principal = { kind: 'device', id: 'pump-2', namespace: 'farm' } as const
    const asked = Array.from({ length: 8 }, (_, at) => {
      const host = { ...rig.host, ledger: at % 2 === 0 ? rig.ledger : second }
      const lease = String(at).repeat(32)
      return claimTask(host, place, { principal, source: 'test' }, lease).then(
        () => lease,
        () => null,
      )
    })
    const given = (await Promise.all(asked)).filter((lease) => lease !== null)
    expect(given).toHaveLength(1)
    const started = [rig.ledger, second].map((ledger) =>
      startTask({ ...rig.host, ledger }, place, { principal, source: 'test' }, given[0] ?? ''),
    )
    await Promise.all(started)
    expect(await rig.story(id)).toEqual(['offered', 'claimed', 'started'])
    for (const stop of stops) await stop()
  })

  it('bring every task over MQTT, and it is carried out once', async () => {
    rig.dispatch()
    rig.dispatch([rig.way], 500, second)
    await rig.device('pump-1')
    const ids = await Promise.all(Array.from({ length: 10 }, () => rig.issue('pump-1', 600)))
    for (const id of ids) {
      const story = await until(
        () => rig.story(id),
        (found) => found.length >= 5,
        40_000,
      )
      expect(story).toEqual(['offered', 'claimed', 'started', 'receipt', 'answered'])
      expect(rig.done.get(id)).toBe(1)
      expect(await rig.breach(id)).toBeNull()
    }
  })
})

describe('the program on PostgreSQL', () => {
  let place: ServicePlace
  let broker: Broker
  let homeKey = ''
  const children: ChildProcess[] = []

  beforeAll(async () => {
    place = new ServicePlace('field-pg', ['--namespace', 'farm', '--store', url])
    broker = await startBroker(join(place.folder, 'broker'), { writ: WORD, 'farm/pump-1': WORD })
    writeFileSync(join(place.folder, 'word'), WORD)
    const way = { name: 'field', kind: 'mqtt', url: broker.url, user: 'writ', secret: 'FIELD_WORD' }
    const dispatch = [{ ...way, ca: broker.ca, devices: ['pump-1@farm'] }]
    place.write('.writ/laws.yaml', JSON.stringify({ laws: [], settings: { dispatch } }))
    human(['laws', 'accept', '--yes'])
    const kept = place.writ(['secret', 'set', 'FIELD_WORD'], { input: WORD })
    expect(kept.status, kept.err).toBe(0)
    homeKey = place.writ(['ledger', 'key', '--json']).json.public_key
    await place.serve()
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGTERM')
    await place.end()
    await broker.stop()
    place.remove()
  })

  function human(words: readonly string[], input = ''): Json {
    const done = place.writ([...words, '--pass-fd', '3'], { input, passphrase: PASSPHRASE })
    expect(done.status, done.err).toBe(0)
    return done.json
  }

  function issue(device: string): string {
    const start = Date.now()
    const document = {
      ...TASK,
      issuer: { kind: 'human', id: 'ann', namespace: 'farm' },
      time_window: { start_ts: start, end_ts: start + 600_000 },
      meta: { device_id: device },
    }
    return human(['task', 'issue', '-', '--json'], JSON.stringify(document)).act_task_id
  }

  it('brings tasks over HTTP and over MQTT, and verifies and replays them', async () => {
    const token = place.tokenOf('device:valve@farm')
    human(['principal', 'add', 'device:pump-1@farm'])
    const dir = join(place.folder, 'pump-1')
    const key = place.writ(['device', 'key', '--dir', dir]).out.trim()
    human(['device', 'enroll', 'pump-1@farm', key])
    const own = (id: string) => ['device', 'run', `${id}@farm`, '--home-key', homeKey]
    const { url: address, ca } = broker
    const word = join(place.folder, 'word')
    const reach = ['--broker', address, '--ca', ca, '--password-file', word]
    const ways = [
      [...own('pump-1'), '--dir', dir, ...reach],
      [...own('valve'), '--dir', join(place.folder, 'valve'), '--url', place.url],
    ]
    for (const words of ways)
      children.push(place.start([...words, '--simulate', '--seconds', '0'], { token }))
    const ids = [issue('pump-1'), issue('valve')]
    for (const [at, id] of ids.entries()) {
      const shown = await until(
        () => place.writ(['task', 'show', id, '--json']).json,
        (found) => found.dispatch.state === 'answered',
        60_000,
      )
      expect(shown.dispatch.way).toBe(['field', 'http'][at])
      expect(shown.status).toBe('executed')
    }
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    expect(place.writ(['replay', '--json']).json.differences).toEqual([])
  })
})
