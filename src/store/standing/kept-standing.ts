/**
 * Keeps the state of a fold (`StandingFold`) after some facts: one file for each stream, in the state
 * directory. It spares commands from folding the same facts each time.
 *
 * INVARIANT (facts are the truth): a file is believed only if this ledger's key signed it, a fold of
 *   this version wrote it, and the last fact that it was folded from is still at its place with the
 *   same chain value. Otherwise the reason gets a code, and all facts are folded instead.
 */
import { join } from 'node:path'
import { type Code, FaultError, fault } from '../../base/index.ts'
import {
  type KeptMemory,
  type KeptTable,
  NOTHING_KEPT,
  STANDING_VERSION,
  type StandingFold,
} from '../../gate/index.ts'
import { HOST_STREAM, type Store } from '../../ledger/index.ts'
import { isAbsent } from '../../machine/index.ts'
import type { FileSeal } from '../keys/ed25519.ts'
import { TableDamage, TableFile } from './table-file.ts'
import { writeTables } from './table-writer.ts'

/** Up to where a stream was folded, and the chain value of the last fact of it. */
export interface Position {
  readonly size: number
  /** Hex; empty when there is no fact. */
  readonly chain: string
}

export interface Positions {
  readonly host: Position
  readonly stream: Position
}

interface Head extends Positions {
  readonly version: number
  readonly name: string
  readonly briefs: Readonly<Record<string, unknown>>
}

const FOLDER = 'standing'

export function standingFolder(state: string): string {
  return join(state, FOLDER)
}

const ENDING = '.kept'

/** Names of streams are names of files. */
export function keptFile(state: string, stream: string): string {
  return join(standingFolder(state), `${stream}${ENDING}`)
}

/** Returns the path of a file for messages to people, relative to the state directory. */
export function keptName(stream: string): string {
  return `${FOLDER}/${stream}${ENDING}`
}

/** The stream that a file of the folder is about; null when it is about none. */
export function streamOfFile(name: string): string | null {
  return name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : null
}

type Disbelief = Extract<Code, `standing.${string}`>

/** Why a file is not believed. */
export interface Disbelieved {
  readonly code: Disbelief
  readonly reason: string
}

/** Found when something was read that an answer needed: nothing is answered, the file is gone. */
export class StandingDamage extends FaultError {
  constructor(file: string, { code, reason }: Disbelieved) {
    const message = `the kept state of the ledger is damaged (${reason}), and was thrown away`
    const hint = 'call once more: everything is folded from the facts then'
    super(fault(code, file, null, { message, hint }))
  }
}

export class KeptStanding {
  readonly path: string
  readonly positions: Positions
  readonly #file: TableFile
  readonly #head: Head

  constructor(path: string, file: TableFile) {
    this.path = path
    this.#file = file
    // What this ledger signed as such is one.
    this.#head = file.head as Head
    this.positions = { host: this.#head.host, stream: this.#head.stream }
  }

  get version(): number {
    return this.#head.version
  }

  get stream(): string {
    return this.#head.name
  }

  get file(): TableFile {
    return this.#file
  }

  /** The short list of a part; undefined when it has none. */
  brief(part: string): unknown {
    return this.#head.briefs[part]
  }

  /** Returns the memory for a fold. It calls `onDamage`, which throws, for a damaged block. */
  memory(onDamage: (damage: Disbelieved) => never): KeptMemory {
    return {
      brief: (part) => this.brief(part),
      table: (name) => {
        const table = this.#file.table(name)
        return table === null ? NOTHING_KEPT.table(name) : new GuardedTable(table, onDamage)
      },
    }
  }

  close(): void {
    this.#file.close()
  }
}

class GuardedTable implements KeptTable {
  readonly #table: KeptTable
  readonly #onDamage: (damage: Disbelieved) => never

  constructor(table: KeptTable, onDamage: (damage: Disbelieved) => never) {
    this.#table = table
    this.#onDamage = onDamage
  }

  get(key: string): unknown {
    return this.#guarded(() => this.#table.get(key))
  }

  under(prefix: string): Iterable<string> {
    return this.#guarded(() => [...this.#table.under(prefix)])
  }

  entries(): Iterable<readonly [string, unknown]> {
    return this.#guarded(() => [...this.#table.entries()])
  }

  #guarded<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      return this.#onDamage(damageOf(error))
    }
  }
}

/** Returns why a file is damaged; an unreadable one counts as such. Throws errors of other kinds. */
export function damageOf(error: unknown): Disbelieved {
  if (error instanceof TableDamage) return { code: 'standing.damaged', reason: error.message }
  const { code } = error as NodeJS.ErrnoException
  if (typeof code === 'string') return { code: 'standing.damaged', reason: code }
  throw error
}

/** Opens a kept file; null if there is none. */
export function openKept(
  path: string,
  seal: () => Pick<FileSeal, 'isOwn'>,
): KeptStanding | Disbelieved | null {
  try {
    return new KeptStanding(path, new TableFile(path, seal))
  } catch (error) {
    return isAbsent(error) ? null : damageOf(error)
  }
}

/** Returns why a kept file does not belong to this history; null if it does. */
export async function mismatch(
  kept: KeptStanding,
  store: Pick<Store, 'read'>,
  stream: string,
): Promise<Disbelieved | null> {
  if (kept.version !== STANDING_VERSION) {
    return { code: 'standing.version', reason: `${kept.version}, and not ${STANDING_VERSION}` }
  }
  if (kept.stream !== stream) return { code: 'standing.forked', reason: `of ${kept.stream}` }
  const { host, stream: own } = kept.positions
  for (const [name, { size, chain }] of [
    [HOST_STREAM, host],
    [stream, own],
  ] as const) {
    if (size === 0) continue
    const [last] = await store.read(name, size - 1, 1)
    const where = `${name}/${size - 1}`
    if (last?.seq !== size - 1) return { code: 'standing.ahead', reason: `there is no ${where}` }
    if (hexOf(last.chain) !== chain) return { code: 'standing.forked', reason: `at ${where}` }
  }
  return null
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

interface KeptOrder {
  readonly stream: string
  readonly fold: StandingFold
  /** The facts that the fold has taken in. */
  readonly positions: Positions
  /** What the fold began with; null for nothing. */
  readonly before: KeptStanding | null
}

export function writeKept(
  path: string,
  { stream, fold, positions, before }: KeptOrder,
  seal: FileSeal,
): void {
  const parts = Object.entries(fold.parts())
  const head: Head = {
    version: STANDING_VERSION,
    name: stream,
    ...positions,
    briefs: Object.fromEntries(parts.map(([name, part]) => [name, part.brief()])),
  }
  const tables = Object.assign({}, ...parts.map(([, part]) => part.tables))
  writeTables(path, { head, tables, before: before?.file ?? null }, seal)
}
