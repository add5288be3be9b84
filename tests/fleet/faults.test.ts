/** Faults of the server that a home lies on: said in words, and nothing is lost. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
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

const asClerk = (sql: string) =>
  asOwner(fleet.server, (client) => client.query(sql), 'clerk').then(({ rows }) => rows)

it('a halt takes hold on this machine where its fact cannot be recorded, and says so', async () => {
  const login = (right: string) =>
    asOwner(fleet.server, (client) => client.query(`ALTER ROLE clerk ${right}`))
  const root = join(machine.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  const isHalted = () => existsSync(join(root, id, 'halted'))
  await login('NOLOGIN')
  const halted = machine.writ(['halt', '--reason', 'x'])
  expect([halted.status, halted.json.error.code, isHalted()]).toEqual([
    4,
    'ledger.unreachable',
    true,
  ])
  expect(halted.json.error.message).toContain('the fact could not be recorded')
  expect(halted.json.error.hint).toContain('`writ halt` again')
  await login('LOGIN')
  expect(machine.must(['log', '--stream', 'host', '--type', 'halt_v1']).facts).toEqual([])
  machine.must(['halt'])
  expect(machine.must(['log', '--stream', 'host', '--type', 'halt_v1']).facts).toHaveLength(1)
  machine.must(['resume'])
  expect(isHalted()).toBe(false)
}, 120_000)

it('a sealed passphrase that was replaced on the server is named, and put back by who has it', async () => {
  const second = fleet.joined(machine, 'beta')
  const words = 'four plain words here'
  machine.must(['principal', 'pass', '--pass-fd', '0'], words)
  const [{ nspname: schema }] = await asClerk(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^writ_[0-9a-f_]{36}$'",
  )
  const [{ name, content }] = await asClerk(`SELECT name, content FROM ${schema}.files`)
  const replace = (text: string) => asClerk(`SELECT ${schema}.put_file('${name}', '${text}')`)
  const add = (on: FleetMachine, id: string) =>
    on.writ(['principal', 'add', `ai:${id}@local`, '--pass-fd', '0'], words)
  const { public_key: key, sealed } = JSON.parse(content)
  const altered = content.replace(sealed, 'b3RoZXI=')
  for (const [text, said] of [
    [altered, 'was altered'],
    [altered.replace(key, 'b3RoZXI='), 'was replaced'],
  ]) {
    await replace(text)
    const refused = add(second, 'none')
    expect([refused.status, refused.json.error.code]).toEqual([1, 'credential.wrong'])
    expect(refused.json.error.message).toContain(name)
    expect(refused.json.error.message).toContain(said)
  }
  expect(add(machine, 'one').status).toBe(0)
  expect(await asClerk(`SELECT content FROM ${schema}.files`)).toEqual([{ content }])
  expect(add(second, 'two').status).toBe(0)
  // From then on this machine has it as well.
  await replace('{}')
  expect(add(second, 'three').status).toBe(0)
}, 180_000)
