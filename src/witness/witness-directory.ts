/**
 * A witness on disk: its key (`keys/`), its name (`witness.json`), the logs it cosigns for (`logs/`,
 * written by `writ witness add-log`) and the checkpoint that it cosigned last for each (`kept/`, written
 * by the process that serves). So registering a log never touches a kept checkpoint.
 *
 * INVARIANT (kept first): a checkpoint is on disk, synced, before its cosignature leaves the process.
 * INVARIANT (damage is no empty log): a kept file that cannot be read, or that this witness did not
 * cosign, is a failure, and nothing is cosigned for that log.
 */
import { join } from 'node:path'
import { type FaultError, faultError, sha256, showName, showPath } from '../base/index.ts'
import {
  type Checkpoint,
  cosign,
  encodeHex,
  formatNote,
  formatVerifierKey,
  isKeyName,
  noteCosignedAt,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type Signature,
  type VerifierKey,
  type WitnessedLog,
  witnessKey,
} from '../ledger/index.ts'
import {
  holdFolderLock,
  makeFolder,
  namesIfThere,
  readIfThere,
  withFolderLock,
  writeWhole,
} from '../machine/index.ts'
import { createKey, type LedgerKey, makeCurrent, openKeys } from '../store/index.ts'

const [NAME_FILE, KEYS, LOGS, KEPT] = ['witness.json', 'keys', 'logs', 'kept']
const PRIVATE = 0o700
const FILE_MODE = 0o600
/** More logs than this are not begun: a log with streams can begin new ones by itself. */
const KEPT_MAX = 10_000

/** A log as it was registered. */
interface RegisteredLog {
  readonly origin: string
  /** Public keys as texts, under the origin. */
  readonly keys: readonly string[]
  /** Whether origins one level below are cosigned for too, with the same keys. */
  readonly streams: boolean
}

export class WitnessDirectory {
  readonly #directory: string
  readonly #key: LedgerKey
  readonly name: string

  private constructor(directory: string, name: string, key: LedgerKey) {
    this.#directory = directory
    this.name = name
    this.#key = key
  }

  /** Makes a witness with a new key. Fails if there is one. */
  static create(directory: string, name: string): WitnessDirectory {
    if (!isKeyName(name)) {
      const message = `${showName(name)} cannot name a witness: no spaces and no \`+\``
      throw faultError('witness.key', name, message, 'writ witness init witness.example/w1')
    }
    if (namesIfThere(directory).length > 0) {
      const message = `${showPath(directory)} is not empty; nothing was changed`
      throw faultError('witness.exists', directory, message, 'name another directory with --dir')
    }
    for (const folder of [LOGS, KEPT]) makeFolder(join(directory, folder), PRIVATE)
    makeCurrent(join(directory, KEYS), createKey(join(directory, KEYS), name))
    // The last file: a directory without it is no witness.
    const text = `${JSON.stringify({ format: 1, name })}\n`
    writeWhole(join(directory, NAME_FILE), text, FILE_MODE)
    return WitnessDirectory.open(directory)
  }

  static open(directory: string): WitnessDirectory {
    const file = join(directory, NAME_FILE)
    const text = readIfThere(file)
    if (text === null) {
      const message = `there is no witness in ${showPath(directory)}`
      throw faultError('witness.missing', directory, message, 'writ witness init NAME --dir DIR')
    }
    const { format, name } = fieldsOf(file, text)
    if (format !== 1 || typeof name !== 'string' || !isKeyName(name)) throw damaged(file)
    return new WitnessDirectory(directory, name, openKeys(join(directory, KEYS)).current())
  }

  /** The key that others pin. */
  get key(): VerifierKey {
    return witnessKey(this.name, this.#key.publicKey)
  }

  /** Takes the lock of the process that serves. Fails if another one has it. */
  hold(): () => void {
    const release = holdFolderLock(this.#directory)
    if (release !== null) return release
    const message = `another process serves the witness in ${showPath(this.#directory)}`
    throw faultError('witness.running', this.#directory, message, 'end that process first')
  }

  /** Registers a log, or adds keys to one that is known. */
  addLog(origin: string, keys: readonly VerifierKey[], streams: boolean): RegisteredLog {
    return withFolderLock(join(this.#directory, LOGS), () => {
      const known = this.#registered(origin)
      const texts = new Set([...(known?.keys ?? []), ...keys.map(formatVerifierKey)])
      const log = { origin, keys: [...texts], streams: streams || known?.streams === true }
      writeWhole(this.#logFile(origin), `${JSON.stringify(log)}\n`, FILE_MODE)
      return log
    })
  }

  /** The registered logs, each with the size of the checkpoint that was cosigned last. */
  logs(): readonly (RegisteredLog & { readonly size: number })[] {
    const files = namesIfThere(join(this.#directory, LOGS)).filter((name) => name.endsWith('.json'))
    return files
      .map((name) => readLog(join(this.#directory, LOGS, name)))
      .flatMap((log) => (log === null ? [] : [{ ...log, size: this.#kept(log.origin)?.size ?? 0 }]))
      .sort((one, other) => (one.origin < other.origin ? -1 : 1))
  }

  /** Null for an origin that is not cosigned for. */
  log(origin: string): WitnessedLog | null {
    const own = this.#registered(origin)?.keys ?? []
    const above = this.#registered(origin.slice(0, Math.max(0, origin.lastIndexOf('/'))))
    const keys = [...own, ...(above?.streams === true ? above.keys : [])]
    if (keys.length === 0) return null
    return { keys: keys.flatMap((text) => parseVerifierKey(text) ?? []), kept: this.#kept(origin) }
  }

  /** Whether another log can be begun; one that was cosigned for before always goes on. */
  hasRoomFor(origin: string): boolean {
    return this.#kept(origin) !== null || this.#keptNames().length < KEPT_MAX
  }

  #keptNames(): readonly string[] {
    return namesIfThere(join(this.#directory, KEPT))
  }

  /** Cosigns a checkpoint that was judged, and keeps it before the cosignature is returned. */
  cosign(checkpoint: Checkpoint, note: string, nowMs: number): Signature {
    const parsed = parseNote(note)
    if (parsed === null) throw faultError('ledger.note_malformed', checkpoint.origin)
    const seconds = Math.floor(nowMs / 1000)
    const signature = cosign(parsed.text, this.name, this.#key, seconds)
    const signatures = [...parsed.signatures, signature]
    writeWhole(this.#keptFile(checkpoint.origin), formatNote({ ...parsed, signatures }), FILE_MODE)
    return signature
  }

  #kept(origin: string): Checkpoint | null {
    const file = this.#keptFile(origin)
    const note = readIfThere(file)
    if (note === null) return null
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    const isOurs = checkpoint?.origin === origin && noteCosignedAt(note, this.key) !== null
    if (!isOurs) throw damaged(file)
    return checkpoint
  }

  #registered(origin: string): RegisteredLog | null {
    return readLog(this.#logFile(origin))
  }

  #logFile(origin: string): string {
    return join(this.#directory, LOGS, `${fileName(origin)}.json`)
  }

  #keptFile(origin: string): string {
    return join(this.#directory, KEPT, `${fileName(origin)}.note`)
  }
}

/** Origins hold slashes, and may be as long as a line. */
function fileName(origin: string): string {
  return encodeHex(sha256(new TextEncoder().encode(origin)))
}

function readLog(file: string): RegisteredLog | null {
  const text = readIfThere(file)
  if (text === null) return null
  const { origin, keys, streams } = fieldsOf(file, text)
  const isLog =
    typeof origin === 'string' &&
    Array.isArray(keys) &&
    keys.every((key) => typeof key === 'string')
  if (!isLog) throw damaged(file)
  return { origin, keys, streams: streams === true }
}

function fieldsOf(file: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // Said below, in the same words as any other damage.
  }
  throw damaged(file)
}

function damaged(file: string): FaultError {
  const message = `${showPath(file)} is not as the witness wrote it, so nothing is cosigned for its log`
  const hint = 'put the file back from a copy of this moment; an older copy would allow a rollback'
  return faultError('witness.damaged', file, message, hint)
}
