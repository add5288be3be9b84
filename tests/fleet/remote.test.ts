/** `WRIT_URL` and a home of several machines: one key that a person took from it proves the others. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Fleet, type FleetMachine, FleetMachine as Machine } from './fleet-rig.ts'
import { serve } from './worker-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

let fleet: Fleet
let [first, second]: readonly FleetMachine[] = []
let client: FleetMachine
let token: string
let keys: readonly string[]
const services: ReturnType<typeof serve>[] = []
const urls: string[] = []

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  second = fleet.joined(first, 'beta')
  client = new Machine(fleet.folder, 'client')
  const [{ id, namespace }] = first.must(['principal', 'list']).principals
  token = first.must(['token', 'create', `human:${id}@${namespace}`]).token
  keys = (first.must(['ledger', 'key']).keys as string[]).filter((key) =>
    /^writ\/[^/]+\+/.test(key),
  )
  for (const machine of [first, second]) services.push(serve(machine))
  for (const { ready } of services) urls.push(await ready)
}, 240_000)

afterAll(async () => {
  for (const { child } of services) child.kill('SIGTERM')
  await Promise.all(services.map(({ ended }) => ended))
  await fleet.stop()
})

function called(args: readonly string[], url?: string) {
  const words = [join(process.cwd(), 'bin', 'writ.cjs'), ...args]
  const env = { ...client.env, WRIT_TOKEN: token, ...(url === undefined ? {} : { WRIT_URL: url }) }
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: client.project,
    env,
    encoding: 'utf8',
  })
  return { status, out: stdout, err: stderr }
}

function registered(url: string, key: string) {
  const { status, err } = called(['remote', 'add', 'farm', url, '--key', key])
  if (status === 0) called(['remote', 'remove', 'farm'])
  return [status, err]
}

it('registers the service of any machine by the key of its machine or of the first', () => {
  expect(keys).toHaveLength(2)
  const [later = '', earlier = ''] = keys
  expect(registered(urls[0] ?? '', earlier)).toEqual([0, ''])
  expect(registered(urls[1] ?? '', earlier)).toEqual([0, ''])
  expect(registered(urls[1] ?? '', later)).toEqual([0, ''])
})

it('says what to do about a key that has signed nothing yet', () => {
  const [status, err] = registered(urls[0] ?? '', keys[0] ?? '')
  expect(status).toBe(1)
  expect(err).toContain('nothing that the one of `--key` has signed')
  expect(registered(urls[0] ?? '', first?.spawn(['ledger', 'key']).stdout ?? '')).toEqual([0, ''])
})

it('goes on with a machine that comes later, a rotation, and a removal', () => {
  const [url = '', other = ''] = urls
  expect(called(['remote', 'add', 'farm', url, '--key', keys[1] ?? '']).status).toBe(0)
  expect(called(['remote', 'add', 'yard', other, '--key', keys[1] ?? '']).status).toBe(0)
  const third = fleet.joined(second as FleetMachine, 'gamma')
  third.must(['principal', 'add', 'ai:far@local'])
  expect(called(['principal', 'list'], url)).toMatchObject({ status: 0, err: '' })
  third.must(['ledger', 'rotate'])
  third.must(['principal', 'add', 'ai:farther@local'])
  expect(called(['principal', 'list'], url)).toMatchObject({ status: 0, err: '' })
  first?.must(['machine', 'remove', 'gamma'])
  expect(called(['principal', 'list'], url)).toMatchObject({ status: 0, err: '' })
  const { remotes } = JSON.parse(called(['remote', 'list', '--json']).out)
  expect(remotes.find((one: { name: string }) => one.name === 'farm').keys).toHaveLength(2)
  expect(called(['principal', 'list'], other)).toMatchObject({ status: 0, err: '' })
})
