/**
 * The journal of one exchange: `<state>/journal/<id>.journal`, JSON Lines. Its first line, the intent,
 * is durable before the first change; each further line says that a stage is behind. The file has its
 * whole size from the beginning, so that no mark can fail for want of room.
 *
 * intent → applied → recorded, or intent → reverting → reverted. A journal that is there at all means
 * that the exchange is not ended; removing it ends it.
 */
import {
  closeSync,
  fdatasync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Digest, invariant, isUuid } from '../../base/index.ts'
import type { RawPath } from '../../gate/index.ts'
import { errnoOf, isAbsent, syncPath } from '../../machine/index.ts'
import { machineFailure } from '../entries/failure.ts'
import { AFTER_TIMES, type Exchange, type ExchangeKind, PLAN, planLines } from './exchange.ts'
import { SHARED_FILES } from './shared-directory.ts'

export type Mark = 'applied' | 'recorded' | 'reverting' | 'reverted'

interface Intent {
  readonly kind: ExchangeKind
  readonly id: string
  readonly workspace: RawPath
  /** The directory with the plan. */
  readonly keep: string
  readonly plan: Digest
}

export interface OpenJournal {
  readonly id: string
  /** Null when the intent never became durable: nothing was changed. */
  readonly intent: Intent | null
  readonly marks: readonly Mark[]
}

const SUFFIX = '.journal'
/** Files of exchanges that this process is carrying out. */
const UNDER_WAY = new Set<string>()
const SIZE = 16_384
const syncData = promisify(fdatasync)

export class Journal {
  readonly #file: string
  readonly #handle: number
  #at: number

  private constructor(directory: string, id: string, flags: string) {
    invariant(isUuid(id), 'a journal is named by a UUID')
    this.#file = join(directory, `${id}${SUFFIX}`)
    this.#handle = openSync(this.#file, flags, 0o600)
    this.#at = 0
    UNDER_WAY.add(this.#file)
  }

  /** Durable when it resolves; `onMade` is called when the file is there and still empty. */
  static async begin(state: string, intent: Intent, onMade: () => void): Promise<Journal> {
    const directory = join(state, 'journal')
    let journal: Journal | null = null
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      journal = new Journal(directory, intent.id, 'wx+')
      onMade()
      const line = `${JSON.stringify({ intent })}\n`
      writeSync(journal.#handle, line.padEnd(SIZE, '\n'), 0)
      await Promise.all([syncPath(journal.#file), syncPath(directory)])
      journal.#at = Buffer.byteLength(line)
      return journal
    } catch (error) {
      journal?.close()
      throw machineFailure(error, directory)
    }
  }

  static resume(state: string, id: string): Journal {
    const directory = join(state, 'journal')
    const journal = new Journal(directory, id, 'r+')
    const text = readFileSync(journal.#file)
    journal.#at = text.indexOf('\n\n') + 1
    return journal
  }

  /**
   * Durable when it resolves, but for `recorded`: that the end is recorded the ledger knows as well,
   * and recording it again is one fact.
   */
  async mark(mark: Mark): Promise<void> {
    const line = `${JSON.stringify({ mark })}\n`
    writeSync(this.#handle, line, this.#at)
    this.#at += line.length
    if (mark !== 'recorded') await syncData(this.#handle)
  }

  /** Ends the exchange. One that comes back after a power failure is ended again, with no effect. */
  remove(): void {
    this.close()
    unlinkSync(this.#file)
  }

  close(): void {
    UNDER_WAY.delete(this.#file)
    closeSync(this.#handle)
  }
}

/**
 * Returns whether something may have been interrupted: a journal is there that this process is not
 * working on. Another process may be at work on it.
 */
export function mayBeInterrupted(state: string): boolean {
  const directory = join(state, 'journal')
  return journalNames(directory).some((name) => !UNDER_WAY.has(join(directory, name)))
}

/** Everything that is not ended, in the order of names. */
export function openJournals(state: string): OpenJournal[] {
  const directory = join(state, 'journal')
  return journalNames(directory)
    .sort()
    .flatMap((name) => readJournal(directory, name.slice(0, -SUFFIX.length)))
}

function journalNames(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(SUFFIX))
  } catch (error) {
    if (isAbsent(error)) return []
    throw machineFailure(error, directory)
  }
}

/** Returns nothing if the exchange has ended since it was listed: not every caller holds the lock. */
function readJournal(directory: string, id: string): readonly OpenJournal[] {
  const text = textIfThere(join(directory, `${id}${SUFFIX}`))
  if (text === null) return []
  let intent: Intent | null = null
  const marks: Mark[] = []
  for (const line of text.split('\n').map(parseLine)) {
    if (line === null) continue
    if ('intent' in line) intent = line.intent
    else marks.push(line.mark)
  }
  return [{ id, intent, marks }]
}

function textIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return null
    throw machineFailure(error, file)
  }
}

/** A line that was cut off by a crash was never relied upon. */
function parseLine(text: string): { readonly intent: Intent } | { readonly mark: Mark } | null {
  if (text === '') return null
  try {
    // Written by this host into its own directory.
    return JSON.parse(text) as { readonly intent: Intent } | { readonly mark: Mark }
  } catch {
    return null
  }
}

/** The name of the file by which a promotion tries whether the filesystem has hard links. */
export const PROBE = 'probe'

const BEFORE_INTENT: ReadonlySet<string> = new Set([PLAN, PROBE, 'index.lock', ...SHARED_FILES])
const HALF_WRITTEN = /^(.+)\.[0-9a-f]+\.tmp$/

/** Whether writ wrote the file for itself before the first change. */
function isBeforeIntent(name: string): boolean {
  return BEFORE_INTENT.has(HALF_WRITTEN.exec(name)?.[1] ?? name)
}

/**
 * Attempts: directories for displaced entries whose exchange has changed nothing yet. Until the
 * intent is durable, such a directory holds only files that writ writes there for itself, so a
 * process that dies before that leaves no entry of a user in it. Returns whether the file is writ's
 * own and holds nothing that was displaced.
 */
export function isOwnFile(name: string): boolean {
  return name === AFTER_TIMES || isBeforeIntent(name)
}

/**
 * Returns true if the directory holds only what writ writes before the first change. An act that only
 * made new files looks the same if its times were not kept: the ledger tells the two apart.
 */
export function isAttempt(keep: string): boolean {
  return namesIfThere(keep)?.every(isBeforeIntent) ?? false
}

/** Returns null where there is no such directory. */
export function namesIfThere(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

/** Returns the head of a plan; null without a plan, or with one that was never written whole. */
export function readHead(keep: string): Omit<Exchange, 'parts'> | null {
  try {
    for (const line of planLines(keep)) return 'head' in line ? line.head : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return null
}
