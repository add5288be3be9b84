/**
 * The file of the ledger as SQL: tables, and triggers that refuse to change written rows. Triggers stop
 * mistakes, not a person who can edit the file; verification reports a trigger that is missing.
 *
 * A place is `stream << 32 | seq`, so that each stream is one ascending run of integer keys and an
 * append touches only its end. A tile's place is `stream << 32 | level << 28 | index`.
 */
import type { Database } from './sqlite-driver.ts'

/** Version 2 added the index over idempotency keys; a writer adds it to a file of version 1. */
export const SCHEMA_VERSION = 2
const FIRST_VERSION = 1
/** `writ` in ASCII: what `file(1)` shows. */
export const APPLICATION_ID = 0x7772_6974

const STREAM_SPAN = 2 ** 32
const LEVEL_SPAN = 2 ** 28

export function factPlace(stream: number, seq: number): number {
  return stream * STREAM_SPAN + seq
}

export function seqOf(place: number): number {
  return place % STREAM_SPAN
}

export function tilePlace(stream: number, level: number, index: number): number {
  return stream * STREAM_SPAN + level * LEVEL_SPAN + index
}

/** More facts than this do not fit the places of one stream. */
export const STREAM_SIZE_MAX = STREAM_SPAN - 1

const TABLES: Readonly<Record<string, string>> = {
  ledger: 'one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL',
  streams: 'stream INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, origin TEXT NOT NULL',
  facts: 'place INTEGER PRIMARY KEY, fact TEXT NOT NULL, chain BLOB NOT NULL',
  tiles: 'place INTEGER PRIMARY KEY, hashes BLOB NOT NULL, nodes BLOB NOT NULL',
  heads: 'stream INTEGER PRIMARY KEY, size INTEGER NOT NULL, note TEXT NOT NULL',
  checkpoints: 'place INTEGER PRIMARY KEY, note TEXT NOT NULL',
}

const FIRST_OF_STREAM = '(NEW.place >> 32) << 32'
const END_OF_STREAM = '((NEW.place >> 32) + 1) << 32'

/** When each kind of change is refused; `true` refuses always. REPLACE passes delete triggers. */
const REFUSALS: readonly { table: string; change: string; when: string; says: string }[] = [
  always('ledger', 'UPDATE'),
  always('ledger', 'DELETE'),
  once('ledger', 'one = NEW.one'),
  always('streams', 'UPDATE'),
  always('streams', 'DELETE'),
  once('streams', 'stream = NEW.stream OR name = NEW.name'),
  always('facts', 'UPDATE'),
  always('facts', 'DELETE'),
  {
    table: 'facts',
    change: 'INSERT',
    when:
      `NEW.place IS NOT coalesce((SELECT max(place) + 1 FROM facts WHERE place >= ${FIRST_OF_STREAM}` +
      ` AND place < ${END_OF_STREAM}), ${FIRST_OF_STREAM})`,
    says: 'a fact is appended behind the last one of its stream',
  },
  always('tiles', 'DELETE'),
  once('tiles', 'place = NEW.place'),
  {
    table: 'tiles',
    change: 'UPDATE',
    when:
      'NEW.place IS NOT OLD.place OR substr(NEW.hashes, 1, length(OLD.hashes)) IS NOT OLD.hashes' +
      ' OR substr(NEW.nodes, 1, length(OLD.nodes)) IS NOT OLD.nodes',
    says: 'a tile only becomes longer',
  },
  always('heads', 'DELETE'),
  once('heads', 'stream = NEW.stream'),
  {
    table: 'heads',
    change: 'UPDATE',
    when: 'NEW.stream IS NOT OLD.stream OR NEW.size <= OLD.size',
    says: 'a head only moves forward',
  },
  always('checkpoints', 'UPDATE'),
  always('checkpoints', 'DELETE'),
  {
    table: 'checkpoints',
    change: 'INSERT',
    when: `EXISTS (SELECT 1 FROM checkpoints WHERE place >= NEW.place AND place < ${END_OF_STREAM})`,
    says: 'a checkpoint is kept behind the last one of its stream',
  },
]

function always(table: string, change: 'UPDATE' | 'DELETE') {
  return { table, change, when: 'true', says: `${table} are never changed` }
}

function once(table: string, same: string) {
  const when = `EXISTS (SELECT 1 FROM ${table} WHERE ${same})`
  return { table, change: 'INSERT', when, says: `${table} are never replaced` }
}

/**
 * The idempotency key of a fact, and which facts may have one. SQLite itself keeps the index over it,
 * in the transaction of the fact, so that no second file decides whether a key was used.
 */
const KEY = "iif(json_valid(fact), json_extract(fact, '$.record.idempotency_key'), NULL)"
const HAS_KEY = `instr(fact, '"idempotency_key":') > 0`
const KEY_INDEX = 'facts_key'
const KEY_INDEX_SQL = `CREATE INDEX ${KEY_INDEX} ON facts (place >> 32, ${KEY}) WHERE ${HAS_KEY}`

/** Selects the place of the first fact of a stream that has a key: the stream, then the key. */
export const FIRST_WITH_KEY =
  `SELECT place FROM facts INDEXED BY ${KEY_INDEX} WHERE place >> 32 = ? AND ${KEY} = ?` +
  ` AND ${HAS_KEY} ORDER BY place LIMIT 1`

/** Selects every idempotency key of a stream as the index holds it, with the place of its fact. */
export const KEYS_OF_STREAM = `SELECT ${KEY}, place FROM facts INDEXED BY ${KEY_INDEX} WHERE place >> 32 = ? AND ${HAS_KEY}`

/** Every object of the file and the exact SQL that made it. */
const SCHEMA: ReadonlyMap<string, string> = new Map([
  ...Object.entries(TABLES).map(([name, columns]): [string, string] => [
    name,
    `CREATE TABLE ${name} (${columns}) STRICT`,
  ]),
  ...REFUSALS.map(({ table, change, when, says }): [string, string] => {
    const name = `${table}_refuse_${change.toLowerCase()}`
    const body = `BEGIN SELECT RAISE(ABORT, '${says}'); END`
    return [name, `CREATE TRIGGER ${name} BEFORE ${change} ON ${table} WHEN ${when} ${body}`]
  }),
  [
    'history',
    'CREATE VIEW history AS SELECT streams.name AS stream, facts.place & 0xffffffff AS seq, facts.fact' +
      ' FROM facts JOIN streams ON streams.stream = facts.place >> 32',
  ],
  [KEY_INDEX, KEY_INDEX_SQL],
])

/** Returns what a file of a version holds. */
function schemaOf(version: number): ReadonlyMap<string, string> {
  return new Map([...SCHEMA].filter(([name]) => version > FIRST_VERSION || name !== KEY_INDEX))
}

export function isKnownVersion(version: number): boolean {
  return version === FIRST_VERSION || version === SCHEMA_VERSION
}

/** Brings a file of the first version up to this one. Facts, tree and checkpoints stay as they are. */
export function upgradeSchema(database: Database): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been faster.
    if (versionOf(database) === FIRST_VERSION) {
      database.exec(KEY_INDEX_SQL)
      database.pragma(`user_version = ${SCHEMA_VERSION}`)
    }
    database.exec('COMMIT')
  } finally {
    if (database.inTransaction) database.exec('ROLLBACK')
  }
}

export function versionOf(database: Database): number {
  // SQLite keeps this field of the file's header as an integer.
  return database.pragma('user_version', { simple: true }) as number
}

/** Makes everything; the caller is in a transaction. */
export function createSchema(database: Database): void {
  for (const sql of SCHEMA.values()) database.exec(sql)
  database.pragma(`user_version = ${SCHEMA_VERSION}`)
  database.pragma(`application_id = ${APPLICATION_ID}`)
}

/** The index that SQLite makes by itself, for the names of streams. It has no SQL. */
const INTERNAL = 'sqlite_autoindex_streams_1'

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string | null
}

/**
 * Returns the names of objects that are missing, changed or too many. Checks the names that SQLite
 * reserves for itself too: a person who edits the file can use them.
 */
export function schemaDifferences(database: Database): readonly string[] {
  const rows = database
    .prepare<SchemaRow>('SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema')
    .all()
  const schema = schemaOf(versionOf(database))
  const names = [...schema.keys(), INTERNAL, ...rows.map(({ name }) => String(name))]
  return [...new Set(names)].filter((name) => !isAsMade(name, rows, schema)).sort()
}

function isAsMade(
  name: string,
  rows: readonly SchemaRow[],
  schema: ReadonlyMap<string, string>,
): boolean {
  const [row, ...more] = rows.filter((one) => one.name === name)
  if (row === undefined || more.length > 0) return false
  const sql = schema.get(name)
  if (sql === undefined) {
    return name === INTERNAL && row.type === 'index' && row.table === 'streams' && row.sql === null
  }
  const [, type = '', table = ''] =
    /^CREATE (\w+) (?:\w+ (?:BEFORE \w+ )?ON )?(\w+)/.exec(sql) ?? []
  return row.sql === sql && row.type === type.toLowerCase() && row.table === table
}
