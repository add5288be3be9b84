/** One home on several machines (X-1), through the built program and a real PostgreSQL server. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { task } from '../ledger/entries.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { Fleet, FleetMachine } from './fleet-rig.ts'
import { serve } from './worker-rig.ts'

// Each test starts up to twenty programs.
vi.setConfig({ testTimeout: 120_000 })

let fleet: Fleet
let first: FleetMachine
let second: FleetMachine

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
}, 180_000)

afterAll(() => fleet.stop())

/** Issues a task, whose payload is long enough to become a body. */
function issue(machine: FleetMachine): string {
  const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
  const { owner } = { owner: machine.must(['principal', 'list']).principals[0] }
  const issuer = { kind: 'human', id: owner.id, namespace: owner.namespace }
  return machine.must(['task', 'issue', '-'], JSON.stringify({ ...given, issuer })).act_task_id
}

function schema(): string {
  const root = join(first.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  return `writ_${id.replaceAll('-', '_')}`
}

describe('a machine that joins', () => {
  it('reads the home, and records nothing before a human lets it in', () => {
    second = new FleetMachine(fleet.folder, 'beta')
    const { key } = second.must(['machine', 'join', fleet.url])
    expect(second.must(['principal', 'list']).principals).toHaveLength(1)
    const refused = second.writ(['principal', 'add', 'ai:bot@local'])
    expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.unknown'])
    expect(refused.json.error.hint).toContain(`writ machine admit NAME ${key}`)
    expect(second.must(['ledger', 'verify']).ok).toBe(true)
    expect(first.must(['machine', 'admit', 'beta', key]).machine).toBe('beta')
    expect(second.writ(['principal', 'add', 'ai:bot@local']).status).toBe(0)
    const names = second.must(['machine', 'list']).machines.map((one: { name: string }) => one.name)
    expect(names).toEqual(['first', 'beta'])
  })

  it('records in turns with the others, and every one of them verifies', () => {
    for (const machine of [first, second, second, first, second]) issue(machine)
    for (const machine of [first, second]) {
      // A stream that begins with two machines says in its first fact which other one may sign.
      expect(machine.must(['log', '--type', 'ao_act_task_v0']).facts).toHaveLength(5)
      expect(machine.must(['log', '--type', 'machine_v1']).facts).toHaveLength(1)
      const report = machine.writ(['ledger', 'verify'])
      expect([report.json.problems, report.json.ok]).toEqual([[], true])
    }
  })

  it('has every body: nothing of the home lies in a state directory', () => {
    const text = `laws: []\n# ${'x'.repeat(20_000)}\n`
    writeFileSync(join(first.project, '.writ', 'laws.yaml'), text)
    first.must(['laws', 'accept', '--yes'])
    for (const machine of [first, second]) {
      const root = join(machine.folder, 'state', 'writ')
      const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
      const bodies = readdirSync(join(root, id, 'objects'), {
        recursive: true,
        withFileTypes: true,
      })
      expect(bodies.filter((entry) => entry.isFile())).toEqual([])
      expect(machine.must(['replay']).ok).toBe(true)
    }
    expect(second.must(['ledger', 'verify']).ok).toBe(true)
  })

  it('is under the laws that a human accepted on another machine', () => {
    const text = `laws:
  - policy_id: NO_MADE
    text: Nothing of that name is made.
    tier: 1
    policy_expr: creates('made')
    priority: 60
    override_mode: merge
    violation_action: block
`
    writeFileSync(join(first.project, '.writ', 'laws.yaml'), text)
    const accepted = first.writ(['laws', 'accept', '--yes'])
    if (accepted.status !== 0) throw new Error(JSON.stringify(accepted))
    const blocked = second.spawn(['exec', '--', 'touch', 'made'])
    expect(`${blocked.stdout}${blocked.stderr}`).toContain('NO_MADE')
    expect(existsSync(join(second.project, 'made'))).toBe(false)
    // This machine has no law file, and a second `init` there accepts none.
    expect(second.must(['init', '--no-pass']).laws_differ).toBe(true)
    expect(second.spawn(['exec', '--', 'touch', 'made']).status).not.toBe(0)
    expect(first.must(['laws', 'check']).in_force).toBe(true)
    writeFileSync(join(first.project, '.writ', 'laws.yaml'), 'laws: []\n')
    first.must(['laws', 'accept', '--yes'])
  })

  it('exports a bundle that verifies with the keys of the home, and with those that signed', () => {
    for (const [index, stream] of ['main', 'host'].entries()) {
      const directory = join(fleet.folder, `bundle-${index}`)
      second.must(['ledger', 'export', directory, '--stream', stream, '--bodies'])
      const keys = first.must(['ledger', 'key']).keys as string[]
      expect(verifyBundle(directory, { keys })).toMatchObject({ ok: true, problems: [] })
      expect(keys.some((key) => verifyBundle(directory, { keys: [key] }).ok)).toBe(true)
    }
  })

  it('rotates its own key, and the others go on', () => {
    second.must(['ledger', 'rotate'])
    issue(first)
    issue(second)
    expect(first.must(['ledger', 'verify']).ok).toBe(true)
  })

  it('signs a stream that began later, too', () => {
    const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
    const [owner] = first.must(['principal', 'list']).principals
    const issuer = { kind: 'human', id: owner.id, namespace: owner.namespace }
    const text = JSON.stringify({ ...given, issuer })
    for (const machine of [first, second, first]) {
      machine.must(['task', 'issue', '-', '--stream', 'north'], text.replace('"x"', '"y"'))
    }
    const directory = join(fleet.folder, 'bundle-north')
    first.must(['ledger', 'export', directory, '--stream', 'north'])
    const keys = first.must(['ledger', 'key']).keys as string[]
    expect(verifyBundle(directory, { keys })).toMatchObject({ ok: true, problems: [] })
    expect(second.must(['ledger', 'verify']).ok).toBe(true)
  })
})

describe('a machine that is removed', () => {
  it('records no more, and what it signed stays', () => {
    const third = fleet.joined(first, 'gamma')
    issue(third)
    expect(third.writ(['machine', 'remove', 'gamma']).json.error.code).toBe('machine.name')
    second.must(['machine', 'remove', 'gamma'])
    const refused = third.writ(['principal', 'add', 'ai:late@local'])
    expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.removed'])
    // What the facts say is sound on every machine, also on the one whose key ended.
    for (const machine of [first, third]) expect(machine.must(['ledger', 'verify']).ok).toBe(true)
    const { key } = third.must(['machine', 'join', '--again'])
    first.must(['machine', 'admit', 'gamma', key])
    issue(third)
    expect(first.must(['ledger', 'verify']).ok).toBe(true)
  })
})

describe('a server that lost facts', () => {
  it('is found out by what a machine has seen, before anything is recorded', async () => {
    const name = schema()
    await asOwner(fleet.server, async (client) => {
      await client.query(`CREATE TABLE backup_heads AS TABLE ${name}.heads`)
      await client.query(`CREATE TABLE backup_facts AS TABLE ${name}.facts`)
      await client.query(`CREATE TABLE backup_keys AS TABLE ${name}.keys`)
      await client.query(`CREATE TABLE backup_tiles AS TABLE ${name}.tiles`)
      await client.query(`CREATE TABLE backup_checkpoints AS TABLE ${name}.checkpoints`)
    })
    issue(second)
    const service = serve(second)
    await service.ready
    await asOwner(fleet.server, async (client) => {
      await client.query('SET session_replication_role = replica')
      for (const table of ['heads', 'facts', 'keys', 'tiles', 'checkpoints']) {
        await client.query(`ALTER TABLE ${name}.${table} DISABLE TRIGGER USER`)
        await client.query(`DELETE FROM ${name}.${table}`)
        await client.query(`INSERT INTO ${name}.${table} TABLE backup_${table}`)
        await client.query(`ALTER TABLE ${name}.${table} ENABLE TRIGGER USER`)
        const { rows } = await client.query(
          `SELECT tgname FROM pg_trigger WHERE tgrelid = '${name}.${table}'::regclass AND NOT tgisinternal`,
        )
        for (const { tgname } of rows)
          await client.query(`ALTER TABLE ${name}.${table} ENABLE ALWAYS TRIGGER ${tgname}`)
      }
    })
    const refused = second.writ(['principal', 'add', 'ai:after@local'])
    expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.truncated'])
    expect(refused.json.error.message).toContain('older backup')
    expect(await service.ended).toEqual([4, expect.stringContaining('older backup')])
    for (const words of [['log'], ['principal', 'list'], ['ledger', 'export', 'lost']]) {
      const read = second.writ(words)
      expect([words, read.status, read.json.error.code]).toEqual([words, 4, 'ledger.truncated'])
    }
    const verified = second.writ(['ledger', 'verify'])
    expect([verified.status, verified.json.ok, verified.json.anchored]).toEqual([4, false, false])
    const said = verified.json.problems.map((one: { message: string }) => one.message)
    expect(said).toContainEqual(expect.stringContaining('older backup'))
    const root = join(second.folder, 'state', 'writ')
    const [id = ''] = readdirSync(root).filter((one) => one !== 'homes.json')
    rmSync(join(root, id, 'heads.json'))
    expect(second.writ(['principal', 'add', 'ai:after@local']).status).toBe(0)
  })
})

describe('another version', () => {
  it('is refused in words', async () => {
    const name = schema()
    const version = (number: number) =>
      asOwner(fleet.server, (client) => client.query(setVersion(name, number)))
    const commands: readonly (readonly string[])[] = [
      ['log'],
      ['ledger', 'verify'],
      ['principal', 'add', 'ai:mixed@local'],
      ['task', 'list'],
      ['worker'],
      ['worker', 'list'],
      ['serve', '--listen', '127.0.0.1:0'],
      ['init', '--no-pass', '--store', fleet.url],
    ]
    for (const [format, hint] of [
      [4, 'a newer writ has changed the home: install that version'],
      [2, '`writ init --store URL --store-owner ROLE`'],
    ] as const) {
      await version(format)
      for (const words of commands) {
        const ended = first.spawn(words)
        const said = `${ended.stdout}${ended.stderr}`
        expect([words, ended.status, said]).toEqual([words, 4, expect.stringContaining(hint)])
        expect(said).toContain(`the tables of this home have format ${format}`)
      }
    }
    const joining = new FleetMachine(fleet.folder, 'late')
    const late = joining.writ(['machine', 'join', fleet.url])
    expect([late.status, late.json.error.code]).toEqual([4, 'ledger.version'])
    await version(3)
    expect(first.writ(['log']).status).toBe(0)
  })

  it('of an older format is brought up to date by init, with its bodies', async () => {
    const own = await Fleet.start()
    try {
      const machine = own.first('omega')
      const root = join(machine.folder, 'state', 'writ')
      const [id = ''] = readdirSync(root).filter((one) => one !== 'homes.json')
      const name = `writ_${id.replaceAll('-', '_')}`
      await asOwner(own.server, async (client) => {
        const { rows } = await client.query(`SELECT digest, bytes FROM ${name}.bodies`)
        expect(rows.length).toBeGreaterThan(0)
        for (const { digest, bytes } of rows) {
          const file = join(root, id, 'objects', digest.slice(7, 9), digest.slice(9))
          mkdirSync(dirname(file), { recursive: true })
          writeFileSync(file, bytes)
        }
        await client.query(makeOld(name))
      })
      const refused = machine.writ(['log'])
      expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.version'])
      expect(refused.json.error.hint).toContain('writ init --store URL')
      machine.must(['init', '--no-pass', '--store', own.url, '--store-owner', 'keeper'])
      expect(machine.must(['ledger', 'verify']).problems).toEqual([])
      issue(machine)
      const words = 'four plain words here'
      machine.must(['principal', 'pass', '--pass-fd', '0'], words)
      const second = own.joined(machine, 'psi', undefined, words)
      await asOwner(own.server, (client) => client.query(makeSecond(name)))
      expect(second.writ(['log']).json.error.code).toBe('ledger.version')
      machine.must(['init', '--no-pass', '--store', own.url, '--store-owner', 'keeper'])
      expect(machine.must(['ledger', 'verify']).problems).toEqual([])
      // The passphrase of the older format is signed now, and opens on another machine.
      second.must(['principal', 'add', 'ai:bot@local', '--pass-fd', '0'], words)
    } finally {
      await own.stop()
    }
  })
})

function setVersion(name: string, version: number): string {
  return `ALTER TABLE ${name}.ledger DISABLE TRIGGER ledger_refuse;
    UPDATE ${name}.ledger SET version = ${version};
    ALTER TABLE ${name}.ledger ENABLE ALWAYS TRIGGER ledger_refuse`
}

/** Format 2 had files without signatures, which every appender could replace. */
function makeSecond(name: string): string {
  return `DROP FUNCTION ${name}.put_file, ${name}.drop_body;
    DROP TRIGGER files_refuse ON ${name}.files;
    ALTER TABLE ${name}.files DROP version, DROP signer, DROP sig, ADD PRIMARY KEY (name);
    CREATE FUNCTION ${name}.put_file(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
    CREATE FUNCTION ${name}.drop_body(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
    DROP FUNCTION ${name}.take_turn;
    CREATE FUNCTION ${name}.take_turn(text[], uuid, text[], bigint[], text) RETURNS void
      LANGUAGE sql AS 'SELECT';
    ${setVersion(name, 2)}`
}

/** What format 1 did not have goes; its turn had one argument less. */
function makeOld(name: string): string {
  const routines = ['put_body', 'drop_body', 'put_file', 'put_worker', 'drop_worker', 'take_turn']
  return `${routines.map((one) => `DROP FUNCTION ${name}.${one}`).join(';')};
    DROP TABLE ${name}.bodies, ${name}.files, ${name}.workers;
    CREATE FUNCTION ${name}.take_turn(text[], uuid, text[], bigint[]) RETURNS void
      LANGUAGE sql AS 'SELECT';
    ${setVersion(name, 1)}`
}
