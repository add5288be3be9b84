/** Faults of the server that a home lies on: said in words, and nothing is lost. */
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
