/** `WRIT_URL`: the command line as the client of a registered service. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ended, type Json, Place } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

let place: ServicePlace
let client: Place
let token: string
let key: string

beforeAll(async () => {
  place = new ServicePlace('remote')
  token = place.tokenOf('human:ann@local')
  key = place.writ(['ledger', 'key', '--json']).json.public_key
  await place.serve()
  // Another user directory and state: nothing of the home is there.
  client = new Place('remote-client')
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
  client.remove()
})

function there(args: readonly string[], around: Json = {}): Ended {
  const env = { WRIT_URL: place.url, ...around.env }
  // The variable holds for a process from its start.
  return client.writ(args, { token, isWarm: false, ...around, env })
}

function here(args: readonly string[]): Ended {
  return client.writ(args, { token, isWarm: false })
}

it('speaks to no address that is not registered, and says how to register it', () => {
  const { status, err } = there(['principal', 'list'])
  expect(status).toBe(2)
  expect(err).toContain('remote.unknown')
  expect(err).toContain(`writ remote add NAME ${place.url}`)
}, 60_000)

it('registers a service by the key that a person took from its home', () => {
  const without = here(['remote', 'add', 'farm', place.url])
  expect([without.status, without.err.includes('credential.required')]).toEqual([1, true])
  const other = key.slice(0, -6).concat('AAAAA=')
  const wrong = here(['remote', 'add', 'farm', place.url, '--key', other])
  expect(wrong.status).not.toBe(0)
  expect(here(['remote', 'list', '--json']).json.remotes).toEqual([])
  const { status, json, err } = here(['remote', 'add', 'farm', place.url, '--key', key, '--json'])
  expect([status, err]).toEqual([0, ''])
  expect(json).toMatchObject({ name: 'farm', url: place.url, key })
  expect(here(['remote', 'list', '--json']).json.remotes).toHaveLength(1)
}, 120_000)

it('prints what the command prints there, with its exit status', () => {
  const text = there(['principal', 'list'])
  expect([text.status, text.out]).toEqual([0, place.writ(['principal', 'list'], { token }).out])
  const json = there(['token', 'list', '--json'])
  expect(json.json).toEqual(place.writ(['token', 'list', '--json'], { token }).json)
  const none = there(['task', 'show', 'act-none', '--json'])
  expect([none.status, none.json.error.code]).toEqual([1, 'history.unknown'])
}, 120_000)

it('proves a person with the passphrase that is typed here', () => {
  const pass = { passphrase: PASSPHRASE }
  const without = there(['principal', 'add', 'ai:far@local', '--json'])
  expect(without.json.error.code).toBe('credential.required')
  const added = there(['principal', 'add', 'ai:far@local', '--json', '--pass-fd', '3'], pass)
  expect([added.status, added.json.principal.id]).toEqual([0, 'far'])
  expect(place.writ(['principal', 'list'], { token }).out).toContain('far')
}, 120_000)

it('leaves what is local where it is', () => {
  const { status, err } = there(['exec', '--', 'true'])
  expect(status).toBe(125)
  // There is no home on this side, and `exec` does not look for one elsewhere.
  expect(err).not.toContain('remote.')
  const log = there(['log', '--json'])
  expect([log.status, log.json.error.code]).toEqual([2, 'remote.no_form'])
}, 60_000)

it('refuses a service whose key has changed', async () => {
  const pass = { passphrase: PASSPHRASE }
  expect(place.writ(['ledger', 'rotate', '--pass-fd', '3'], pass).status).toBe(0)
  // A fact of each stream is signed with the new key.
  place.exec(['--yes'], 'echo x > rotated.txt')
  const { json, status } = there(['principal', 'list', '--json'])
  expect([status, json.error.code]).toEqual([1, 'remote.key_changed'])
}, 120_000)
