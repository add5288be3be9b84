/** The walls of the SQLite store: what the file refuses, what opening refuses, what failures say. */

import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultError } from '../../src/base/index.ts'
import { checkFilesystem } from '../../src/machine/index.ts'
import { connect, type Database } from '../../src/store/database/sqlite-driver.ts'
import {
  createLedgerFile,
  Engine,
  InlineWriter,
  openLedgerDatabase,
  ringOf,
  SqliteStore,
  schemaDifferences,
} from '../../src/store/index.ts'
import { taskDraft } from './entries.ts'
import { runProgram } from './program.ts'
import { allFacts, checkStream, codeOf } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

let place: ReturnType<typeof scratch>
let file: string

beforeEach(() => {
  place = scratch()
  file = join(place.directory, 'ledger.db')
  createLedgerFile(file, NAME)
})

afterEach(() => place.remove())

const openStore = (waitMsMax?: number): SqliteStore => {
  const options = waitMsMax === undefined ? {} : { waitMsMax }
  return new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), ...options }))
}

const ledger = {
  open: async () => openStore(),
  verifier: verifierOf,
  remove: async () => undefined,
}

/** A ledger with facts in two streams, closed again. */
async function fill(count = 5): Promise<void> {
  const store = openStore()
  await store.append(Array.from({ length: count }, (_, index) => taskDraft(`t-${index}`)))
  await store.append([taskDraft('o', { stream: 'other' })])
  await store.close()
}

/** Works on the file around the API. */
function around<T>(work: (database: Database) => T): T {
  const database = connect(file, 'write')
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** The same with a trigger out of the way, which comes back afterwards. */
function without(trigger: string, sql: string): void {
  around((database) => {
    const select = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck()
    const made = select.get(trigger) as string
    database.exec(`DROP TRIGGER ${trigger}`)
    database.exec(sql)
    database.exec(made)
  })
}

function codeOfThrow(work: () => unknown): string {
  try {
    work()
    return 'no failure'
  } catch (error) {
    if (error instanceof FaultError) return error.fault.code
    throw error
  }
}

const MAIN = "(SELECT stream << 32 FROM streams WHERE name = 'main')"

describe('the file refuses', () => {
  beforeEach(() => fill())

  it.each([
    ['to change a fact', `UPDATE facts SET fact = '{}'`],
    ['to move a fact', `UPDATE facts SET place = place + 100`],
    ['to delete a fact', `DELETE FROM facts WHERE place = ${MAIN} + 4`],
    ['to replace a fact', `INSERT OR REPLACE INTO facts SELECT place, '{}', chain FROM facts`],
    ['to replace the last fact', `REPLACE INTO facts SELECT max(place), 'x', x'00' FROM facts`],
    ['a fact behind a gap', `INSERT INTO facts VALUES (${MAIN} + 6, 'x', x'00')`],
    ['a fact before the first', `INSERT INTO facts VALUES (-1, 'x', x'00')`],
    ['a fact without a place', `INSERT INTO facts VALUES (NULL, 'x', x'00')`],
    ['a stream that does not begin at 0', `INSERT INTO facts VALUES ((9 << 32) + 1, 'x', x'00')`],
    ['to ignore its refusal', `INSERT OR IGNORE INTO facts VALUES (${MAIN} + 6, 'x', x'00')`],
    ['to shorten a tile', `UPDATE tiles SET hashes = substr(hashes, 1, 32)`],
    ['to change a tile', `UPDATE tiles SET hashes = zeroblob(length(hashes))`],
    ['to change nodes of a tile', `UPDATE tiles SET nodes = zeroblob(length(nodes) + 32)`],
    ['to delete a tile', `DELETE FROM tiles`],
    ['to replace a tile', `REPLACE INTO tiles SELECT place, x'00', x'00' FROM tiles`],
    ['to turn a head back', `UPDATE heads SET size = size - 1`],
    ['to put another note on a head', `UPDATE heads SET note = 'x'`],
    ['to delete a head', `DELETE FROM heads`],
    ['to replace a head', `REPLACE INTO heads SELECT stream, 99, note FROM heads`],
    ['to rename a stream', `UPDATE streams SET name = 'x' WHERE name = 'main'`],
    ['to delete a stream', `DELETE FROM streams`],
    ['to replace a stream', `REPLACE INTO streams VALUES (77, 'main', 'x')`],
    ['to rename the ledger', `UPDATE ledger SET name = 'x'`],
    ['to replace the ledger', `REPLACE INTO ledger VALUES (1, 'x')`],
    ['a second name', `INSERT INTO ledger VALUES (2, 'x')`],
  ])('%s', (_, sql) => {
    const dump = () =>
      around((database) =>
        ['ledger', 'streams', 'facts', 'tiles', 'heads', 'checkpoints'].map((table) =>
          JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all()),
        ),
      )
    const before = dump()
    expect(() => around((database) => database.exec(sql))).toThrow(
      /never|behind|longer|forward|constraint/,
    )
    expect(dump()).toEqual(before)
  })

  it('also kept checkpoints', () => {
    around((database) => {
      database.exec(`INSERT INTO checkpoints VALUES (${MAIN} + 5, 'a')`)
      for (const sql of [
        `UPDATE checkpoints SET note = 'b'`,
        'DELETE FROM checkpoints',
        `REPLACE INTO checkpoints VALUES (${MAIN} + 5, 'b')`,
        `INSERT INTO checkpoints VALUES (${MAIN} + 4, 'b')`,
      ]) {
        expect(() => database.exec(sql)).toThrow(/never|behind/)
      }
    })
  })
})

describe('opening refuses', () => {
  it('a ledger that is not there, one that is there already, and files that are none', () => {
    const keys = ringOf(KEY)
    const open = (name: string) => new Engine({ file: join(place.directory, name), keys })
    expect(codeOfThrow(() => open('none.db'))).toBe('ledger.missing')
    expect(codeOfThrow(() => open('no/where/none.db'))).toBe('ledger.missing')
    expect(codeOfThrow(() => createLedgerFile(file, NAME))).toBe('ledger.exists')
    writeFileSync(join(place.directory, 'text.db'), 'not a database at all, only text'.repeat(200))
    expect(codeOfThrow(() => open('text.db'))).toBe('ledger.corrupt')
    const foreign = connect(join(place.directory, 'foreign.db'), 'create')
    foreign.exec('CREATE TABLE a (b)')
    foreign.close()
    expect(codeOfThrow(() => open('foreign.db'))).toBe('ledger.missing')
  })

  it('a format it does not know', () => {
    around((database) => database.pragma('user_version = 3'))
    const found = codeOfThrow(() => new Engine({ file, keys: ringOf(KEY) }))
    expect(found).toBe('ledger.version')
  })

  it('to write past a guard that is gone or changed, but not to read', () => {
    expect(around(schemaDifferences)).toEqual([])
    around((database) => database.exec('DROP TRIGGER facts_refuse_delete'))
    expect(around(schemaDifferences)).toEqual(['facts_refuse_delete'])
    expect(codeOfThrow(() => new Engine({ file, keys: ringOf(KEY) }))).toBe('ledger.tampered')
    openLedgerDatabase(file, 'read').close()
  })

  it.each([
    [0x6969, 'nfs'],
    [0x01021997, '9p'],
    [-11317950, 'cifs'],
    [0x65735546, 'fuse'],
  ])('a filesystem of type %i', (type, filesystem) => {
    expect(checkFilesystem(place.directory, () => type)).toMatchObject({
      code: 'ledger.filesystem',
      details: { filesystem },
    })
    const refused = () => new Engine({ file, keys: ringOf(KEY), filesystemType: () => type })
    expect(codeOfThrow(refused)).toBe('ledger.filesystem')
    expect(
      codeOfThrow(() => createLedgerFile(join(place.directory, 'n.db'), NAME, () => type)),
    ).toBe('ledger.filesystem')
  })

  it('no local filesystem', () => {
    expect(checkFilesystem(place.directory)).toBe(null)
    expect(checkFilesystem(place.directory, () => 0xef53)).toBe(null)
  })
})

describe('a file that was tampered with', () => {
  beforeEach(() => fill())

  /** The code of the next append, which must leave the file as it is. */
  async function refusal(stream = 'main'): Promise<string> {
    const facts = () =>
      around((database) => database.prepare('SELECT count(*) FROM facts').pluck().get())
    const before = facts()
    const store = openStore()
    const code = await codeOf(store.append([taskDraft('x', { stream })]))
    await store.close()
    if (code !== 'no failure') expect(facts()).toBe(before)
    return code
  }

  it('is smaller than its newest checkpoint: nothing is cut, nothing is appended', async () => {
    without('facts_refuse_delete', `DELETE FROM facts WHERE place = ${MAIN} + 4`)
    expect(await refusal()).toBe('ledger.truncated')
  })

  it('has lost all facts of a stream', async () => {
    without('facts_refuse_delete', `DELETE FROM facts WHERE place >> 32 = ${MAIN} >> 32`)
    expect(await refusal()).toBe('ledger.truncated')
  })

  it('has a fact that no checkpoint covers', async () => {
    around((database) => database.exec(`INSERT INTO facts VALUES (${MAIN} + 5, '{}', x'00')`))
    expect(await refusal()).toBe('ledger.unsigned_tail')
  })

  it('has another hash in its open tile', async () => {
    without(
      'tiles_refuse_update',
      `UPDATE tiles SET hashes = CAST(substr(hashes, 1, 128) || zeroblob(32) AS BLOB) WHERE place = ${MAIN}`,
    )
    expect(await refusal()).toBe('ledger.tampered')
  })

  it('has lost a tile', async () => {
    without('tiles_refuse_delete', `DELETE FROM tiles WHERE place = ${MAIN}`)
    expect(await refusal()).toBe('ledger.tampered')
  })

  it('has a head with another size, text or signature', async () => {
    const change = (sql: string) => without('heads_refuse_update', sql)
    const note = around((database) =>
      database.prepare('SELECT note FROM heads').pluck().get(),
    ) as string
    change(`UPDATE heads SET note = replace(note, '${NAME}/main', '${NAME}/moin')`)
    expect(await refusal()).toBe('ledger.tampered')
    const [line = ''] = note.split('\n').slice(-2)
    const bent = `${line.slice(0, -4)}AAA=`
    change(`UPDATE heads SET note = replace('${note}', '${line}', '${bent}') WHERE stream = 1`)
    expect(await refusal()).toBe('ledger.signature_invalid')
    change(`UPDATE heads SET note = '${note}' WHERE stream = 1`)
    expect(await refusal()).toBe('no failure')
  })

  it('is signed by a key that is not kept here', async () => {
    const { keyFromSeed } = await import('../../src/store/index.ts')
    const other = ringOf(keyFromSeed(new Uint8Array(32).fill(9)))
    const writer = new InlineWriter({ file, keys: other })
    expect(await codeOf(writer.append([taskDraft('x')]))).toBe('ledger.key_missing')
    await writer.close()
  })

  it('refuses for the stream it concerns; the others go on', async () => {
    without('facts_refuse_delete', `DELETE FROM facts WHERE place = ${MAIN} + 4`)
    const store = openStore()
    const [main, other] = await Promise.allSettled([
      store.append([taskDraft('x')]),
      store.append([taskDraft('y', { stream: 'other' })]),
    ])
    expect([main?.status, other?.status]).toEqual(['rejected', 'fulfilled'])
    await checkStream(store, ledger, 'other')
    await store.close()
  })

  it('is noticed while it is open, too', async () => {
    const store = openStore()
    await store.append([taskDraft('x')])
    around((database) => database.exec(`INSERT INTO facts VALUES (${MAIN} + 6, '{}', x'00')`))
    // Nothing but the file's version tells; the sizes are compared when the next turn begins.
    expect(await codeOf(store.append([taskDraft('y')]))).not.toBe('no failure')
    await store.close()
  })
})

describe('failures have codes', () => {
  it('busy beyond the bound', async () => {
    await fill()
    const store = openStore(60)
    const other = connect(file, 'write')
    other.exec('BEGIN IMMEDIATE')
    const started = performance.now()
    expect(await codeOf(store.append([taskDraft('x')]))).toBe('ledger.busy')
    expect(performance.now() - started).toBeGreaterThan(55)
    other.exec('ROLLBACK')
    other.close()
    expect(await store.append([taskDraft('x')])).toMatchObject([{ seq: 5 }])
    await store.close()
  })

  it('a damaged file', async () => {
    await fill(2000)
    const bytes = readFileSync(file)
    for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 64)
    writeFileSync(file, bytes)
    const found = await codeOf(
      (async () => {
        const store = openStore()
        try {
          return await store.append([taskDraft('x')])
        } finally {
          await store.close()
        }
      })(),
    )
    expect(found).toBe('ledger.corrupt')
  })

  it('a full disk, after which the ledger goes on and opens again', async () => {
    const folder = join(place.directory, 'small')
    const namespace =
      process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--user', '--map-root-user']
    const script = 'mkdir -p "$1" && mount -t tmpfs -o size=1500k tmpfs "$1" && shift && exec "$@"'
    const wrapper = ['unshare', ...namespace, 'sh', '-c', script, 'sh', folder]
    const input = { directory: folder, draft: taskDraft('t') }
    const { lines, errors } = await runProgram('tests/ledger/full-disk.program.ts', input, {
      wrapper,
    })
    expect(errors).toBe('')
    const [full, after, again] = lines.map((line) => JSON.parse(line))
    expect(full).toMatchObject({ code: 'ledger.disk_full' })
    expect(full.acknowledged).toBeGreaterThan(5)
    expect(full.size).toBe(full.acknowledged)
    expect(after.size).toBe(full.size + 1)
    expect(again).toMatchObject({ size: after.size + 1, isSound: true })
  })
})

describe('the file', () => {
  it('is written ahead, synced at every commit, and readable by its owner only', async () => {
    await fill()
    const database = openLedgerDatabase(file, 'write')
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(database.pragma('synchronous', { simple: true })).toBe(2)
    database.close()
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('tells its history to anyone with a shell', async () => {
    await fill(2)
    const rows = around((database) => database.prepare('SELECT stream, seq FROM history').all())
    expect(rows).toEqual([
      { stream: 'main', seq: 0 },
      { stream: 'main', seq: 1 },
      { stream: 'other', seq: 0 },
    ])
  })
})

describe('the index', () => {
  const keyed = (key: string) => taskDraft(key, { idempotencyKey: key })
  const index = () => join(place.directory, 'ledger-index.db')

  beforeEach(async () => {
    const store = openStore()
    await store.append(['a', 'b', 'c'].map(keyed))
    await store.close()
    expect(existsSync(index())).toBe(true)
  })

  /** A key is still used, and a query still finds. */
  async function expectSound(): Promise<void> {
    const store = openStore()
    expect(await store.append([keyed('a'), keyed('c')])).toMatchObject([
      { seq: 0, repeated: true },
      { seq: 2, repeated: true },
    ])
    const query = { stream: 'main', task: 'b', limit: 5, order: 'oldest_first' } as const
    expect((await store.find(query)).facts.map(({ seq }) => seq)).toEqual([1])
    await store.append([keyed('d')])
    expect(await allFacts(store)).toHaveLength(4)
    await store.close()
  }

  it('may be lost', async () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${index()}${suffix}`, { force: true })
    await expectSound()
  })

  it('may be damaged', async () => {
    writeFileSync(index(), readFileSync(index()).fill(0x5a, 100))
    await expectSound()
    writeFileSync(index(), 'this is no database at all'.repeat(400))
    const store = openStore()
    expect(await store.append([keyed('a')])).toMatchObject([{ seq: 0, repeated: true }])
    await store.close()
  })

  it('may belong to another ledger', async () => {
    const { directory, remove } = scratch()
    const other = join(directory, 'ledger.db')
    createLedgerFile(other, NAME)
    const store = new SqliteStore(other, new InlineWriter({ file: other, keys: ringOf(KEY) }))
    await store.append(['x', 'b', 'z', 'y', 'v'].map(keyed))
    await store.close()
    copyFileSync(join(directory, 'ledger-index.db'), index())
    await expectSound()
    remove()
  })

  it('may be wiped by another process while this one runs', async () => {
    const store = openStore()
    await store.append([keyed('e')])
    const other = connect(index(), 'write')
    other.exec('DELETE FROM terms; DELETE FROM marks')
    other.close()
    expect(await store.append([keyed('a'), keyed('e')])).toMatchObject([
      { seq: 0, repeated: true },
      { seq: 3, repeated: true },
    ])
    await store.close()
  })
})
