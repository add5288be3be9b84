/** A home whose facts lie in PostgreSQL, through the built program: every command of history. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INPUTS, RULESET } from '../src/cli/demo/constitution-chapter.ts'
import { type PostgresServer, startPostgres } from '../tools/postgres.mjs'
import { ensureBuilt } from './built.ts'
import { task } from './ledger/entries.ts'
import { asOwner } from './ledger/postgres-ledger.ts'
import { verifyBundle } from './verifier/verify.mjs'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const folder = mkdtempSync(join(tmpdir(), 'writ-cli-postgres-'))
const project = join(folder, 'project')
const state = join(folder, 'state')
let server: PostgresServer
let url = ''

beforeAll(async () => {
  ensureBuilt()
  server = await startPostgres()
  await asOwner(server, (client) =>
    client.query('CREATE ROLE keeper LOGIN CREATEROLE SUPERUSER; CREATE ROLE clerk LOGIN'),
  )
  url = `postgresql://clerk@/postgres?host=${server.connection.host}`
  mkdirSync(project)
}, 180_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

function writ(args: readonly string[], input = '', token?: string) {
  const ended = spawnSync(process.execPath, [PROGRAM, ...args, '--json'], {
    cwd: project,
    input,
    encoding: 'utf8',
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_STATE_HOME: state,
      USER: 'ann',
      ...(token === undefined ? {} : { WRIT_TOKEN: token }),
    },
  })
  const text = ended.stdout.trim()
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
  const json: any = text.startsWith('{') ? JSON.parse(text) : null
  return { status: ended.status, json, err: ended.stderr }
}

/** The state directory of the one home. */
function home(): string {
  const [id = ''] = readdirSync(join(state, 'writ')).filter((name) => name !== 'homes.json')
  return join(state, 'writ', id)
}

describe('writ init --store', () => {
  it('refuses a password, and leaves nothing behind', () => {
    const { status, json } = writ(['init', '--no-pass', '--store', url.replace('@', ':secret@')])
    expect([status, json.error.code]).toEqual([2, 'ledger.store_malformed'])
    expect(JSON.stringify(json)).not.toContain('secret')
    expect(readdirSync(project)).toEqual([])
  })

  it('says what is wrong when the server is not there', () => {
    const nowhere = 'postgresql://clerk@/postgres?host=/nonexistent'
    const { status, json } = writ(['init', '--no-pass', '--store', nowhere])
    expect([status, json.error.code]).toEqual([4, 'ledger.unreachable'])
  })

  it('makes tables that belong to another role than the appenders', async () => {
    const made = writ(['init', '--no-pass', '--store', url, '--store-owner', 'keeper'])
    expect([made.err, made.status]).toEqual(['', 0])
    expect(made.json.created).toContain(join(home(), 'store.json'))
    expect(readdirSync(home())).not.toContain('ledger.db')
    const { schema } = JSON.parse(readFileSync(join(home(), 'store.json'), 'utf8'))
    const refused = asOwner(server, (one) => one.query(`DELETE FROM ${schema}.facts`), 'clerk')
    await expect(refused).rejects.toThrow(/permission denied/)
  })

  it('can be run again, but not with another store', () => {
    const again = writ(['init', '--no-pass', '--store', url])
    expect(again.json.error?.code ?? again.json.created).toEqual([])
    expect(writ(['init', '--no-pass']).json.created).toEqual([])
    const other = writ(['init', '--no-pass', '--store', `${url}&sslmode=disable`])
    expect([other.status, other.json.error.code]).toEqual([2, 'ledger.exists'])
  })
})

describe('laws of a home whose facts lie elsewhere', () => {
  it('are accepted by a human alone', () => {
    expect(writ(['principal', 'add', 'ai:bot@local']).status).toBe(0)
    const { token } = writ(['token', 'create', 'ai:bot@local']).json
    for (const command of [['trust'], ['laws', 'accept']]) {
      const { status, json } = writ(command, '', token)
      expect([status, json.error.code]).toEqual([1, 'principal.not_human'])
    }
    expect(writ(['laws', 'accept', '--yes']).status).toBe(0)
  })
})

describe('history in PostgreSQL', () => {
  let issued = ''

  it('tasks, evaluations, the log, and what is shown of one task', () => {
    const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
    const issuer = { kind: 'human', id: 'root', namespace: 'local' }
    const made = writ(['principal', 'list']).json.principals[0]
    const document = { ...given, issuer: made?.principal ?? issuer }
    const answer = writ(['task', 'issue', '-'], JSON.stringify(document))
    expect([answer.err, answer.status]).toEqual(['', 0])
    issued = answer.json.act_task_id
    writeFileSync(join(project, 'rules.json'), JSON.stringify(RULESET))
    writeFileSync(join(project, 'in.json'), JSON.stringify(INPUTS))
    const rules = ['rules', 'eval', '--rules', 'rules.json', '--inputs', 'in.json', '--record']
    expect(writ(rules).status).toBe(0)
    expect(writ(['log']).json.facts).toHaveLength(2)
    expect(writ(['log', '--task', issued]).json.facts).toHaveLength(1)
    expect(writ(['task', 'list']).json.tasks).toMatchObject([{ act_task_id: issued, receipts: 0 }])
    expect(writ(['task', 'show', issued]).status).toBe(0)
    expect(writ(['show', 'main/0']).status).toBe(0)
    expect(writ(['replay']).json).toMatchObject({ ok: true, checked: 1 })
  })

  it('verification, proofs, checkpoints, keys and bundles', () => {
    const key = writ(['ledger', 'key']).json.public_key
    const checkpoint = writ(['ledger', 'checkpoint']).json.checkpoint
    writeFileSync(join(project, 'kept.txt'), checkpoint)
    expect(writ(['ledger', 'rotate']).status).toBe(0)
    const verified = writ(['ledger', 'verify', '--from', 'kept.txt', '--key', key])
    expect(verified.json).toMatchObject({ ok: true, anchored: true, problems: [] })
    const { checkpoint: ofMain } = writ(['ledger', 'checkpoint', '--stream', 'main']).json
    writeFileSync(join(project, 'main.txt'), ofMain)
    const partly = writ(['ledger', 'verify', '--from', 'main.txt']).json
    expect(partly).toMatchObject({ ok: true, anchored: false })
    expect(writ(['ledger', 'key']).json).toMatchObject({ earlier: [key] })
    expect(writ(['ledger', 'prove', '0']).json.leaf).toMatch(/^sha256:/)
    expect(writ(['ledger', 'export', 'bundle']).json.size).toBe(3)
    const report = verifyBundle(join(project, 'bundle'), { keys: [key], anchor: checkpoint })
    expect(report).toMatchObject({ ok: true, anchored: true })
  })

  it('a change by the owner is found, and its exit status says so', async () => {
    const { schema } = JSON.parse(readFileSync(join(home(), 'store.json'), 'utf8'))
    await asOwner(server, async (client) => {
      await client.query(`ALTER TABLE ${schema}.facts DISABLE TRIGGER facts_refuse`)
      await client.query(
        `UPDATE ${schema}.facts SET fact = replace(fact, 'cli', 'clo') WHERE stream = 2 AND seq = 1`,
      )
      await client.query(`ALTER TABLE ${schema}.facts ENABLE ALWAYS TRIGGER facts_refuse`)
    })
    const { status, json } = writ(['ledger', 'verify'])
    expect([status, json.ok]).toEqual([1, false])
    expect(json.problems).toContainEqual(expect.objectContaining({ code: 'ledger.chain', seq: 1 }))
  })

  it('no command answers with an empty table when facts are gone', async () => {
    const { schema } = JSON.parse(readFileSync(join(home(), 'store.json'), 'utf8'))
    await asOwner(server, async (client) => {
      await client.query(`ALTER TABLE ${schema}.facts DISABLE TRIGGER facts_refuse`)
      await client.query(`DELETE FROM ${schema}.facts WHERE stream = 2`)
      await client.query(`ALTER TABLE ${schema}.facts ENABLE ALWAYS TRIGGER facts_refuse`)
    })
    for (const words of [['log'], ['task', 'list'], ['show', issued], ['ledger', 'export', 'x']]) {
      const { status, json } = writ(words)
      expect([words, status, json.error?.code]).toEqual([words, 4, 'ledger.truncated'])
    }
    expect(writ(['ledger', 'verify']).status).toBe(4)
    await asOwner(server, (client) => client.query(`DROP SCHEMA ${schema} CASCADE`))
    const gone = writ(['log'])
    expect([gone.status, gone.json.error.code]).toEqual([4, 'ledger.corrupt'])
  })
})
