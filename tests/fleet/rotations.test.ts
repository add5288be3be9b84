/** What a machine signed outside of the ledger keeps its value when its key turns, whenever it was. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { faultError } from '../../src/base/index.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import { HomeFiles } from '../../src/store/postgres/home-files.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { ANN } from '../ledger/entries.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

const ACTOR = { principal: ANN, source: 'test' }
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let endpoint: Endpoint
let url = ''
let directory = ''

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  second = fleet.joined(first, 'beta')
  endpoint = workEndpoint(10)
  url = await endpoint.open()
  const root = join(first.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  directory = join(root, id)
}, 180_000)

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

function filesOf({ files }: Ledger): HomeFiles {
  if (files === null) throw new Error('a home on a server has files')
  return files
}

/** Rotates, and does something else once the rotation has signed the files that it found. */
async function rotateWith(ledger: Ledger, meanwhile: () => Promise<void>, isKilled = false) {
  const files = filesOf(ledger)
  const signAgain = files.signAgain.bind(files)
  let calls = 0
  vi.spyOn(files, 'signAgain').mockImplementation(async (renewal) => {
    if (++calls > 1 && isKilled) throw faultError('ledger.closed', '')
    const found = await signAgain(renewal)
    if (calls === 1) await meanwhile()
    return found
  })
  await ledger.rotateKey(ACTOR)
}

it.each([
  ['and the rotation ends', false],
  ['and the rotation is killed after its commit', true],
])('a file that another process of the machine writes meanwhile stays, %s', async (_, isKilled) => {
  const [one, other] = [await openLedger({ directory }), await openLedger({ directory })]
  const [kept, changed, mine] = ['kept', 'changed', 'mine'].map((name) => `${name}/${isKilled}`)
  for (const name of [kept, changed]) await filesOf(other).put(name as string, 'before')
  await rotateWith(
    one,
    async () => {
      await filesOf(other).put(changed as string, 'after')
      await filesOf(other).put(mine as string, await other.machine())
    },
    isKilled,
  )
  const read = isKilled ? await openLedger({ directory }) : other
  const found = await Promise.all(
    [kept, changed, mine].map((name) => filesOf(read).get(name as string)),
  )
  expect(found).toEqual(['before', 'after', await read.machine()])
  expect(existsSync(join(directory, 'keys', 'ending'))).toBe(false)
  for (const ledger of new Set([one, other, read])) await ledger.close()
  // A new process of this machine goes on, and nothing is left to do.
  expect(first.must(['ledger', 'verify']).ok).toBe(true)
})

it('a file whose key ended while it was on its way is signed by the new one', async () => {
  const [one, other] = [await openLedger({ directory }), await openLedger({ directory })]
  const { server } = other
  if (server === null) throw new Error('a home on a server')
  let isFirst = true
  const late = new HomeFiles(server.queries, server.schema, {
    isSealed: server.isSealed,
    async seal(text) {
      const seal = await server.seal(text)
      // The process stops between its signature and the server.
      if (isFirst) await one.rotateKey(ACTOR)
      isFirst = false
      return seal
    },
  })
  await late.put('late', 'contents')
  expect(await filesOf(one).get('late')).toBe('contents')
  await one.close()
  await other.close()
})

it('signs many files in few statements', async () => {
  const ledger = await openLedger({ directory })
  const { server } = ledger
  if (server === null) throw new Error('a home on a server')
  const own = await ledger.machine()
  const names = Array.from({ length: 1_200 }, (_, index) => `run/many-${index}`)
  const schema = `writ_${basename(directory).replaceAll('-', '_')}`
  // As `put` writes them, in one statement.
  const seals = await Promise.all(
    names.map((name) =>
      server.seal(
        `writ-file-v1\n${JSON.stringify({ content: own, name, schema: server.schema, version: 1 })}\n`,
      ),
    ),
  )
  await asOwner(
    fleet.server,
    (client) =>
      client.query(
        `SELECT ${schema}.put_file(name, 1, $1, $1, sig)
          FROM unnest($2::text[], $3::text[]) AS given (name, sig)`,
        [own, names, seals.map((seal) => seal.sig)],
      ),
    'clerk',
  )
  expect(await filesOf(ledger).get('run/many-7')).toBe(own)
  const query = vi.spyOn(server.queries, 'query')
  await ledger.rotateKey(ACTOR)
  expect(query.mock.calls.length).toBeLessThan(60)
  query.mockRestore()
  const turned = await ledger.machine()
  expect(turned).not.toBe(own)
  for (const name of ['run/many-0', 'run/many-500', 'run/many-1199'])
    expect(await filesOf(ledger).get(name)).toBe(turned)
  await ledger.close()
})

it('jobs that wait are signed again: runs, answers, proposals, and one that was refused', async () => {
  const begun = first.must(['flow', 'run', writeFlow(first, 'queued', url), '--queue']).run_id
  const early = first.must(['flow', 'run', writeFlow(first, 'early', url), '--queue']).run_id
  const waiting = writeFlow(first, 'waiting', url, { node: { signal: 'go' } })
  const { run_id: answered } = first.writ(['flow', 'run', waiting]).json
  expect(second.writ(['flow', 'signal', answered, 'go']).status).toBe(0)
  const document = JSON.parse(first.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout)
  const action = document.descriptor.action_id
  first.must(['propose', '-', '--queue'], JSON.stringify(document))
  await asOwner(fleet.server, async (client) => {
    const sql = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'wj\\_%'"
    const { rows } = await client.query(sql)
    // As a worker leaves it that takes it while neither key counts; and one that only names the old key.
    const jobs = `${rows[0].nspname}._private_jobs`
    const refused = 'refused: no machine has signed it (machine.unknown)'
    const sets = `attempts = max_attempts, last_error = '${refused}'`
    await client.query(`UPDATE ${jobs} SET ${sets} WHERE payload->>'run' = $1`, [early])
    await client.query(
      `INSERT INTO ${jobs} (task_id, payload) SELECT task_id,
        jsonb_set(payload::jsonb, '{run}', '"run-00000000-0000-7000-8000-000000000001"')::json
        FROM ${jobs} WHERE payload->>'run' = $1`,
      [begun],
    )
  })
  expect(first.spawn(['ledger', 'rotate']).stdout).toContain('3 waiting jobs')
  expect(second.spawn(['ledger', 'rotate']).stdout).toContain('1 waiting job of')
  const worker = new WorkerProcess(first)
  try {
    for (const run of [begun, early, answered])
      await worker.until((news) => news.kind === 'done' && news.run === run)
    await worker.until((news) => news.kind === 'done' && news.action === action)
    const forged = await worker.until((news) => news.kind === 'failed')
    expect([forged.code, forged.run]).toEqual(['machine.unknown', expect.stringMatching(/1$/)])
  } finally {
    await worker.kill('SIGTERM')
  }
})
