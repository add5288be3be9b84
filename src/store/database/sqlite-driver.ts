/**
 * Connects to SQLite: to the one inside Node (`node:sqlite`, Node 22.16 or newer), else to
 * better-sqlite3, whose compiled part an install may lack. Only this file knows which of them it is.
 *
 * Of better-sqlite3 the compiled library is used, without the package's own scripts: loading those 13
 * files takes longer than opening a ledger. The version is pinned, because what the library offers its
 * scripts is not documented. Its statements have the interface below and are handed out as they are.
 *
 * Errors carry SQLite's name for what happened in `code`, such as SQLITE_BUSY.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FaultError, fault } from '../../base/index.ts'

/**
 * A prepared statement. `Row` is what its SQL selects: the caller of `prepare` names it, and STRICT
 * tables keep it true. Integers are numbers, and bytes are a Uint8Array.
 */
export interface Statement<Row = unknown> {
  run(...values: readonly unknown[]): { readonly changes: number | bigint }
  /** Returns the first row; undefined when there is none. */
  get(...values: readonly unknown[]): Row | undefined
  all(...values: readonly unknown[]): Row[]
  iterate(...values: readonly unknown[]): IterableIterator<Row>
  /** Makes a row its first column. */
  pluck(): Statement<Row>
  /** Makes a row an array. */
  raw(): Statement<Row>
}

export interface Database {
  readonly inTransaction: boolean
  prepare<Row = unknown>(sql: string): Statement<Row>
  exec(sql: string): unknown
  /** Returns the first value of the first row where `simple` asks for it. */
  pragma(text: string, options?: { readonly simple: true }): unknown
  close(): unknown
}

/** Only `create` makes a file that is not there. */
export type Mode = 'create' | 'write' | 'read'

/** Opens a file. A connection never waits for a lock by itself. */
export function connect(file: string, mode: Mode): Database {
  builtIn ??= loadBuiltIn()
  if (builtIn !== false) return new BuiltInDatabase(builtIn, file, mode)
  compiled ??= loadCompiled()
  return new CompiledDatabase(compiled, file, mode)
}

/**
 * Returns whether texts end at a zero byte when they are read, as in all of Node 22: what a file holds
 * behind one is then seen by SQL alone.
 */
export function cutsTexts(database: Database): boolean {
  return database.prepare(`SELECT CAST(x'410042' AS TEXT)`).pluck().get() !== 'A\0B'
}

/** Returns SQLite's name for what happened; null for errors of others. */
export function sqliteCode(error: unknown): string | null {
  // Any property may be missing, and `code` may be anything.
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : null
}

export class SqliteError extends Error {
  readonly code: string

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The part of `node:sqlite` that is used; the types of Node 20 do not have it. */
interface BuiltIn {
  readonly DatabaseSync: new (
    file: string,
    options: { readonly readOnly: boolean; readonly timeout: number },
  ) => NodeDatabase
  readonly StatementSync: { readonly prototype: object }
}

interface NodeDatabase {
  readonly isTransaction: boolean
  prepare(sql: string): NodeStatement
  exec(sql: string): void
  close(): void
}

interface NodeStatement {
  run(...values: readonly unknown[]): { readonly changes: number | bigint }
  get(...values: readonly unknown[]): unknown
  all(...values: readonly unknown[]): unknown[]
  iterate(...values: readonly unknown[]): IterableIterator<unknown>
  setReturnArrays(isArray: boolean): void
}

let builtIn: BuiltIn | false | undefined
let compiled: Compiled | undefined

/** Returns false where Node has none, or one that is too old. Node 22 warns that its may change. */
function loadBuiltIn(): BuiltIn | false {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    // Undefined where there is no such module.
    const found = process.getBuiltinModule('node:sqlite') as BuiltIn | undefined
    return found !== undefined && 'setReturnArrays' in found.StatementSync.prototype ? found : false
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The part of better-sqlite3's library that is used. */
interface Compiled {
  readonly Database: new (
    file: string,
    givenFile: string,
    isAnonymous: boolean,
    isReadOnly: boolean,
    mustExist: boolean,
    timeoutMs: number,
    log: null,
    content: null,
  ) => CompiledConnection
  setErrorConstructor(errorClass: typeof SqliteError): void
}

interface CompiledConnection {
  readonly inTransaction: boolean
  prepare<Row>(sql: string, owner: object, isPragma: boolean): Statement<Row>
  exec(sql: string): void
  close(): void
}

const LIBRARY = 'better-sqlite3/build/Release/better_sqlite3.node'

/** Fails if the package is not installed, or was not compiled for this Node. */
function loadCompiled(): Compiled {
  try {
    // The library exports its class of connections.
    const library = createRequire(import.meta.url)(LIBRARY) as Compiled
    library.setErrorConstructor(SqliteError)
    return library
  } catch (error) {
    throw new FaultError(withoutSqlite(), { cause: error })
  }
}

function withoutSqlite() {
  const message = `Node.js ${process.versions.node} has no SQLite that writ can use, and the package better-sqlite3 is not installed or was not compiled for it`
  const hint = `use Node.js 22.16 or newer; or install a C++ compiler, make and Python and run \`node ${installer()}\``
  return fault('ledger.no_sqlite', '', null, { message, hint })
}

/** Returns the path of the program that compiles better-sqlite3, in the `bin` folder of the package. */
function installer(): string {
  const program = join('bin', 'install-sqlite.cjs')
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, program)) || dirname(folder) === folder)
      return join(folder, program)
  }
}

class CompiledDatabase implements Database {
  readonly #connection: CompiledConnection

  constructor({ Database }: Compiled, file: string, mode: Mode) {
    const [isReadOnly, mustExist] = [mode === 'read', mode !== 'create']
    this.#connection = new Database(file, file, false, isReadOnly, mustExist, 0, null, null)
  }

  get inTransaction(): boolean {
    return this.#connection.inTransaction
  }

  prepare<Row>(sql: string): Statement<Row> {
    return this.#connection.prepare(sql, this, false)
  }

  exec(sql: string): void {
    this.#connection.exec(sql)
  }

  pragma(text: string): unknown {
    return this.#connection.prepare(`PRAGMA ${text}`, this, true).pluck().get()
  }

  close(): void {
    this.#connection.close()
  }
}

class BuiltInDatabase implements Database {
  readonly #database: NodeDatabase

  constructor({ DatabaseSync }: BuiltIn, file: string, mode: Mode) {
    // Only an address can say that the file has to exist.
    const place = mode === 'write' ? `${pathToFileURL(file).href}?mode=rw` : file
    this.#database = named(() => new DatabaseSync(place, { readOnly: mode === 'read', timeout: 0 }))
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  prepare<Row>(sql: string): Statement<Row> {
    return new BuiltInStatement(named(() => this.#database.prepare(sql)))
  }

  exec(sql: string): void {
    named(() => this.#database.exec(sql))
  }

  pragma(text: string): unknown {
    return this.prepare(`PRAGMA ${text}`).pluck().get()
  }

  close(): void {
    named(() => this.#database.close())
  }
}

class BuiltInStatement<Row> implements Statement<Row> {
  readonly #statement: NodeStatement
  #isPlucked = false

  constructor(statement: NodeStatement) {
    this.#statement = statement
  }

  run(...values: readonly unknown[]): { readonly changes: number | bigint } {
    return named(() => this.#statement.run(...values))
  }

  get(...values: readonly unknown[]): Row | undefined {
    const row = named(() => this.#statement.get(...values))
    return row === undefined ? row : this.#shape(row)
  }

  all(...values: readonly unknown[]): Row[] {
    return named(() => this.#statement.all(...values)).map((row) => this.#shape(row))
  }

  *iterate(...values: readonly unknown[]): IterableIterator<Row> {
    const rows = named(() => this.#statement.iterate(...values))
    try {
      for (;;) {
        const next = named(() => rows.next())
        if (next.done === true) return
        yield this.#shape(next.value)
      }
    } finally {
      rows.return?.()
    }
  }

  pluck(): Statement<Row> {
    this.#isPlucked = true
    return this.raw()
  }

  raw(): Statement<Row> {
    this.#statement.setReturnArrays(true)
    return this
  }

  #shape(row: unknown): Row {
    // A plucked statement returns arrays; the type of a row is the word of the caller of `prepare`.
    return (this.#isPlucked ? (row as readonly unknown[])[0] : row) as Row
  }
}

/** SQLite's result codes, by number; 0 is no error. */
const NAMES = [
  ...['OK', 'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY'],
  ...['INTERRUPT', 'IOERR', 'CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY'],
  ...['SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH', 'MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE'],
  'NOTADB',
]
const CONSTRAINT_TRIGGER = 1811

/** Does some work of SQLite's; its errors are thrown with a name. */
function named<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    // Node's own errors have the first two; any other error has neither.
    const { code, errcode, message } = error as { code?: string; errcode?: number; message: string }
    // writ writes no integer that is not exact as a number.
    if (code === 'ERR_OUT_OF_RANGE') throw new SqliteError(message, 'SQLITE_CORRUPT')
    if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) throw error
    throw new SqliteError(message, nameOf(errcode), { cause: error })
  }
}

/** The second byte tells more about a code; only one such name is asked for. */
function nameOf(errcode: number): string {
  if (errcode === CONSTRAINT_TRIGGER) return 'SQLITE_CONSTRAINT_TRIGGER'
  const name = `SQLITE_${NAMES[errcode & 0xff] ?? 'ERROR'}`
  return errcode > 0xff ? `${name}_${errcode >> 8}` : name
}
