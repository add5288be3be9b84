/** Faults of the server that a home lies on: said in words, and nothing is lost. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'

let fleet: Fleet
let machine: FleetMachine

beforeAll(async () => {
  fleet = await Fleet.start()
  machine = fleet.first('alpha')
}, 180_000)

afterAll(() => fleet.stop())

it('a server that takes no writes is named; reading works, and nothing was recorded', async () => {
  const set = (value: string) =>
    asOwner(fleet.server, (client) =>
      client.query(`ALTER ROLE clerk SET default_transaction_read_only = ${value}`),
    )
  await set('on')
  const refused = machine.writ(['principal', 'add', 'ai:bot@local'])
  expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.unreachable'])
  expect(refused.json.error.message).toContain('takes no writes')
  expect(machine.must(['principal', 'list']).principals).toHaveLength(1)
  await set('off')
  expect(machine.writ(['principal', 'add', 'ai:bot@local']).status).toBe(0)
  expect(machine.must(['ledger', 'verify']).ok).toBe(true)
}, 120_000)

it('a server that answers late is waited for up to a bound, then named; nothing was recorded', async () => {
  const held = new pg.Client(fleet.server.connection)
  await held.connect()
  const { rows } = await held.query(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^writ_[0-9a-f_]{36}$'",
  )
  await held.query(`BEGIN; LOCK TABLE ${rows[0].nspname}.facts IN SHARE MODE`)
  const refused = machine.writ(['principal', 'add', 'ai:late@local'])
  expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.busy'])
  await held.query('ROLLBACK')
  await held.end()
  const names = machine.must(['principal', 'list']).principals.map((one: { id: string }) => one.id)
  expect(names).not.toContain('late')
  machine.must(['principal', 'add', 'ai:late@local'])
  expect(machine.must(['ledger', 'verify']).ok).toBe(true)
}, 120_000)
