/**
 * A ledger in SQLite, opened for writing: the file, its index, its keys. Synchronous: runs in the caller's
 * thread, or in the one that commits for it. Opening after a crash is opening.
 */
import { accessSync, closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Fault, FaultError, fault, faultError, invariant } from '../../base/index.ts'
import { type FactDraft, isKeyName } from '../../ledger/index.ts'
import {
  checkFilesystem,
  errnoOf,
  type FilesystemType,
  syncDirectory,
} from '../../machine/index.ts'
import { failureOf, openDatabase, openToRead, takeTurn } from '../database/sqlite-connection.ts'
import type { Database } from '../database/sqlite-driver.ts'
import {
  APPLICATION_ID,
  createSchema,
  isKnownVersion,
  SCHEMA_VERSION,
  schemaDifferences,
  upgradeSchema,
  versionOf,
} from '../database/sqlite-schema.ts'
import { type KeyRing, keyFromSeed, newSeed, ringOf } from '../keys/ed25519.ts'
import { FactIds } from '../streams/stream-start.ts'
import { newStream, sealNext, signEnd, stateOf } from '../streams/stream-state.ts'
import { FactIndex } from './fact-index.ts'
import { type AppendCall, type AppendOutcome, LedgerFile, type OnStep } from './ledger-file.ts'

export interface EngineOptions {
  readonly file: string
  readonly keys: KeyRing
  readonly nowMs?: () => number
  readonly onStep?: OnStep
  readonly waitMsMax?: number
  readonly filesystemType?: FilesystemType
}

const WARM_UP_STREAM = 'nowhere'

export function indexFileOf(file: string): string {
  return `${file.replace(/\.db$/, '')}-index.db`
}

/** Twice the usual: going over the facts takes a quarter less, and a commit writes little more. */
const PAGE_BYTES = 8192

/** Makes an empty ledger of that name; refuses when something is there. */
export function createLedgerFile(
  file: string,
  name: string,
  filesystemType?: FilesystemType,
): void {
  invariant(isKeyName(name), 'the name of a ledger is a key name')
  const refused = checkFilesystem(dirname(file), filesystemType)
  if (refused !== null) throw new FaultError(refused)
  try {
    reserve(file)
    const database = openDatabase({
      file,
      mode: 'write',
      synchronous: 'FULL',
      pageBytes: PAGE_BYTES,
    })
    try {
      database.exec('BEGIN IMMEDIATE')
      createSchema(database)
      database.prepare('INSERT INTO ledger (one, name) VALUES (1, ?)').run(name)
      database.exec('COMMIT')
    } finally {
      database.close()
    }
    syncDirectory(dirname(file))
  } catch (error) {
    throw failureOf(error, file)
  }
}

/** An empty file that only its owner can read: SQLite keeps the mode for what it adds. */
function reserve(file: string): void {
  try {
    const { O_CREAT, O_EXCL, O_WRONLY } = constants
    closeSync(openSync(file, O_CREAT | O_EXCL | O_WRONLY, 0o600))
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    throw faultError('ledger.exists', file)
  }
}

/** Opens the file of a ledger; a file that is none, or of another version, is refused. */
export function openLedgerDatabase(
  file: string,
  mode: 'write' | 'read',
  filesystemType?: FilesystemType,
): Database {
  try {
    const refused = checkFilesystem(dirname(file), filesystemType)
    if (refused !== null) throw new FaultError(refused)
    const database =
      mode === 'read' ? openToRead(file) : openDatabase({ file, mode, synchronous: 'FULL' })
    try {
      takeTurn(() => checkFormat(database, file, mode))
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw missingOr(failureOf(error, file), file)
  }
}

function checkFormat(database: Database, file: string, mode: 'write' | 'read'): void {
  // Both fields of the file's header are integers.
  const number = (pragma: string): number => database.pragma(pragma, { simple: true }) as number
  if (number('application_id') !== APPLICATION_ID) {
    throw faultError('ledger.missing', file, 'the file is not a ledger')
  }
  const found = versionOf(database)
  if (!isKnownVersion(found)) {
    throw new FaultError(fault('ledger.version', file, { found, known: SCHEMA_VERSION }))
  }
  // Readers may look at a tampered file, and verification has to.
  const [name] = mode === 'write' ? schemaDifferences(database) : []
  if (name !== undefined) {
    throw faultError(
      'ledger.tampered',
      file,
      `the guard or table \`${name}\` is missing or changed`,
    )
  }
  if (mode === 'write' && found < SCHEMA_VERSION) upgradeSchema(database)
}

function missingOr(failed: unknown, file: string): unknown {
  // `failureOf` keeps the error of SQLite or of the system as the cause; its `code` may be anything.
  const cause =
    failed instanceof Error ? (failed.cause as { code?: unknown } | undefined) : undefined
  const absent = cause?.code === 'SQLITE_CANTOPEN' || cause?.code === 'ENOENT'
  if (!absent) return failed
  return new FaultError(deniedFault(file) ?? fault('ledger.missing', file, null), {
    cause: failed,
  })
}

/** A file that is there and may not be opened, or lies where this user may not look; else null. */
function deniedFault(file: string): Fault | null {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // What the filesystem throws.
    if (code !== 'EACCES' && code !== 'EPERM') return null
    const reason = `${code}: permission denied`
    const message = `this user may not read and write the file of the ledger: ${file} (${reason})`
    const hint = `look at its owner and mode with \`ls -l ${file}\`; if it is yours: \`chmod 600 ${file}\``
    return fault('ledger.unreachable', file, { reason }, { message, hint })
  }
  return null
}

/** Facts that the index takes over at once: some milliseconds of work. */
const INDEX_CHUNK = 1_000
/** A tail longer than this is indexed even when there is no quiet moment. */
const TAIL_MAX = 50_000
/** How much of the index is brought on at the end: a tenth of a second at most. */
const CLOSING_STRETCHES = 5
/** To read a tail of so many facts takes less than to write an index of them. */
const TAIL_LEFT = 50

export class Engine {
  readonly #file: string
  readonly #database: Database
  readonly #ledger: LedgerFile
  readonly #index: FactIndex
  /** Streams that have facts behind the index, with the size they have. */
  readonly #behind = new Map<number, { size: number; mark: number }>()

  constructor({ file, filesystemType, ...options }: EngineOptions) {
    this.#file = file
    this.#database = openLedgerDatabase(file, 'write', filesystemType)
    try {
      this.#index = new FactIndex(indexFileOf(file), this.#database)
      this.#ledger = new LedgerFile({
        ...options,
        database: this.#database,
        file,
        onGrown: (stream, size) => this.#noteGrown(stream, size),
        meanwhile: warmUp,
      })
    } catch (error) {
      this.#database.close()
      throw failureOf(error, file)
    }
  }

  commit(calls: readonly AppendCall[]): readonly AppendOutcome[] {
    return this.#ledger.commit(calls)
  }

  /**
   * Indexes the next stretch of facts; returns false when none is left. Facts that were altered
   * meanwhile cannot be indexed: throws that failure of the ledger once, and indexes no further.
   */
  followUp(): boolean {
    try {
      return this.#followUp()
    } catch (error) {
      this.#behind.clear()
      throw failureOf(error, this.#file)
    }
  }

  #followUp(): boolean {
    for (const [stream, { size }] of this.#behind) {
      const mark = this.#index.follow(stream, size, INDEX_CHUNK)
      if (mark >= size) this.#behind.delete(stream)
      else this.#behind.set(stream, { size, mark })
      return mark > 0 && this.#behind.size > 0
    }
    return false
  }

  /** The tail has become so long that appends have to wait for the index. */
  get isFarBehind(): boolean {
    for (const { size, mark } of this.#behind.values()) if (size - mark > TAIL_MAX) return true
    return false
  }

  /** What a store in the same thread reads through. */
  get reading(): { readonly database: Database; readonly index: FactIndex } {
    return { database: this.#database, index: this.#index }
  }

  /** Indexes what is left of the tail, but at most `CLOSING_STRETCHES` stretches, and closes. */
  close(): void {
    try {
      this.#leaveShort()
      for (let stretch = 0; stretch < CLOSING_STRETCHES && this.followUp(); stretch++);
    } finally {
      this.#ledger.close()
      this.#index.close()
      this.#database.close()
    }
  }

  /** Leaves short tails unindexed, but reads them: throws if their facts were altered. */
  #leaveShort(): void {
    for (const [stream, { size, mark }] of this.#behind) {
      if (mark === 0 || size - mark > TAIL_LEFT) continue
      this.#behind.delete(stream)
      try {
        this.#index.look(stream, mark, size)
      } catch (error) {
        throw failureOf(error, this.#file)
      }
    }
  }

  #noteGrown(stream: number, size: number): void {
    const mark = this.#behind.get(stream)?.mark ?? this.#index.markOf(stream)
    this.#behind.set(stream, { size, mark })
  }
}

const DRAFT: FactDraft = {
  stream: WARM_UP_STREAM,
  idempotencyKey: null,
  middle: '"principal":null,"record":null',
  tail: `"source":"","stream":"${WARM_UP_STREAM}"`,
  expectedSize: null,
}

/**
 * Warms a writer up: the first append of a process takes five times as long as the next one, because no
 * code has run yet. All other writers would wait for that under the ledger's lock. So a writer that has
 * to wait for its turn appends once to a stream that is stored nowhere. A writer that does not have to
 * wait delays no other writer and skips it.
 *
 * With a key of its own, which signs nothing else.
 */
function warmUp(): void {
  const key = keyFromSeed(newSeed())
  const state = newStream(0, WARM_UP_STREAM, WARM_UP_STREAM, key)
  const { text, chain } = sealNext(state, DRAFT, 0, new FactIds())
  const tiles = state.growth.takeChanges()
  const { note } = signEnd(state, undefined)
  const end = { id: 0, name: WARM_UP_STREAM, origin: WARM_UP_STREAM, size: 1, tiles }
  stateOf({ ...end, head: { size: 1, note }, last: { fact: text, chain } }, ringOf(key), false)
}
