/**
 * A connection to an SQLite file: how it is opened, how its errors become faults, and how one of many
 * writers takes its turn.
 *
 * SQLite's own busy timeout backs off until a slow process starves (two processes: one got a single
 * fact in 3 s), so it is off: a connection that finds the file busy tries again after 0.2 to 0.5 ms, at
 * random.
 * Appends take turns in a better order (writer-queue.ts).
 */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Fault, FaultError, fault } from '../../base/index.ts'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import { connect, type Database, type Mode, sqliteCode } from './sqlite-driver.ts'

interface OpenOptions {
  readonly file: string
  readonly mode: Mode
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Of a file that is still empty; the others keep what they have. */
  readonly pageBytes?: number
}

export function openDatabase({ file, mode, synchronous, pageBytes }: OpenOptions): Database {
  const database = connect(file, mode)
  try {
    if (pageBytes !== undefined) database.pragma(`page_size = ${pageBytes}`)
    if (mode !== 'read') {
      takeTurn(() => database.pragma('journal_mode = WAL'))
      // Fewer, larger copies back into the file; the log shrinks again once it was long.
      database.exec(
        `PRAGMA synchronous = ${synchronous};
        PRAGMA wal_autocheckpoint = 4000;
        PRAGMA journal_size_limit = 67108864`,
      )
    }
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA cache_size = -16000')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Opens a file for reading, also where the disk has no room for the file that connections share. SQLite
 * keeps in memory then what it would share, and others wait until this connection is closed.
 */
export function openToRead(file: string): Database {
  try {
    const database = openDatabase({ file, mode: 'read', synchronous: 'FULL' })
    return reading(database, 'PRAGMA application_id')
  } catch (error) {
    if (!isIoFailure(sqliteCode(error) ?? '') || !hasNoRoom(file)) throw error
    const alone = 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON; PRAGMA application_id'
    return reading(connect(file, 'write'), alone)
  }
}

/** Reads for the first time, which is when SQLite finds out what it lacks. */
function reading(database: Database, sql: string): Database {
  try {
    takeTurn(() => database.exec(sql))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export const WAIT_MS_MAX = 10_000
const PAUSE_MS_MIN = 0.2
const PAUSE_MS_SPREAD = 0.3
const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the thread: the commit has to be made before the caller can go on. */
function pause(): void {
  Atomics.wait(SLEEPER, 0, 0, PAUSE_MS_MIN + Math.random() * PAUSE_MS_SPREAD)
}

/** Does something that other writers may be in the way of; tells how long it waited. */
export function takeTurn(
  work: () => void,
  waitMsMax: number = WAIT_MS_MAX,
): { readonly waitedMs: number } {
  const started = SYSTEM_CLOCK.elapsedMs()
  for (;;) {
    try {
      work()
      return { waitedMs: SYSTEM_CLOCK.elapsedMs() - started }
    } catch (error) {
      if (!isBusy(error)) throw error
      const waitedMs = SYSTEM_CLOCK.elapsedMs() - started
      if (waitedMs > waitMsMax) {
        throw new FaultError(fault('ledger.busy', '', { waitedMs: Math.round(waitedMs) }), {
          cause: error,
        })
      }
      pause()
    }
  }
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(sqliteCode(error) ?? '')
}

/** Whether the file itself is damaged. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')
}

/** Whether the place cannot be written: a read-only file system, or no right to. */
export function isReadOnly(error: unknown): boolean {
  return /^(?:SQLITE_READONLY\w*|SQLITE_CANTOPEN\w*|SQLITE_PERM|SQLITE_IOERR_\w+|EROFS|EACCES|EPERM)$/.test(
    errorCode(error) ?? '',
  )
}

/** Whether there was no room to write. */
export function isFull(error: unknown): boolean {
  return /^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/.test(errorCode(error) ?? '')
}

/** The failure that an error of SQLite or the filesystem is. Bugs are not failures and pass through. */
export function failureOf(error: unknown, file: string): unknown {
  if (error instanceof FaultError) return error
  const code = errorCode(error)
  if (code === null) return error
  // `errorCode` finds a code only in an `Error`.
  return new FaultError(faultOf(code, file, error as Error), { cause: error })
}

function errorCode(error: unknown): string | null {
  const named = sqliteCode(error)
  if (named !== null) return named
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null
}

function faultOf(code: string, file: string, error: Error): Fault {
  const { message } = error
  const reason = `${code}: ${message}`
  if (isFull(error) || (isIoFailure(code) && hasNoRoom(file))) return diskFull(file)
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) {
    const says = `the file of the ledger is damaged: ${file} (${reason})`
    const hint = 'put a copy of the ledger back; nothing of this one was changed'
    return fault('ledger.corrupt', file, { reason }, { message: says, hint })
  }
  if (/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(code)) {
    return fault('ledger.busy', file, { waitedMs: 0 })
  }
  if (code === 'SQLITE_CONSTRAINT_TRIGGER') {
    return fault('ledger.tampered', file, null, { message: `the file refused a write: ${message}` })
  }
  return unreachable(code, file, reason)
}

/** Returns whether SQLite failed to make or grow one of its files; it does not say why. */
function isIoFailure(code: string): boolean {
  return /^SQLITE_(?:IOERR|CANTOPEN)/.test(code)
}

/** What SQLite's file for the index of its log takes, and a little more. */
const ROOM_BYTES_MIN = 64 * 1024

/** Whether the disk of a file is full, as the system says. */
function hasNoRoom(file: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dirname(file))
    return bavail * bsize < ROOM_BYTES_MIN || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

function diskFull(file: string): Fault {
  const directory = dirname(file)
  const message = `the disk that holds ${directory} is full; nothing was recorded`
  const hint = `make room there (df -h ${directory}; writ du shows what writ keeps), then run the command again`
  return fault('ledger.disk_full', file, null, { message, hint })
}

const CAUSES: readonly (readonly [pattern: RegExp, says: string])[] = [
  [/^EROFS$/, 'the file system is read-only (EROFS)'],
  [/^SQLITE_READONLY/, 'the file or its directory cannot be written (read-only)'],
  [/^(?:EACCES|EPERM|SQLITE_PERM)$/, 'this user has no right to it (EACCES)'],
  [/^SQLITE_CANTOPEN/, 'a file next to it cannot be created: no right, a read-only or a full disk'],
  [/^SQLITE_IOERR/, 'the disk failed, or is full'],
]

function unreachable(code: string, file: string, reason: string): Fault {
  const cause = CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? reason
  const message = `the ledger at ${file} could not be read or written: ${cause}`
  const hint = `look at it with: ls -ld ${dirname(file)}; df -h ${dirname(file)}`
  return fault('ledger.unreachable', file, { reason }, { message, hint })
}
