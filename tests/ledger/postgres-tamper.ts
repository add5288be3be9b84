/**
 * A corpus of manipulations of a ledger in PostgreSQL by the owner of its tables, seeded and without
 * end. Each works on a database of its own, made from the fixture's as its template.
 *
 * What counts: every column of every row, every guard, table and right; but not `epoch` and `holder`
 * of heads, `terms` and `marks`, which say nothing about the history.
 */
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { parseCheckpoint, parseNote, signCheckpoint } from '../../src/ledger/index.ts'
import { keyFromSeed, openLedger, signerFor } from '../../src/store/index.ts'
import type { PostgresServer } from '../../tools/postgres.mjs'
import { entry } from './entries.ts'
import { Chance, type Manipulation } from './tamper.ts'
import type { Fixture } from './tamper-ledger.ts'

export const SCHEMA = 'writ_tampered'
export const TEMPLATE = 'honest'
const OLD = 'old'
const COPY = 'copy'

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  ledger: ['one', 'name', 'version'],
  streams: ['stream', 'name', 'origin'],
  facts: ['stream', 'seq', 'fact', 'chain'],
  keys: ['stream', 'key', 'seq'],
  tiles: ['stream', 'level', 'tile', 'start', 'hashes', 'nodes'],
  heads: ['stream', 'size', 'note'],
  checkpoints: ['stream', 'size', 'note'],
}

const GUARDS: readonly string[] = [
  'DROP TRIGGER facts_refuse ON @.facts',
  'DROP TRIGGER facts_behind ON @.facts',
  'DROP TRIGGER heads_forward ON @.heads',
  'DROP TRIGGER tiles_longer ON @.tiles',
  'DROP TRIGGER checkpoints_behind ON @.checkpoints',
  'ALTER TABLE @.facts DISABLE TRIGGER facts_refuse',
  'ALTER TABLE @.streams DISABLE TRIGGER ALL',
  'ALTER TABLE @.keys ENABLE TRIGGER keys_refuse',
  'ALTER TABLE @.heads ENABLE REPLICA TRIGGER heads_refuse',
  'ALTER TABLE @.facts DROP CONSTRAINT facts_pkey',
  'ALTER TABLE @.streams DROP CONSTRAINT streams_name_key',
  'ALTER TABLE @.ledger DROP CONSTRAINT ledger_one_check',
  `CREATE OR REPLACE FUNCTION @.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE FUNCTION @.also() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
  'CREATE TABLE @.more (one integer)',
  'CREATE VIEW @.shown AS SELECT * FROM @.facts',
  'CREATE RULE quiet AS ON DELETE TO @.facts DO INSTEAD NOTHING',
  'GRANT INSERT ON @.facts TO writ_appender',
  'GRANT UPDATE, DELETE ON @.heads TO PUBLIC',
  'ALTER TABLE @.facts ENABLE ROW LEVEL SECURITY',
  'CREATE TABLE public.child () INHERITS (@.facts)',
  'DROP TABLE @.checkpoints',
  'ALTER TABLE @.facts RENAME COLUMN chain TO link',
  'ALTER TABLE @.heads ALTER size TYPE text',
]

/** On a copy, past every guard; null when chance found nothing to change. */
type Maker = (chance: Chance, client: pg.Client) => Promise<string | null>

const MAKERS: readonly { weight: number; make: Maker }[] = [
  { weight: 30, make: flipColumn },
  { weight: 10, make: dropRow },
  { weight: 8, make: insertRow },
  { weight: 8, make: swapColumn },
  { weight: 6, make: truncateStream },
  { weight: 6, make: forgeCheckpoint },
  { weight: 4, make: removeStream },
  { weight: 20, make: changeGuard },
]
const WEIGHTS = MAKERS.flatMap((maker) => Array.from({ length: maker.weight }, () => maker))

const put = (sql: string): string => sql.replaceAll('@', SCHEMA)

export class PostgresCorpus {
  readonly #server: PostgresServer
  readonly #folder: string

  constructor(server: PostgresServer, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  storeOf(database: string) {
    const { host } = this.#server.connection
    const url = `postgresql://postgres@/${database}?host=${host}`
    return { kind: 'postgres', url, schema: SCHEMA } as const
  }

  get copy(): string {
    return join(this.#folder, COPY)
  }

  /** The fixture's database as it is now, under another name, with a state directory for it. */
  async keepOld(from: string, to: string): Promise<void> {
    await this.#copyDatabase(TEMPLATE, OLD)
    this.#copyState(from, to, OLD)
  }

  /** Makes the manipulation of that number on a fresh copy; the first turns make every kind once. */
  async manipulate(seed: number, turn: number, fixture: Fixture): Promise<Manipulation> {
    const chance = new Chance(seed)
    for (let round = 0; round < 8; round++) chance.below(2)
    const isRare = turn > MAKERS.length && chance.below(20) === 0
    if (turn === MAKERS.length || isRare) return this.#rewrite(chance, fixture)
    await this.#copyDatabase(TEMPLATE, COPY)
    this.#copyState(fixture.directory, this.copy, COPY)
    for (let wanted = MAKERS[turn]; ; wanted = undefined) {
      const { make } = wanted ?? chance.of(WEIGHTS)
      const said = await this.#asOwner(COPY, (client) => attempt(client, chance, make))
      if (said !== null) return { name: `${make.name}: ${said}`, expect: 'found' }
    }
  }

  /** An old copy, or one that went on otherwise, with the stolen key. */
  async #rewrite(chance: Chance, fixture: Fixture): Promise<Manipulation> {
    await this.#copyDatabase(OLD, COPY)
    this.#copyState(fixture.directory, this.copy, COPY)
    const added = chance.below(80)
    const ledger = await openLedger({ directory: this.copy })
    for (let index = 0; index < added; index++) await ledger.record(entry(`forged-${index}`))
    await ledger.close()
    return { name: `old copy and ${added} other facts`, expect: 'anchor' }
  }

  async #copyDatabase(from: string, to: string): Promise<void> {
    await this.#asOwner('postgres', async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`)
      await client.query(`CREATE DATABASE ${to} TEMPLATE ${from}`)
    })
  }

  #copyState(from: string, to: string, database: string): void {
    rmSync(to, { recursive: true, force: true })
    mkdirSync(join(to, 'keys'), { recursive: true })
    for (const name of ['objects', 'keys']) {
      rmSync(join(to, name), { recursive: true, force: true })
      symlinkSync(join(from, name), join(to, name))
    }
    copyFileSync(join(from, 'store.json'), join(to, 'store.json'))
    writeFileSync(join(to, 'store.json'), JSON.stringify(this.storeOf(database)))
  }

  async #asOwner<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ ...this.#server.connection, database })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
}

/** Whole or not at all; what the server cannot do is no manipulation. */
async function attempt(client: pg.Client, chance: Chance, make: Maker): Promise<string | null> {
  await client.query('BEGIN')
  try {
    if (make !== changeGuard) await setGuards(client, 'DISABLE TRIGGER ALL')
    const said = await make(chance, client)
    if (make !== changeGuard) await setGuards(client, 'ENABLE ALWAYS')
    await client.query(said === null ? 'ROLLBACK' : 'COMMIT')
    return said
  } catch (error) {
    await client.query('ROLLBACK')
    if (error instanceof pg.DatabaseError && /^(?:22|23)/.test(error.code ?? '')) return null
    throw error
  }
}

async function setGuards(client: pg.Client, how: 'DISABLE TRIGGER ALL' | 'ENABLE ALWAYS') {
  const { rows } = await client.query<{ table: string; name: string }>(
    `SELECT relname AS table, tgname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE relnamespace = '${SCHEMA}'::regnamespace AND NOT tgisinternal`,
  )
  for (const { table, name } of rows) {
    const change = how === 'ENABLE ALWAYS' ? `ENABLE ALWAYS TRIGGER ${name}` : how
    await client.query(put(`ALTER TABLE @.${table} ${change}`))
  }
}

type Row = Record<string, unknown> & { readonly ctid: string }

async function pick(client: pg.Client, table: string, chance: Chance): Promise<Row | null> {
  const { rows } = await client.query<Row>(
    put(`SELECT ctid::text AS ctid, * FROM @.${table} ORDER BY ctid`),
  )
  return rows.length === 0 ? null : chance.of(rows)
}

/** False when it is what it was. */
async function update(client: pg.Client, table: string, column: string, row: Row, value: unknown) {
  if (JSON.stringify(value) === JSON.stringify(row[column])) return false
  const sql = `UPDATE @.${table} SET ${column} = $1 WHERE ctid = $2`
  const { rowCount } = await client.query(put(sql), [value, row.ctid])
  return rowCount === 1
}

function flipped(value: unknown, chance: Chance): unknown {
  if (Buffer.isBuffer(value)) {
    const bytes = Buffer.from(value)
    if (bytes.length === 0) return Buffer.of(chance.below(256))
    const at = chance.below(bytes.length)
    bytes[at] = (bytes[at] as number) ^ (1 << chance.below(8))
    return bytes
  }
  const text = String(value)
  // Numbers of the server's wider type come as texts.
  if (/^-?\d+$/.test(text)) return Number(text) + chance.of([-300, -2, -1, 1, 2, 300, 2 ** 20])
  const at = chance.below(text.length)
  const other = String.fromCharCode(text.charCodeAt(at) ^ (1 << chance.below(5)) || 65)
  return text.slice(0, at) + other + text.slice(at + 1)
}

async function flipColumn(chance: Chance, client: pg.Client): Promise<string | null> {
  const table = chance.of(Object.keys(COLUMNS))
  const column = chance.of(COLUMNS[table] ?? [])
  const row = await pick(client, table, chance)
  if (row === null) return null
  const isDone = await update(client, table, column, row, flipped(row[column], chance))
  return isDone ? `${table}.${column} of ${row.ctid}` : null
}

async function dropRow(chance: Chance, client: pg.Client): Promise<string | null> {
  const table = chance.of(Object.keys(COLUMNS))
  const row = await pick(client, table, chance)
  if (row === null) return null
  await client.query(put(`DELETE FROM @.${table} WHERE ctid = $1`), [row.ctid])
  return `${table} ${row.ctid}`
}

/** A row that is there, once more under another number. */
async function insertRow(chance: Chance, client: pg.Client): Promise<string | null> {
  const table = chance.of(Object.keys(COLUMNS).filter((name) => name !== 'ledger'))
  const row = await pick(client, table, chance)
  if (row === null) return null
  const { ctid: _place, ...rest } = row
  const column = chance.of(
    (COLUMNS[table] ?? []).filter((name) => /stream|seq|size|tile|key/.test(name)),
  )
  const values: Record<string, unknown> = { ...rest, [column]: flipped(rest[column], chance) }
  const names = Object.keys(values)
  const places = names.map((_, at) => `$${at + 1}`)
  const sql = `INSERT INTO @.${table} (${names.join(', ')}) VALUES (${places.join(', ')})`
  await client.query(put(sql), Object.values(values))
  return `${table} with another ${column}`
}

async function swapColumn(chance: Chance, client: pg.Client): Promise<string | null> {
  const table = chance.of(['facts', 'tiles', 'heads', 'checkpoints', 'keys'])
  const columns = (COLUMNS[table] ?? []).filter((name) =>
    /fact|chain|hashes|nodes|note|seq/.test(name),
  )
  const column = chance.of(table === 'facts' ? ['fact', 'chain'] : columns)
  const [one, two] = [await pick(client, table, chance), await pick(client, table, chance)]
  if (one === null || two === null || !(await update(client, table, column, one, two[column]))) {
    return null
  }
  await client.query(put(`UPDATE @.${table} SET ${column} = $1 WHERE ctid = $2`), [
    one[column],
    two.ctid,
  ])
  return `${table}.${column} of ${one.ctid} and ${two.ctid}`
}

async function truncateStream(chance: Chance, client: pg.Client): Promise<string | null> {
  const head = await pick(client, 'heads', chance)
  if (head === null) return null
  const left = chance.below(Number(head['size']))
  await client.query(put('DELETE FROM @.facts WHERE stream = $1 AND seq >= $2'), [
    head['stream'],
    left,
  ])
  if (chance.below(2) === 0) {
    await client.query(put('UPDATE @.heads SET size = $2 WHERE stream = $1'), [
      head['stream'],
      left,
    ])
  }
  return `stream ${head['stream']} after ${left}`
}

/** A checkpoint of the right form under a key that is not the ledger's. */
async function forgeCheckpoint(chance: Chance, client: pg.Client): Promise<string | null> {
  const table = chance.of(['heads', 'checkpoints'])
  const row = await pick(client, table, chance)
  const checkpoint = parseCheckpoint(parseNote(String(row?.['note']))?.text ?? '')
  if (row === null || checkpoint === null) return null
  const seed = Buffer.alloc(32, chance.below(256))
  const signer = signerFor(keyFromSeed(seed), checkpoint.origin)
  const root = chance.below(2) === 0 ? checkpoint.root : new Uint8Array(seed)
  const note = signCheckpoint(checkpoint.origin, checkpoint.size, root, [signer])
  return (await update(client, table, 'note', row, note)) ? `${table} ${row.ctid}` : null
}

async function removeStream(chance: Chance, client: pg.Client): Promise<string | null> {
  const row = await pick(client, 'streams', chance)
  if (row === null) return null
  for (const table of Object.keys(COLUMNS).filter((name) => name !== 'ledger')) {
    await client.query(put(`DELETE FROM @.${table} WHERE stream = $1`), [row['stream']])
  }
  return String(row['name'])
}

async function changeGuard(chance: Chance, client: pg.Client): Promise<string | null> {
  const sql = put(chance.of(GUARDS))
  await client.query(sql)
  return sql
}
