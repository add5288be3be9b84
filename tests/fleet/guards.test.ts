/**
 * What a role of the server can do that reads the home and runs its functions, without the key of a machine
 * it decides nothing, and what it breaks is named.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { parseVerifierKey } from '../../src/ledger/index.ts'
import { openLedger } from '../../src/store/index.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { task, taskDraft } from '../ledger/entries.ts'
import { asOwner, postgresLedgerAt } from '../ledger/postgres-ledger.ts'
import { type Called, Fleet, type FleetMachine } from './fleet-rig.ts'
import { workEndpoint, writeFlow } from './worker-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let endpoint: Endpoint
let url = ''
let schema = ''

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  second = fleet.joined(first, 'beta')
  endpoint = workEndpoint(10)
  url = await endpoint.open()
  schema = `writ_${basename(stateOf(first)).replaceAll('-', '_')}`
}, 180_000)

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

function stateOf(machine: FleetMachine): string {
  const root = join(machine.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  return join(root, id)
}

const asClerk = (sql: string) =>
  asOwner(fleet.server, (client) => client.query(sql), 'clerk').then(({ rows }) => rows)

/** Issues a task whose note is kept as a body. */
function issue(machine: FleetMachine): Called {
  const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
  const [owner] = machine.must(['principal', 'list']).principals
  const issuer = { kind: 'human', id: owner.id, namespace: owner.namespace }
  return machine.writ(['task', 'issue', '-'], JSON.stringify({ ...given, issuer }))
}

it('drops no body before a fact says that it goes; retention does', async () => {
  expect(first.spawn(['exec', '--', 'sh', '-c', 'seq 1 20000']).status).toBe(0)
  const bodies = await asClerk(`SELECT DISTINCT digest FROM ${schema}.bodies`)
  expect(bodies.length).toBeGreaterThan(2)
  for (const { digest } of bodies) {
    const dropped = asClerk(`SELECT ${schema}.drop_body('${digest}')`)
    await expect(dropped).rejects.toThrow('no fact says that the body')
  }
  const { dropped } = first.must(['purge', '--before', '0d', '--kind', 'output'])
  expect(dropped.length).toBeGreaterThan(0)
  const left = (await asClerk(`SELECT DISTINCT digest FROM ${schema}.bodies`)).map(
    (one) => one.digest,
  )
  for (const { body } of dropped) expect(left).not.toContain(body)
  expect(first.must(['ledger', 'verify']).ok).toBe(true)
})

it('names a body that is gone, and decides nothing without it', async () => {
  const flow = writeFlow(first, 'gone', url, { node: { signal: 'go' } })
  const { run_id: run } = first.writ(['flow', 'run', flow]).json
  const digests = await asOwner(fleet.server, async (client) => {
    const { rows } = await client.query(
      `WITH gone AS (DELETE FROM ${schema}.bodies
        WHERE encode(bytes, 'escape') LIKE '%"flow_id":"gone"%' RETURNING digest, bytes, piece, pieces)
        SELECT * FROM gone`,
    )
    return rows
  })
  expect(digests.length).toBeGreaterThan(0)
  const refused = first.writ(['flow', 'signal', run, 'go'])
  expect([refused.status, refused.json.error.code]).toEqual([4, 'flow.flow_missing'])
  expect(refused.json.error.message).toContain(digests[0].digest)
  expect(refused.json.error.hint).toContain('put the body back from a backup')
  expect(first.writ(['replay']).status).toBe(1)
  const verified = first.writ(['ledger', 'verify'])
  expect(verified.status).toBe(1)
  const said = verified.json.problems.map((one: { code: string }) => one.code)
  expect(new Set(said)).toEqual(new Set(['body.missing']))
  for (const { digest, bytes } of digests)
    await asClerk(`SELECT ${schema}.put_body('${digest}', 0, 1, '\\x${bytes.toString('hex')}')`)
  expect(first.must(['ledger', 'verify']).ok).toBe(true)
})

it('moves no run to another machine; the machine that walks it keeps it with a new key', async () => {
  const file = writeFlow(first, 'bound', url, { node: { signal: 'go' } })
  const { run_id: run } = first.writ(['flow', 'run', file]).json
  const name = `run/${run}`
  const [own] = await asClerk(`SELECT * FROM ${schema}.files WHERE name = '${name}'`)
  const contents = ['0000000000000000', own.signer.replace(/./g, 'f')]
  for (const [at, content] of contents.entries())
    await asClerk(
      `SELECT ${schema}.put_file('${name}', ${at + 2}, '${content}', '${own.signer}', '${own.sig}')`,
    )
  expect(second.writ(['flow', 'resume', run]).json.error.code).toBe('machine.elsewhere')
  first.must(['ledger', 'rotate'])
  expect(second.writ(['flow', 'resume', run]).json.error.code).toBe('machine.elsewhere')
  expect(first.writ(['flow', 'cancel', run]).json.status).toBe('CANCELLED')
  await asClerk(
    `SELECT ${schema}.put_file('run/run-00000000-0000-7000-8000-000000000000', 1, 'x', '', '')`,
  )
  expect(first.must(['ledger', 'verify']).ok).toBe(true)
})

it('makes no older version of a file the newest again, and takes no number but the next', async () => {
  const ledger = await openLedger({ directory: stateOf(first) })
  const { files } = ledger
  if (files === null) throw new Error('a home on a server has files')
  await files.put('note', 'one')
  await files.put('note', 'two')
  const [older] = await asClerk(`SELECT * FROM ${schema}.files WHERE name = 'note' AND version = 1`)
  const again = (version: number) =>
    asClerk(
      `SELECT ${schema}.put_file('note', ${version}, '${older.content}', '${older.signer}', '${older.sig}') AS done`,
    )
  expect([await again(2_000_000_000), await again(2), await again(3)]).toEqual([
    [{ done: false }],
    [{ done: false }],
    [{ done: true }],
  ])
  expect(await files.get('note')).toBe('two')
  await files.put('note', 'three')
  expect(await files.get('note')).toBe('three')
  await ledger.close()
})

it('signs with its new key in every process, also where another machine has written since', async () => {
  const staying = await openLedger({ directory: stateOf(second) })
  const append = (text: string) => staying.store.append([taskDraft(text)])
  await append('before')
  second.must(['ledger', 'rotate'])
  issue(first)
  await append('after')
  await append('again')
  await staying.close()
  for (const machine of [first, second])
    expect(machine.writ(['ledger', 'verify']).json).toMatchObject({ ok: true, problems: [] })
  issue(first)
})

it('refuses a run whose machine only others than machines have named', async () => {
  const file = writeFlow(first, 'stray', url, { node: { signal: 'go' } })
  const { run_id: run } = first.writ(['flow', 'run', file]).json
  await asOwner(fleet.server, async (client) => {
    await client.query(`ALTER TABLE ${schema}.files DISABLE TRIGGER files_refuse`)
    await client.query(`UPDATE ${schema}.files SET sig = 'AAAA' WHERE name = 'run/${run}'`)
    await client.query(`ALTER TABLE ${schema}.files ENABLE ALWAYS TRIGGER files_refuse`)
  })
  for (const machine of [first, second]) {
    const refused = machine.writ(['flow', 'resume', run])
    expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.unknown'])
    expect(refused.json.error.message).toContain(`has signed the file \`run/${run}\``)
    expect(refused.json.error.hint).toContain('writ flow run')
    expect(machine.writ(['inbox']).status).toBe(0)
  }
})

it('records nothing: what it appends without a signature stops every machine', async () => {
  // Last: facts that are not signed stay, and no machine goes on behind them.
  const key = parseVerifierKey(first.must(['machine', 'key']).key)
  if (key === null) throw new Error('no key')
  const unsigned = { seed: key.publicKey, publicKey: key.publicKey, sign: () => new Uint8Array(64) }
  const keys = { find: () => unsigned, current: () => unsigned }
  const connection = { ...fleet.server.connection, user: 'clerk' }
  const forger = await postgresLedgerAt({ connection, schema }, { keys })
  await forger.append([taskDraft('forged')])
  await forger.close()
  for (const machine of [first, second]) {
    const refused = machine.writ(['principal', 'add', 'ai:late@local'])
    expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.tampered'])
    expect(refused.json.error.message).toContain('signed the end of the stream `main`')
    expect(refused.json.error.hint).toContain('`writ ledger verify`')
  }
  // Reading as well: what it wrote is no answer to anything.
  const reading = [['log'], ['flow', 'list'], ['task', 'list'], ['machine', 'list'], ['doctor']]
  const refuseToRead = (): void => {
    for (const words of reading) {
      const { status, json } = second.writ(words)
      expect([words, status, json.error?.code]).toEqual([words, 4, 'ledger.tampered'])
      expect(json.error.hint).toContain('`writ ledger verify`')
    }
  }
  refuseToRead()
  const verified = second.writ(['ledger', 'verify'])
  expect([verified.status, verified.json.ok]).toEqual([1, false])
  // The same with the checkpoint of before.
  const [head] = await asClerk(
    `SELECT s.name, h.size, h.epoch, h.note, f.fact FROM ${schema}.heads h JOIN ${schema}.streams s
      USING (stream) JOIN ${schema}.facts f ON f.stream = h.stream AND f.seq = h.size - 1
      WHERE s.name = 'host'`,
  )
  const places = `$1, '', $2, $3, gen_random_uuid(), $4, sha256(''), '', '{}', '{}', '{}', '{}', '{}', $5`
  await asOwner(
    fleet.server,
    (client) =>
      client.query(`SELECT ${schema}.append(${places}, false)`, [
        head.name,
        head.size,
        head.epoch,
        head.fact,
        head.note,
      ]),
    'clerk',
  )
  const behind = second.writ(['principal', 'add', 'ai:late@local'])
  expect([behind.status, behind.json.error.code]).toEqual([4, 'ledger.tampered'])
  refuseToRead()
})
