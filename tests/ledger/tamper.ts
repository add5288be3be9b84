/**
 * A corpus of manipulations of a ledger's state directory, seeded and without end: the same seed and
 * number give the same manipulation. Over 500 lines on purpose: the corpus is one list.
 *
 * What counts: two files are the same ledger when every row of every table, read in order and by key,
 * every row of `sqlite_schema`, the encoding, `user_version` and `application_id` are equal. SQLite
 * keeps bytes that mean nothing (free pages, unused space, counters in its header); a flip there that
 * leaves all of this equal is no manipulation, and the next byte is tried. Bodies that no fact names
 * mean nothing either.
 */
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Audit,
  chainNext,
  factLeaf,
  parseCheckpoint,
  parseNote,
  signCheckpoint,
} from '../../src/ledger/index.ts'
import { connect, type Database } from '../../src/store/database/sqlite-driver.ts'
import { keyFromSeed, openKeys, publicKeyOf, signerFor } from '../../src/store/index.ts'
import { copyState, type Fixture, objectFiles, ownObjects, STREAMS } from './tamper-ledger.ts'
import { NAME } from './test-ledger.ts'

export interface Manipulation {
  readonly name: string
  /**
   * `found`: must be found by verification alone. `anchor`: consistent in itself, so that only an
   * anchor finds it, and without one the report must not claim to be anchored.
   */
  readonly expect: 'found' | 'anchor'
}

/** Numbers from a seed (mulberry32). */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}

const TABLES: Readonly<Record<string, readonly string[]>> = {
  ledger: ['one', 'name'],
  streams: ['stream', 'name', 'origin'],
  facts: ['place', 'fact', 'chain'],
  tiles: ['place', 'hashes', 'nodes'],
  heads: ['stream', 'size', 'note'],
  checkpoints: ['place', 'note'],
}

/** Makes the manipulation of that number on a copy; null when chance found nothing to change. */
type Maker = (chance: Chance, directory: string, fixture: Fixture) => string | null

const MAKERS: readonly { weight: number; expect: Manipulation['expect']; make: Maker }[] = [
  { weight: 30, expect: 'found', make: flipColumn },
  { weight: 8, expect: 'found', make: dropRow },
  { weight: 6, expect: 'found', make: insertRow },
  { weight: 6, expect: 'found', make: replaceRow },
  { weight: 6, expect: 'found', make: swapRows },
  { weight: 5, expect: 'found', make: truncateStream },
  { weight: 6, expect: 'found', make: forgeCheckpoint },
  { weight: 6, expect: 'found', make: changeSchema },
  { weight: 5, expect: 'found', make: changeStreams },
  { weight: 8, expect: 'found', make: changeObject },
  { weight: 5, expect: 'found', make: rewriteWithoutKey },
  { weight: 12, expect: 'found', make: flipFileByte },
  { weight: 2, expect: 'found', make: truncateFile },
  { weight: 2, expect: 'anchor', make: replayOldFile },
  { weight: 2, expect: 'anchor', make: rewriteWithStolenKey },
]
const WEIGHTS = MAKERS.flatMap((maker) => Array.from({ length: maker.weight }, () => maker))

/** Makes the manipulation of that seed on a fresh copy; the first turns make every kind once. */
export function manipulate(
  seed: number,
  turn: number,
  directory: string,
  fixture: Fixture,
): Manipulation {
  const chance = new Chance(seed)
  // The first numbers of neighbouring seeds are alike.
  for (let round = 0; round < 8; round++) chance.below(2)
  for (let wanted = MAKERS[turn]; ; wanted = undefined) {
    const { make, expect } = wanted ?? chance.of(WEIGHTS)
    copyState(fixture.directory, directory)
    const said = make(chance, directory, fixture)
    if (said !== null) return { name: `${make.name}: ${said}`, expect }
  }
}

/** Works on the file around the API: every trigger is away while it lasts, and back afterwards. */
function around<T>(directory: string, work: (database: Database) => T): T {
  const database = connect(join(directory, 'ledger.db'), 'write')
  try {
    const triggers = database
      .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      .all() as { name: string; sql: string }[]
    database.pragma('ignore_check_constraints = ON')
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
    const result = work(database)
    for (const { sql } of triggers) database.exec(sql)
    database.pragma('wal_checkpoint(TRUNCATE)')
    return result
  } finally {
    database.close()
  }
}

type Row = Record<string, unknown>

/** A row of a table by chance, with its rowid. */
function pick(database: Database, table: string, chance: Chance): Row | null {
  const count = database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
  if (count === 0) return null
  return database
    .prepare(`SELECT rowid AS id, * FROM ${table} LIMIT 1 OFFSET ?`)
    .get(chance.below(count)) as Row
}

function flipColumn(chance: Chance, directory: string): string | null {
  const table = chance.of(Object.keys(TABLES))
  const column = chance.of(TABLES[table] ?? [])
  return around(directory, (database) => {
    const row = pick(database, table, chance)
    if (row === null) return null
    const value = row[column]
    const place = `${table}.${column} of ${row['id']}`
    if (typeof value === 'number') {
      const bit = 2 ** chance.below(36)
      const changed = Math.floor(value / bit) % 2 === 1 ? value - bit : value + bit
      return update(database, table, column, row['id'], changed) ? `${place} bit ${bit}` : null
    }
    const bytes = Buffer.from(value as string | Buffer)
    if (bytes.length === 0) return null
    const at = chance.below(bytes.length)
    bytes[at] = (bytes[at] as number) ^ (1 << chance.below(8))
    const isText = typeof value === 'string'
    return update(database, table, column, row['id'], bytes, isText) ? `${place} byte ${at}` : null
  })
}

/** False when the table itself refuses: such as two streams of one name. */
function update(
  database: Database,
  table: string,
  column: string,
  id: unknown,
  value: unknown,
  isText = false,
): boolean {
  const set = isText ? 'CAST(? AS TEXT)' : '?'
  try {
    const bound = typeof value === 'number' ? BigInt(value) : value
    database.prepare(`UPDATE ${table} SET ${column} = ${set} WHERE rowid = ?`).run(bound, id)
    return true
  } catch {
    return false
  }
}

function dropRow(chance: Chance, directory: string): string | null {
  const table = chance.of(Object.keys(TABLES))
  return around(directory, (database) => {
    const row = pick(database, table, chance)
    if (row === null) return null
    database.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(row['id'])
    return `${table} ${row['id']}`
  })
}

function insertRow(chance: Chance, directory: string): string | null {
  const table = chance.of(Object.keys(TABLES))
  const [key = '', ...columns] = TABLES[table] ?? []
  return around(directory, (database) => {
    const row = pick(database, table, chance)
    if (row === null) return null
    const offset = chance.of([1, 2, 3, 500, 2 ** 28, 2 ** 32, -1, -(2 ** 33)])
    const id = Number(row['id']) + offset
    const values = columns.map((column) =>
      table === 'streams' && column === 'name' ? `s-${chance.below(1000)}` : row[column],
    )
    try {
      database
        .prepare(
          `INSERT INTO ${table} (${[key, ...columns].join()}) VALUES (?${', ?'.repeat(columns.length)})`,
        )
        .run(
          BigInt(id),
          ...values.map((value) => (typeof value === 'number' ? BigInt(value) : value)),
        )
    } catch {
      return null
    }
    return `${table} ${row['id']} again as ${id}`
  })
}

function replaceRow(chance: Chance, directory: string): string | null {
  return exchange(chance, directory, false)
}

function swapRows(chance: Chance, directory: string): string | null {
  return exchange(chance, directory, true)
}

/** Puts the contents of one row into another, or exchanges them. */
function exchange(chance: Chance, directory: string, both: boolean): string | null {
  const table = chance.of(['facts', 'tiles', 'heads', 'checkpoints'])
  const columns = (TABLES[table] ?? []).slice(1)
  const chosen = chance.below(2) === 0 ? columns : [chance.of(columns)]
  return around(directory, (database) => {
    const [one, other] = [pick(database, table, chance), pick(database, table, chance)]
    if (one === null || other === null || one['id'] === other['id']) return null
    const same = (column: string) =>
      Buffer.from(String(one[column])).equals(Buffer.from(String(other[column])))
    if (chosen.every(same)) return null
    for (const column of chosen) {
      update(database, table, column, one['id'], other[column])
      if (both) update(database, table, column, other['id'], one[column])
    }
    return `${table} ${one['id']} and ${other['id']} (${chosen.join()})`
  })
}

interface StreamRow {
  readonly stream: number
  readonly name: string
  readonly size: number
}

function streamsOf(database: Database): readonly StreamRow[] {
  return database
    .prepare('SELECT stream, name, size FROM streams JOIN heads USING (stream) ORDER BY stream')
    .all() as StreamRow[]
}

/** Cuts facts off the end, and sometimes the tiles and the count of the head to match. */
function truncateStream(chance: Chance, directory: string): string | null {
  return around(directory, (database) => {
    const { stream, name, size } = chance.of(streamsOf(database))
    const kept = chance.below(size)
    const depth = chance.below(3)
    database
      .prepare('DELETE FROM facts WHERE place >= (? << 32) + ? AND place < (? + 1) << 32')
      .run(stream, kept, stream)
    if (depth > 0) rebuildTiles(database, stream)
    if (depth > 1) database.prepare('UPDATE heads SET size = ? WHERE stream = ?').run(kept, stream)
    return `${name} to ${kept}, depth ${depth}`
  })
}

/** Chain and tiles computed again from the facts, as a forger would; tells the root. */
function rebuildTiles(database: Database, stream: number): { size: number; root: Uint8Array } {
  const audit = new Audit()
  const range = 'WHERE place >= ? << 32 AND place < (? + 1) << 32'
  const rows = database
    .prepare(`SELECT place, CAST(fact AS BLOB) AS fact FROM facts ${range} ORDER BY place`)
    .all(stream, stream) as { place: number; fact: Buffer }[]
  let chain: Uint8Array = new Uint8Array(32)
  for (const { place, fact } of rows) {
    chain = chainNext(chain, factLeaf(fact))
    audit.take(fact, chain)
    database.prepare('UPDATE facts SET chain = ? WHERE place = ?').run(chain, place)
  }
  database.prepare(`DELETE FROM tiles ${range}`).run(stream, stream)
  for (const { level, index, hashes, inner } of audit.takeTiles()) {
    const place = BigInt(stream) * 2n ** 32n + BigInt(level) * 2n ** 28n + BigInt(index)
    database.prepare('INSERT OR REPLACE INTO tiles VALUES (?, ?, ?)').run(place, hashes, inner)
  }
  return { size: audit.size, root: audit.root() }
}

function forgeCheckpoint(chance: Chance, directory: string): string | null {
  const thief = keyFromSeed(new Uint8Array(32).fill(chance.below(256)))
  const known = openKeys(join(directory, 'keys'))
  return around(directory, (database) => {
    const table = chance.of(['heads', 'checkpoints'])
    const row = pick(database, table, chance)
    const note = String(row?.['note'])
    const parsed = parseNote(note)
    const checkpoint = parseCheckpoint(parsed?.text ?? '')
    if (row === null || parsed === null || checkpoint === null) return null
    const { origin, size, root } = checkpoint
    const [first] = parsed.signatures
    const kind = chance.of([
      'strange key',
      'retired key',
      'other root',
      'less signers',
      'more',
    ] as const)
    const oldest = known.find(origin, oldestKeyId(database, origin))
    const changed = {
      'strange key': () => signCheckpoint(origin, size, root, [signerFor(thief, origin)]),
      'retired key': () =>
        oldest === null ? note : signCheckpoint(origin, size, root, [signerFor(oldest, origin)]),
      'other root': () =>
        signCheckpoint(
          origin,
          size,
          root.map((byte) => byte ^ 1),
          [signerFor(thief, origin)],
        ),
      'less signers': () => note.split('\n').slice(0, -2).join('\n').concat('\n'),
      more: () =>
        `${note}\u2014 ${first?.name} ${Buffer.alloc(68, chance.below(256)).toString('base64')}\n`,
    }[kind]()
    if (changed === note) return null
    database.prepare(`UPDATE ${table} SET note = ? WHERE rowid = ?`).run(changed, row['id'])
    return `${table} ${row['id']}: ${kind}`
  })
}

function oldestKeyId(database: Database, origin: string): number {
  const fact = database.prepare(
    `SELECT fact FROM facts WHERE instr(fact, '"old_key":null') LIMIT 1`,
  )
  const { record } = JSON.parse(String(fact.pluck().get()))
  const encoded = String(record.payload.new_key).split('+').slice(2).join('+')
  const key = Buffer.from(encoded, 'base64').subarray(1)
  const made = publicKeyOf({ seed: key, publicKey: key, sign: () => key }, origin)
  return made.keyId
}

function changeSchema(chance: Chance, directory: string): string | null {
  const database = connect(join(directory, 'ledger.db'), 'write')
  try {
    const names = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`)
      .pluck()
      .all() as string[]
    const name = chance.of(names)
    const sql = String(
      database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name),
    )
    const table = chance.of(Object.keys(TABLES))
    const change = chance.of([
      [`DROP TRIGGER ${name}`],
      [`DROP TRIGGER ${name}`, sql.replace(/ WHEN .* BEGIN/s, ' WHEN false BEGIN')],
      [`DROP TRIGGER ${name}`, sql.replace('ABORT', 'FAIL')],
      [`DROP TRIGGER ${name}`, sql.replace('BEFORE', 'AFTER')],
      ['DROP VIEW history'],
      [`CREATE INDEX more ON ${table} (rowid)`.replace('rowid', TABLES[table]?.[1] ?? '')],
      [`CREATE TABLE more (a)`],
      [`CREATE TRIGGER more AFTER INSERT ON ${table} BEGIN SELECT 1; END`],
      [`CREATE TRIGGER sqlitemore AFTER INSERT ON ${table} BEGIN SELECT 1; END`],
      [`PRAGMA user_version = ${2 + chance.below(9)}`],
      [`PRAGMA application_id = ${chance.below(999)}`],
      ['ANALYZE'],
      [`ALTER TABLE ${table} ADD COLUMN more`.concat(' TEXT')],
    ])
    for (const one of change) database.exec(one)
    database.pragma('wal_checkpoint(TRUNCATE)')
    return change.join('; ').slice(0, 120)
  } finally {
    database.close()
  }
}

/** Whole streams: taken out, slipped in, renamed, renumbered. */
function changeStreams(chance: Chance, directory: string): string | null {
  return around(directory, (database) => {
    const { stream, name } = chance.of(streamsOf(database))
    const kind = chance.of(['remove', 'rename', 'renumber', 'empty', 'clone'])
    const places = ['facts', 'tiles', 'checkpoints']
    const range = 'place >= (? << 32) AND place < ((? + 1) << 32)'
    if (kind === 'remove') {
      for (const table of places)
        database.prepare(`DELETE FROM ${table} WHERE ${range}`).run(stream, stream)
      for (const table of ['heads', 'streams'])
        database.prepare(`DELETE FROM ${table} WHERE stream = ?`).run(stream)
    } else if (kind === 'rename') {
      database
        .prepare('UPDATE streams SET name = ?, origin = ? WHERE stream = ?')
        .run('other', `${NAME}/other`, stream)
    } else if (kind === 'renumber') {
      for (const table of places) {
        database
          .prepare(`UPDATE ${table} SET place = place + (50 << 32) WHERE ${range}`)
          .run(stream, stream)
      }
      for (const table of ['heads', 'streams']) {
        database.prepare(`UPDATE ${table} SET stream = stream + 50 WHERE stream = ?`).run(stream)
      }
    } else if (kind === 'empty') {
      database.prepare('INSERT INTO streams VALUES (?, ?, ?)').run(9n, 'nine', `${NAME}/nine`)
    } else {
      database.prepare('INSERT INTO streams VALUES (4, ?, ?)').run('copy', `${NAME}/copy`)
      for (const table of places) {
        database.exec(
          `INSERT INTO ${table} SELECT (place & 0xffffffff) + (4 << 32), ${(TABLES[table] ?? []).slice(1).join()} FROM ${table} WHERE place >> 32 = ${stream}`,
        )
      }
      database.exec(`INSERT INTO heads SELECT 4, size, note FROM heads WHERE stream = ${stream}`)
    }
    return `${kind} ${name}`
  })
}

function changeObject(chance: Chance, directory: string): string | null {
  ownObjects(directory)
  const files = objectFiles(directory)
  const file = chance.of(files)
  const bytes = readFileSync(file)
  const kind = chance.of(['flip', 'remove', 'cut', 'other', 'longer'])
  if (kind === 'remove') rmSync(file)
  else if (kind === 'cut') truncateSync(file, chance.below(bytes.length))
  else if (kind === 'longer') writeFileSync(file, Buffer.concat([bytes, Buffer.of(0)]))
  else if (kind === 'flip') {
    const at = chance.below(bytes.length)
    bytes[at] = (bytes[at] as number) ^ (1 << chance.below(8))
    writeFileSync(file, bytes)
  } else {
    const other = chance.of(files)
    if (other === file) return null
    writeFileSync(file, readFileSync(other))
  }
  return `${kind} ${file.slice(directory.length)}`
}

/** Changes a fact and everything that can be computed without a key. */
function rewriteWithoutKey(chance: Chance, directory: string): string | null {
  return around(directory, (database) => {
    const { stream, name, size } = chance.of(streamsOf(database))
    const place = stream * 2 ** 32 + chance.below(size)
    const fact = String(
      database.prepare('SELECT fact FROM facts WHERE place = ?').pluck().get(place),
    )
    const changed = fact.replace(/"source":"test"/, '"source":"tent"')
    if (changed === fact) return null
    database.prepare('UPDATE facts SET fact = ? WHERE place = ?').run(changed, place)
    const { root } = rebuildTiles(database, stream)
    if (chance.below(2) === 0) return `${name} at ${place % 2 ** 32}`
    const note = String(
      database.prepare('SELECT note FROM heads WHERE stream = ?').pluck().get(stream),
    )
    const lines = note.split('\n')
    lines[2] = Buffer.from(root).toString('base64')
    database.prepare('UPDATE heads SET note = ? WHERE stream = ?').run(lines.join('\n'), stream)
    return `${name} at ${place % 2 ** 32}, with the root in the note`
  })
}

/** Flips a bit of the file where it means something. */
function flipFileByte(chance: Chance, directory: string, fixture: Fixture): string | null {
  const file = join(directory, 'ledger.db')
  const bytes = readFileSync(file)
  const honest = honestMeaning(fixture)
  for (let tries = 0; tries < 20; tries++) {
    const at = chance.below(4) === 0 ? chance.below(200) : chance.below(bytes.length)
    const bit = 1 << chance.below(8)
    const bent = Buffer.from(bytes)
    bent[at] = (bent[at] as number) ^ bit
    writeFileSync(file, bent)
    for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
    if (meaningOf(file) !== honest) return `byte ${at} bit ${bit}`
  }
  return null
}

function truncateFile(chance: Chance, directory: string, fixture: Fixture): string | null {
  const file = join(directory, 'ledger.db')
  const { length } = readFileSync(file)
  const kept = chance.below(2) === 0 ? chance.below(length) : 4096 * chance.below(length / 4096)
  truncateSync(file, kept)
  if (meaningOf(file) === honestMeaning(fixture)) return null
  return `to ${kept} of ${length}`
}

const HONEST = new WeakMap<Fixture, string>()

function honestMeaning(fixture: Fixture): string {
  const known = HONEST.get(fixture) ?? meaningOf(join(fixture.directory, 'ledger.db'))
  HONEST.set(fixture, known)
  return known
}

/** Everything that a file says, as one text; `unreadable` when it cannot be read to its end. */
function meaningOf(file: string): string {
  if (!existsSync(file)) return 'absent'
  try {
    const database = connect(file, 'read')
    try {
      const parts: unknown[] = ['encoding', 'user_version', 'application_id'].map((name) =>
        database.pragma(name, { simple: true }),
      )
      parts.push(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all())
      for (const [table, columns] of Object.entries(TABLES)) {
        const shown = columns.map((one) => `typeof(${one}), hex(${one})`).join()
        const rows = database
          .prepare(`SELECT rowid AS id, ${shown} FROM ${table} ORDER BY rowid`)
          .raw()
          .all() as unknown[][]
        parts.push(rows)
        const byKey = database.prepare(`SELECT ${shown} FROM ${table} WHERE rowid = ?`).raw()
        for (const row of rows) parts.push(byKey.get(row[0]) ?? 'not by key')
      }
      const byName = database.prepare('SELECT stream FROM streams WHERE name = ?').pluck()
      for (const name of STREAMS) parts.push(byName.get(name) ?? 'not by name')
      return JSON.stringify(parts)
    } finally {
      database.close()
    }
  } catch {
    return 'unreadable'
  }
}

function replayOldFile(_: Chance, directory: string, fixture: Fixture): string {
  copyState(fixture.old, directory)
  return 'an old copy of everything'
}

/** A new history under the same key: the last facts of a stream are other ones, well signed. */
function rewriteWithStolenKey(chance: Chance, directory: string): string | null {
  const keys = openKeys(join(directory, 'keys'))
  return around(directory, (database) => {
    for (const { stream, name } of streamsOf(database)) {
      const facts = database
        .prepare('SELECT place, fact FROM facts WHERE place >> 32 = ? AND instr(fact, ?) = 0')
        .all(stream, 'key_rotated_v1') as { place: number; fact: string }[]
      if (facts.length === 0) continue
      const { place, fact } = facts[chance.below(Math.max(1, facts.length - 5))] ?? {
        place: 0,
        fact: '',
      }
      const changed = fact.replace(/"source":"test"/, '"source":"tent"')
      database.prepare('UPDATE facts SET fact = ? WHERE place = ?').run(changed, place)
      rebuildTiles(database, stream)
      signAgain(database, stream, `${NAME}/${name}`, keys)
    }
    return 'every stream, with its key'
  })
}

/** Signs every checkpoint of a stream again, with the keys it was signed with. */
function signAgain(
  database: Database,
  stream: number,
  origin: string,
  keys: ReturnType<typeof openKeys>,
): void {
  const again = (note: string): string => {
    const parsed = parseNote(note)
    const size = parseCheckpoint(parsed?.text ?? '')?.size ?? 0
    const audit = new Audit()
    const facts = database
      .prepare('SELECT CAST(fact AS BLOB) FROM facts WHERE place >> 32 = ? ORDER BY place LIMIT ?')
      .pluck()
      .all(stream, size) as Buffer[]
    for (const fact of facts) audit.take(fact, fact)
    const signers = (parsed?.signatures ?? []).flatMap(({ keyId }) => {
      const key = keys.find(origin, keyId)
      return key === null ? [] : [signerFor(key, origin)]
    })
    return signCheckpoint(origin, size, audit.root(), signers)
  }
  for (const table of ['heads', 'checkpoints']) {
    const where = table === 'heads' ? 'stream = ?' : 'place >> 32 = ?'
    const rows = database
      .prepare(`SELECT rowid AS id, note FROM ${table} WHERE ${where}`)
      .all(stream) as { id: number; note: string }[]
    for (const { id, note } of rows) {
      database.prepare(`UPDATE ${table} SET note = ? WHERE rowid = ?`).run(again(note), id)
    }
  }
}
