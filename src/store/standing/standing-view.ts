/**
 * The folded state of one stream, kept current fact by fact: starts from the kept file, if there is a
 * keeper, and folds the facts that came since.
 *
 * INVARIANT (fresh): an answer covers every fact that any process acknowledged before the call. So a call
 *   never joins a look at the ledger that has begun; those that come meanwhile share the next one.
 * INVARIANT (same history): a lasting view looks each time whether the last fact that it took in is still
 *   there; if not, it folds all facts again.
 *
 * `standingPage` reads facts for `StandingFold`: only those of the types that it folds, each with its whole payload.
 */
import {
  STANDING_TYPES,
  type StandingFact,
  StandingFold,
  type StandingOptions,
} from '../../gate/index.ts'
import { type Fact, HOST_STREAM, type Store, type StoredFact } from '../../ledger/index.ts'
import type { ObjectStore } from '../objects/objects.ts'
import {
  hexOf,
  type KeptStanding,
  type Position,
  type Positions,
  StandingDamage,
} from './kept-standing.ts'
import type { StandingKeeper } from './standing-keeper.ts'

const NOWHERE: Position = { size: 0, chain: '' }
/** Everything else is skipped unread. */
const STANDING = new RegExp(`"type":"(?:${STANDING_TYPES.join('|')})"`)
const PAGE = 1_000
const FORMER_MAX = 4

/** What one view reads. */
interface StandingPlace {
  readonly ledger: FactSource
  readonly stream: string
  /** Without one everything is folded. */
  readonly keeper: StandingKeeper | null
}

export class StandingView {
  readonly #place: StandingPlace
  readonly #options: StandingOptions
  readonly #read = new Map<string, Position>()
  #fold: StandingFold
  /** What the fold began with. */
  #kept: KeptStanding | null = null
  /** What earlier folds began with: a caller may still hold one of those folds. */
  readonly #former: KeptStanding[] = []
  #begun: Promise<void> | null = null
  /** False while facts are being taken in: a fold that stopped in the middle is not kept. */
  #isWhole = true
  #looking: Promise<void> = Promise.resolve()
  #nextLook: Promise<void> | null = null
  /** It outlives the command: the ledger may be put back to an older state meanwhile. */
  readonly #isLasting: boolean
  /** Up to where it was kept last, where that was not the end. */
  #rested: Positions | null = null

  constructor(place: StandingPlace, options: StandingOptions, isLasting = false) {
    this.#place = place
    this.#options = options
    this.#isLasting = isLasting
    this.#fold = new StandingFold(options)
  }

  async standing(): Promise<StandingFold> {
    this.#begun ??= this.#begin()
    await this.#begun
    try {
      await this.#lookAgain()
    } catch (error) {
      if (!(error instanceof StandingDamage)) throw error
      this.#startOver()
      await this.#lookAgain()
    }
    return this.#fold
  }

  #lookAgain(): Promise<void> {
    this.#nextLook ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#looking = this.#catchUpAll()
        this.#nextLook = null
        return this.#looking
      })
    return this.#nextLook
  }

  /**
   * Answers a question about the folded state. If the kept file turns out damaged, folds all facts and
   * asks again: questions have no effects.
   */
  async ask<T>(question: (standing: StandingFold) => T): Promise<T> {
    try {
      return question(await this.standing())
    } catch (error) {
      if (!(error instanceof StandingDamage)) throw error
      this.#startOver()
      return question(await this.standing())
    }
  }

  /** The positions up to which facts are folded. Read them right after `standing()`, without awaiting. */
  get positions(): Positions {
    const of = (stream: string): Position => this.#read.get(stream) ?? NOWHERE
    return { host: of(HOST_STREAM), stream: of(this.#place.stream) }
  }

  /** How many facts what was kept spared, and of how many. */
  get extent(): { readonly kept: number; readonly facts: number } {
    const kept = this.#kept === null ? 0 : sizeOf(this.#kept.positions)
    return { kept, facts: sizeOf(this.positions) }
  }

  /** Keeps it for the next command, when all else is done, and lets go of everything. */
  close(): void {
    const { keeper } = this.#place
    if (this.#isWhole && keeper?.isDue(this.positions, this.#kept) === true) {
      keeper.keep(this.#fold, this.positions, this.#kept)
    }
    this.#startOver()
    for (const former of this.#former.splice(0)) former.close()
    this.#begun = null
  }

  /** Keeps it if that is due, and stays for the next gate. */
  rest(): void {
    const { keeper } = this.#place
    const { positions } = this
    const last = this.#rested === null ? this.#kept : { positions: this.#rested }
    if (!this.#isWhole || keeper?.isDue(positions, last) !== true) return
    keeper.keep(this.#fold, positions, this.#kept)
    this.#rested = positions
    // A gate that still holds one of the last folds reads from its file.
    for (const former of this.#former.splice(0, this.#former.length - FORMER_MAX)) former.close()
  }

  async #begin(): Promise<void> {
    const kept = (await this.#place.keeper?.open()) ?? null
    if (kept !== null) this.#standOn(kept)
  }

  #standOn(kept: KeptStanding): void {
    const { keeper, stream } = this.#place
    const memory = kept.memory((damage) => {
      throw keeper?.damage(damage) ?? new StandingDamage(kept.path, damage)
    })
    if (this.#kept !== null) this.#former.push(this.#kept)
    this.#kept = kept
    this.#fold = new StandingFold(this.#options, memory)
    this.#read.set(HOST_STREAM, kept.positions.host)
    this.#read.set(stream, kept.positions.stream)
  }

  #startOver(): void {
    if (this.#kept !== null) this.#former.push(this.#kept)
    this.#kept = null
    this.#read.clear()
    this.#rested = null
    this.#isWhole = true
    this.#fold = new StandingFold(this.#options)
  }

  async #catchUpAll(): Promise<void> {
    while (await this.#catchUp());
    const { keeper } = this.#place
    // It will be kept at the end, when nothing can be waited for.
    if (keeper?.isDue(this.positions, this.#kept) === true) await keeper.prepare()
  }

  /** Takes in the next page of both streams, read at one moment. Returns whether there is more. */
  async #catchUp(): Promise<boolean> {
    const streams = [...new Set([HOST_STREAM, this.#place.stream])]
    const places = streams.map((stream) => this.#read.get(stream) ?? NOWHERE)
    const unread = await Promise.all(
      streams.map((stream, at) => this.#unread(stream, places[at] ?? NOWHERE)),
    )
    let isMore = false
    for (const [at, stream] of streams.entries()) {
      const stored = unread[at] ?? null
      if (stored === null) {
        this.#startOver()
        return true
      }
      const isLast = await this.#takeIn(stream, places[at] ?? NOWHERE, stored)
      isMore ||= !isLast
    }
    return isMore
  }

  /** Facts of a page are taken in and counted without a pause, so that no caller sees half of one. */
  async #takeIn(
    stream: string,
    { size: from }: Position,
    stored: readonly StoredFact[],
  ): Promise<boolean> {
    const { size, last, facts, isLast } = await pageOf(this.#place.ledger, stored, PAGE)
    if (last === null) return isLast
    // A page before this one was kept, and the fold goes on from there.
    if ((this.#read.get(stream) ?? NOWHERE).size !== from) return false
    this.#isWhole = false
    for (const fact of facts) this.#fold.take(fact)
    this.#isWhole = true
    this.#read.set(stream, { size: from + size, chain: hexOf(last.chain) })
    await this.#letGo()
    return isLast
  }

  /** The facts from a place on; null if the fact before is not the one with that chain value. */
  async #unread(
    stream: string,
    { size: from, chain }: Position,
  ): Promise<readonly StoredFact[] | null> {
    const { store } = this.#place.ledger
    if (!this.#isLasting || from === 0) return store.read(stream, from, PAGE)
    const [last, ...unread] = await store.read(stream, from - 1, PAGE + 1)
    return last !== undefined && hexOf(last.chain) === chain ? unread : null
  }

  /** A long fold is kept on its way, and what it remembered goes out of memory. */
  async #letGo(): Promise<void> {
    const { keeper } = this.#place
    if (keeper?.isLong(this.positions, this.#kept) !== true) return
    await keeper.prepare()
    keeper.keep(this.#fold, this.positions, this.#kept)
    const kept = await keeper.open()
    // Only if the file covers exactly the facts folded here: another process may have kept more.
    if (kept !== null && isSame(kept.positions, this.positions)) this.#standOn(kept)
    else kept?.close()
  }
}

function sizeOf({ host, stream }: Positions): number {
  return host.size + stream.size
}

function isSame(one: Positions, other: Positions): boolean {
  return one.host.size === other.host.size && one.stream.size === other.stream.size
}

/** Where facts and their bodies are read. */
interface FactSource {
  readonly store: Pick<Store, 'read'>
  readonly objects: Pick<ObjectStore, 'get'>
}

export interface WholeFact {
  readonly fact: Fact
  readonly payload: unknown
}

/** A page of a stream: how many facts it has, the last of them, and those that count. */
interface StandingPage {
  readonly size: number
  readonly last: StoredFact | null
  readonly facts: readonly StandingFact[]
  readonly isLast: boolean
}

export async function standingPage(
  source: FactSource,
  stream: string,
  from: number,
  limit: number = PAGE,
): Promise<StandingPage> {
  const count = Math.min(limit, PAGE)
  return pageOf(source, await source.store.read(stream, from, count), count)
}

async function pageOf(
  source: FactSource,
  stored: readonly StoredFact[],
  count: number,
): Promise<StandingPage> {
  const facts: StandingFact[] = []
  for (const { text, seq } of stored) {
    if (!STANDING.test(text)) continue
    // The store returns texts of facts.
    const { fact, payload } = await wholeFact(source, JSON.parse(text) as Fact)
    const { record, occurred_at: occurredAt, principal } = fact
    facts.push({ type: record.type, payload, occurredAt, seq, principal })
  }
  const { length: size } = stored
  return { size, last: stored.at(-1) ?? null, facts, isLast: size < count }
}

export async function wholeFact({ objects }: FactSource, fact: Fact): Promise<WholeFact> {
  const { payload, payload_ref: reference } = fact.record
  if (reference === undefined) return { fact, payload }
  // Throws if the body is missing: no decision rests on half a record. A checked fact holds a digest.
  const bytes = await objects.get(reference as never)
  return { fact, payload: JSON.parse(decoder.decode(bytes)) }
}

const decoder = new TextDecoder()
