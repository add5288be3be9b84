/** Setting a home up on PostgreSQL: every mistake is named, with what to type, and leaves nothing. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectionIn, postgresDifferences, postgresFailure } from '../src/store/index.ts'
import { openServerPool } from '../src/store/postgres/postgres-connection.ts'
import { diagnose } from '../src/store/postgres/postgres-diagnosis.ts'
import { type PostgresServer, startPostgres } from '../tools/postgres.mjs'
import { asOwner } from './ledger/postgres-ledger.ts'

let server: PostgresServer
const folder = mkdtempSync(join(tmpdir(), 'writ-setup-'))
let made = 0

beforeAll(async () => {
  server = await startPostgres()
  await asOwner(server, async (client) => {
    await client.query('CREATE ROLE weak LOGIN; CREATE ROLE half LOGIN; CREATE ROLE clerk LOGIN')
    await client.query('GRANT CREATE ON DATABASE postgres TO half')
    await client.query('CREATE ROLE keeper LOGIN CREATEROLE')
    await client.query('GRANT CREATE ON DATABASE postgres TO keeper')
  })
}, 120_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

function init(user: string, database: string, host = server.connection.host, owner?: string) {
  const project = join(folder, String(made++))
  const state = join(project, 'state')
  mkdirSync(state, { recursive: true })
  const home = join(project, 'project')
  mkdirSync(home)
  const url = `postgresql://${user}@/${database}?host=${host}`
  const named = owner === undefined ? [] : ['--store-owner', owner]
  const words = ['init', '--no-pass', '--store', url, ...named, '--json']
  const ended = spawnSync(process.execPath, [join(process.cwd(), 'bin/writ.cjs'), ...words], {
    cwd: home,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: project, XDG_STATE_HOME: state },
  })
  const left = [...readdirSync(home), ...readdirSync(join(state), { recursive: true })]
  return { status: ended.status, answer: JSON.parse(ended.stdout || '{}'), left, state, home }
}

it.each([
  ['weak', 'postgres', 'GRANT CREATE ON DATABASE postgres TO weak'],
  ['half', 'postgres', 'CREATEROLE'],
  ['clerk', 'nowhere', 'createdb nowhere'],
  ['stranger', 'postgres', 'CREATE ROLE stranger LOGIN'],
])('%s on %s is reported: %s', (user, database, hint) => {
  const { status, answer, left } = init(user, database)
  expect([status, answer.error.code]).toEqual([4, 'ledger.unreachable'])
  expect(answer.error.hint).toContain(hint)
  expect(left.filter((name) => !/^writ$/.test(String(name)))).toEqual([])
})

it('makes nothing on the server where the appending role does not get in', async () => {
  const { status, answer } = init('stranger', 'postgres', server.connection.host, 'keeper')
  expect([status, answer.error.code]).toEqual([4, 'ledger.unreachable'])
  await asOwner(server, async (client) => {
    const { rows } = await client.query(
      "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'writ\\_%'",
    )
    expect(rows).toEqual([])
  })
})

it('says that no server answers, and where', () => {
  const { status, answer, left } = init('clerk', 'postgres', '/nonexistent')
  expect([status, answer.error.code]).toEqual([4, 'ledger.unreachable'])
  expect(answer.error.message).toContain('/nonexistent')
  expect(left.filter((name) => !/^writ$/.test(String(name)))).toEqual([])
})

it('tells a password that is missing from one that is wrong', () => {
  const at = { host: 'db', port: 5433, user: 'ann', database: 'farm' }
  const missing = diagnose(
    '',
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
    at,
  )
  expect(missing?.message).toMatch(/asks for the password of the role ann/)
  expect(missing?.hint).toContain('db:5433:farm:ann:PASSWORD')
  expect(diagnose('28P01', 'password authentication failed', at)?.message).toMatch(
    /refused the pass/,
  )
  expect(diagnose('40001', 'could not serialize', at)).toBeNull()
})

it('names the role, and gives one that only reads no right to append', () => {
  const at = { host: '127.0.0.1', port: 5544, user: 'reader', database: 'farm' }
  const said = 'permission denied for schema writ_1'
  const occasion = { schema: 'writ_1', purpose: 'read' } as const
  const read = diagnose('42501', said, at, occasion)
  expect(read?.message).toBe(`the role reader may not read the home: ${said}`)
  expect(read?.hint).toContain('GRANT SELECT ON ALL TABLES IN SCHEMA writ_1 TO reader')
  expect(read?.hint).not.toContain('writ_appender')
  const recorded = diagnose('42501', said, at, { ...occasion, purpose: 'record' })
  expect(recorded?.hint).toContain('GRANT writ_appender TO reader')
})

it('names the server of a connection that is under way', async () => {
  const place = { host: '127.0.0.1', port: 5544, user: 'clerk', database: 'farm' }
  const pool = await openServerPool({ connection: place, schema: 'writ_1' }, 1)
  const failed = postgresFailure(refused(), 'writ_1', connectionIn(pool))
  await pool.end()
  expect(String(failed)).toContain('no PostgreSQL server answers at 127.0.0.1:5544')
  const unnamed = postgresFailure(refused(), 'writ_1', {})
  expect(String(unnamed)).toContain('no PostgreSQL server answers at localhost:5432')
})

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
}

it('finds an owner that is the appender, and an appender that is a member of the owner', async () => {
  const { status, state } = init('clerk', 'postgres', server.connection.host, 'keeper')
  expect(status).toBe(0)
  const id = readdirSync(join(state, 'writ')).find((name) => name.includes('-')) ?? ''
  const schema = `writ_${id.replaceAll('-', '_')}`
  await asOwner(server, async (client) => {
    expect(await postgresDifferences(client, schema)).toEqual([])
    await client.query('GRANT keeper TO clerk')
    expect(await postgresDifferences(client, schema)).toEqual(['clerk_member'])
    await client.query('REVOKE keeper FROM clerk')
    await client.query(`ALTER TABLE ${schema}.facts OWNER TO clerk`)
    expect(await postgresDifferences(client, schema)).toContain('facts_owner')
  })
})

it('tells a second owner, who may not grant the role of another, what to ask for', async () => {
  await asOwner(server, async (client) => {
    await client.query('CREATE ROLE second LOGIN CREATEROLE')
    await client.query('GRANT CREATE ON DATABASE postgres TO second')
  })
  const { status, answer } = init('clerk', 'postgres', server.connection.host, 'second')
  expect([status, answer.error.code]).toEqual([4, 'ledger.unreachable'])
  expect(answer.error.hint).toContain('GRANT writ_appender TO second WITH ADMIN OPTION')
})

describe('a server that asks for passwords', () => {
  const home = join(folder, 'passwords')
  const url = () => `postgresql://ann@/postgres?host=${server.connection.host}`

  beforeAll(async () => {
    mkdirSync(join(home, 'project'), { recursive: true })
    await asOwner(server, async (client) => {
      await client.query(`CREATE ROLE ann LOGIN CREATEROLE PASSWORD 'se:cret'`)
      await client.query('GRANT CREATE ON DATABASE postgres TO ann')
      const file = join(server.connection.host, 'data', 'pg_hba.conf')
      writeFileSync(file, `local all ann scram-sha-256\n${readFileSync(file, 'utf8')}`)
      await client.query('SELECT pg_reload_conf()')
    })
  })

  function writ(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(process.cwd(), 'bin/writ.cjs'), ...words],
      {
        cwd: join(home, 'project'),
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          XDG_STATE_HOME: join(home, 'state'),
          ...more,
        },
      },
    )
    return { status, stdout, stderr }
  }
  const make = () => ['init', '--no-pass', '--store', url()]
  const line = (password: string) => `${server.connection.host}:*:postgres:ann:${password}\n`

  it('says which password is missing or wrong, and names the file', () => {
    const none = writ(make())
    expect(none.status).toBe(4)
    expect(none.stderr).toMatch(/asks for the password of the role ann[\s\S]*~\/\.pgpass/)
    writeFileSync(join(home, '.pgpass'), line('wrong'), { mode: 0o600 })
    const wrong = writ(make())
    expect(wrong.stderr).toMatch(/refused the password of the role ann/)
    expect(wrong.stderr).not.toMatch(/Deprecation/)
  })

  it('takes it from the file without a word, and from the environment first', () => {
    writeFileSync(join(home, '.pgpass'), `# roles\n${line('se\\:cret')}`, { mode: 0o600 })
    const made = writ(make())
    expect([made.stderr, made.status]).toEqual(['', 0])
    const verified = writ(['ledger', 'verify'])
    expect([verified.stderr, verified.status]).toEqual(['', 0])
    expect(writ(['log'], { PGPASSWORD: 'se:cret' }).status).toBe(0)
    expect(writ(['log'], { PGPASSWORD: 'wrong' }).stderr).toMatch(/refused the password/)
  })
})
