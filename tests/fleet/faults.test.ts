/** Faults of the server that a home lies on: said in words, and nothing is lost. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, FleetMachine } from './fleet-rig.ts'

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
  expect(halted.json.error.hint).toContain('from then on `writ resume` lifts the halt of this')
  const still = machine.writ(['resume'])
  expect([still.status, still.json.error.code, isHalted()]).toEqual([4, 'ledger.unreachable', true])
  expect(still.json.error.message).toContain('this machine stays halted: ')
  expect(still.json.error.hint).toContain('type `writ resume` again when that is mended')
  await login('LOGIN')
  expect(machine.must(['log', '--stream', 'host', '--type', 'halt_v1']).facts).toEqual([])
  // Without a fact of the halt the same command lifts it.
  machine.must(['resume'])
  expect(isHalted()).toBe(false)
  machine.must(['halt'])
  expect(machine.must(['log', '--stream', 'host', '--type', 'halt_v1']).facts).toHaveLength(2)
  machine.must(['resume'])
  expect(isHalted()).toBe(false)
}, 120_000)

it('a machine that may not record halts by itself, and says which command lifts that', () => {
  const other = new FleetMachine(fleet.folder, 'epsilon')
  other.must(['machine', 'join', fleet.url])
  const root = join(other.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  const isHalted = () => existsSync(join(root, id, 'halted'))
  const refused = other.writ(['halt'])
  expect([refused.status, refused.json.error.code, isHalted()]).toEqual([
    1,
    'machine.unknown',
    true,
  ])
  expect(refused.json.error.message).toContain('this machine is halted')
  expect(refused.json.error.hint).toContain('`writ resume` lifts the halt of this machine')
  expect([other.writ(['resume']).status, isHalted()]).toEqual([0, false])
  const again = other.writ(['resume'])
  // Nothing is halted any more.
  expect([again.status, again.json.halted]).toEqual([0, false])
}, 120_000)

it('a sealed passphrase on the server is that of a machine, also after other roles wrote there', async () => {
  const second = fleet.joined(machine, 'beta')
  const words = 'four plain words here'
  second.must(['principal', 'pass', '--pass-fd', '0'], words)
  const [{ nspname: schema }] = await asClerk(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^writ_[0-9a-f_]{36}$'",
  )
  const [{ name, content, signer, sig }] = await asClerk(`SELECT * FROM ${schema}.files`)
  const put = (text: string, version: number) =>
    asClerk(`SELECT ${schema}.put_file('${name}', ${version}, '${text}', '${signer}', '${sig}')`)
  const add = (on: FleetMachine, id: string) =>
    on.writ(['principal', 'add', `ai:${id}@local`, '--pass-fd', '0'], words)
  const { sealed } = JSON.parse(content)
  for (let more = 0; more < 60; more++) await put(content.replace(sealed, 'b3RoZXI='), more + 2)
  const owned = asClerk(`UPDATE ${schema}.files SET content = '{}'`)
  await expect(owned).rejects.toThrow('permission denied')
  expect(add(machine, 'one').status).toBe(0)
  const third = fleet.joined(machine, 'gamma', undefined, words)
  // The machine that signed the file ends; the one that removes it signs it again.
  machine.must(['machine', 'remove', 'beta', '--pass-fd', '0'], words)
  expect(add(third, 'two').status).toBe(0)
  const fourth = fleet.joined(machine, 'delta', undefined, words)
  await asOwner(fleet.server, async (client) => {
    await client.query(`ALTER TABLE ${schema}.files DISABLE TRIGGER files_refuse`)
    await client.query(`DELETE FROM ${schema}.files WHERE content = $1`, [content])
    await client.query(`ALTER TABLE ${schema}.files ENABLE ALWAYS TRIGGER files_refuse`)
  })
  const refused = add(fourth, 'none')
  expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.unknown'])
  expect(refused.json.error.message).toContain(`has signed the file \`${name}\``)
  expect(refused.json.error.hint).toContain('on a machine where it worked before')
  expect([add(machine, 'three').status, add(fourth, 'four').status]).toEqual([0, 0])
}, 180_000)
