/**
 * Keeps the folded state of one stream (`kept-standing.ts`) for the next command: opens its file,
 * removes a file that it does not believe and notes why, and writes a new one after enough facts.
 *
 * INVARIANT (nothing waits for it, nothing fails by it): the keeper writes when all else is done, and
 *   if that fails, the next command folds more.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Fault, invariant, showName } from '../../base/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import { occurredAtText, type Store } from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import type { FileSeal } from '../keys/ed25519.ts'
import {
  type Disbelieved,
  KeptStanding,
  keptFile,
  keptName,
  mismatch,
  openKept,
  type Positions,
  StandingDamage,
  standingFolder,
  writeKept,
} from './kept-standing.ts'
import { TableDamage } from './table-file.ts'

/** Folding so many facts takes a few milliseconds. */
const KEPT_EVERY = 256
/** What so many facts leave behind takes some twenty megabytes of memory. */
const LONG = 20_000
const STALE_MS = 10 * 60 * 1000

const EVIDENCE: ReadonlySet<string> = new Set(['standing.ahead', 'standing.forked'])

interface KeeperPlace {
  /** The state directory. */
  readonly state: string
  readonly stream: string
  readonly ledger: { readonly store: Pick<Store, 'read'>; seal(): Promise<FileSeal> }
  readonly nowMs: () => number
  /** How many facts have to come before it is written again. */
  readonly every?: number
  /** How many facts may come before what they left behind goes out of memory. */
  readonly long?: number
}

/** What was thrown away last, and when. */
export interface DroppedStanding {
  readonly code: Fault['code']
  readonly message: string
  readonly at: string
}

export class StandingKeeper {
  readonly #place: KeeperPlace
  readonly #path: string
  #seal: FileSeal | null = null
  /** It could not be written: not tried again before the end. */
  #hasFailed = false

  constructor(place: KeeperPlace) {
    this.#place = place
    this.#path = keptFile(place.state, place.stream)
  }

  /** What a fold may begin with; null when it has to begin with the first fact. */
  async open(): Promise<KeptStanding | null> {
    const { ledger, stream } = this.#place
    if (!existsSync(this.#path)) return null
    await this.prepare()
    const found = openKept(this.#path, () => this.#sealed())
    if (found === null) return null
    if (!(found instanceof KeptStanding)) {
      this.drop(found)
      return null
    }
    const disbelieved = await mismatch(found, ledger.store, stream)
    if (disbelieved === null) return found
    found.close()
    this.drop(disbelieved)
    return null
  }

  /** What to throw when something turns out damaged that an answer needed. */
  damage(disbelieved: Disbelieved): StandingDamage {
    this.drop(disbelieved)
    return new StandingDamage(this.#path, disbelieved)
  }

  drop({ code, reason }: Disbelieved): void {
    const message = `${showName(keptName(this.#place.stream))} was thrown away: ${reason}`
    const dropped = { code, message, at: occurredAtText(this.#place.nowMs()) }
    ignoringTheSystem(() => {
      // A file that knows facts which the ledger lacks is evidence: `writ ledger verify` reads it.
      if (EVIDENCE.has(code)) renameSync(this.#path, `${this.#path}.seen`)
      else rmSync(this.#path, { force: true })
      writeWhole(this.#note(), `${JSON.stringify(dropped)}\n`, 0o600)
    })
  }

  /** What was thrown away last; null when nothing ever was. */
  dropped(): DroppedStanding | null {
    const text = readIfThere(this.#note())
    // It is written whole, by this class alone.
    return text === null ? null : (JSON.parse(text) as DroppedStanding)
  }

  /** Whether so many facts came that it is worth writing. */
  isDue(positions: Positions, before: Pick<KeptStanding, 'positions'> | null): boolean {
    return newFacts(positions, before) >= (this.#place.every ?? KEPT_EVERY)
  }

  /** Whether so many came that it has to be written before more do. */
  isLong(positions: Positions, before: KeptStanding | null): boolean {
    return !this.#hasFailed && newFacts(positions, before) >= (this.#place.long ?? LONG)
  }

  /** Finds the key that signs kept files. Must be called before `keep`. */
  async prepare(): Promise<void> {
    this.#seal ??= await this.#place.ledger.seal()
  }

  keep(fold: StandingFold, positions: Positions, before: KeptStanding | null): void {
    this.#hasFailed = true
    ignoringTheSystem(() => {
      const folder = standingFolder(this.#place.state)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#sweep(folder)
      try {
        const { stream } = this.#place
        writeKept(this.#path, { stream, fold, positions, before }, this.#sealed())
        this.#hasFailed = false
      } catch (error) {
        if (!(error instanceof TableDamage)) throw error
        this.drop({ code: 'standing.damaged', reason: error.message })
      }
    })
  }

  /** What was left by a process that was killed while it wrote. */
  #sweep(folder: string): void {
    const before = this.#place.nowMs() - STALE_MS
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (name.endsWith('.tmp') && statSync(file).mtimeMs < before) rmSync(file, { force: true })
    }
  }

  #sealed(): FileSeal {
    invariant(this.#seal !== null, 'the keeper of the state has asked for the key first')
    return this.#seal
  }

  #note(): string {
    return `${this.#path}.dropped.json`
  }
}

function newFacts(positions: Positions, before: Pick<KeptStanding, 'positions'> | null): number {
  const count = ({ host, stream }: Positions): number => host.size + stream.size
  return count(positions) - (before === null ? 0 : count(before.positions))
}

/** Ignores failures of the system, such as a full disk: then no file is kept. Throws bugs. */
function ignoringTheSystem(work: () => void): void {
  try {
    work()
  } catch (error) {
    // Failures of the system carry a code or a fault; a bug has neither.
    const { code, fault } = error as { readonly code?: unknown; readonly fault?: unknown }
    if (typeof code !== 'string' && fault === undefined) throw error
  }
}
