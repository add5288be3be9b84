/**
 * The ledger as the gate uses it: what stands after all facts, kept current fact by fact, and the one
 * way in which the gate records. Host-wide facts (halt, laws) lie in the host's stream. With a keeper
 * the fold begins with what was kept of earlier facts.
 */
import { invariant } from '../../base/index.ts'
import { StandingFold, type StandingOptions } from '../../gate/index.ts'
import {
  contentOf,
  type Fact,
  HOST_STREAM,
  type Principal,
  StoreFailure,
} from '../../ledger/index.ts'
import {
  hexOf,
  type KeptStanding,
  type Position,
  type Positions,
  StandingDamage,
} from '../standing/kept-standing.ts'
import { standingPage, type WholeFact, wholeFact } from '../standing/standing-facts.ts'
import type { StandingKeeper } from '../standing/standing-keeper.ts'
import type { GateContext } from './context.ts'

/** One record to append. */
export interface GateRecord {
  readonly type: string
  readonly payload: unknown
  readonly key: string
}

const PAGE = 1_000
const NOWHERE: Position = { size: 0, chain: '' }

export class LedgerView {
  readonly #context: GateContext
  readonly #options: StandingOptions
  readonly #keeper: StandingKeeper | null
  readonly #read = new Map<string, Position>()
  #standing: StandingFold
  /** What the fold began with. */
  #kept: KeptStanding | null = null
  #begun: Promise<void> | null = null
  /** False while facts are being taken in: a fold that stopped in the middle is not kept. */
  #isWhole = true

  constructor(
    context: GateContext,
    options: StandingOptions,
    keeper: StandingKeeper | null = null,
  ) {
    this.#context = context
    this.#options = options
    this.#keeper = keeper
    this.#standing = new StandingFold(options)
  }

  /** What stands now: everything that was acknowledged to anybody before the call. */
  async standing(): Promise<StandingFold> {
    this.#begun ??= this.#begin()
    await this.#begun
    try {
      await this.#catchUpAll()
    } catch (error) {
      if (!(error instanceof StandingDamage)) throw error
      this.#startOver()
      await this.#catchUpAll()
    }
    return this.#standing
  }

  /**
   * Asks what stands. When what was kept turns out damaged on the way, all facts are folded and it is
   * asked once more: a question has no effects.
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

  /** For the next command; when all else is done. */
  keep(): void {
    const positions = this.#positions()
    if (this.#isWhole && this.#keeper?.isDue(positions, this.#kept) === true) {
      this.#keeper.keep(this.#standing, positions, this.#kept)
    }
    this.#startOver()
    this.#begun = null
  }

  async #begin(): Promise<void> {
    const { stream } = this.#context
    const keeper = this.#keeper
    const kept = (await keeper?.open()) ?? null
    if (keeper === null || kept === null) return
    const memory = kept.memory((damage) => {
      throw keeper.damage(damage)
    })
    this.#kept = kept
    this.#standing = new StandingFold(this.#options, memory)
    this.#read.set(HOST_STREAM, kept.positions.host)
    this.#read.set(stream, kept.positions.stream)
  }

  #startOver(): void {
    this.#kept?.close()
    this.#kept = null
    this.#read.clear()
    this.#isWhole = true
    this.#standing = new StandingFold(this.#options)
  }

  /** As one commit; a refusal is a defect of writ and stops everything. */
  async record(records: readonly GateRecord[], stream = this.#context.stream): Promise<number> {
    return this.recordAs(records, this.#context.caller.principal, stream)
  }

  /** The same, and only if the stream has this size. */
  async recordAt(records: readonly GateRecord[], size: number): Promise<number> {
    const { caller, stream } = this.#context
    return this.recordAs(records, caller.principal, stream, size)
  }

  /** The same in the name of another than the caller. */
  async recordAs(
    records: readonly GateRecord[],
    principal: Principal,
    stream: string,
    size?: number,
  ): Promise<number> {
    const recorded = await this.#context.ledger.recordAll(
      records.map(({ type, payload, key }) => ({
        stream,
        source: 'gate',
        principal,
        record: { type, payload },
        idempotencyKey: key,
      })),
      size,
    )
    const refused = recorded.ok ? '' : JSON.stringify(recorded.violations[0])
    invariant(recorded.ok, `a record that the gate made follows its contract: ${refused}`)
    return recorded.appended[0]?.seq ?? 0
  }

  async recordOnHost(record: GateRecord): Promise<number> {
    return this.record([record], HOST_STREAM)
  }

  /** The newest fact of a type about an action, with its payload whole; null when there is none. */
  async factOf(type: string, actionId: string): Promise<WholeFact | null> {
    const { stream, ledger } = this.#context
    const page = await ledger.store.find({
      stream,
      type,
      action: actionId,
      limit: 1,
      order: 'newest_first',
    })
    const [found] = page.facts
    return found === undefined ? null : wholeFact(ledger, JSON.parse(found.text) as Fact)
  }

  /** All facts of a type about an action, in their order. */
  async factsOf(type: string, actionId: string): Promise<readonly WholeFact[]> {
    const { stream, ledger } = this.#context
    const found: WholeFact[] = []
    for (let cursor: number | null = -1; cursor !== null; ) {
      const page = await ledger.store.find({
        stream,
        type,
        action: actionId,
        cursor,
        limit: PAGE,
        order: 'oldest_first',
      })
      for (const { text } of page.facts)
        found.push(await wholeFact(ledger, JSON.parse(text) as Fact))
      cursor = page.next
    }
    return found
  }

  /** How many facts of a type there are about an action, up to a page of them. */
  async countOf(type: string, actionId: string): Promise<number> {
    const { stream, ledger } = this.#context
    const { facts } = await ledger.store.find({
      stream,
      type,
      action: actionId,
      limit: PAGE,
      order: 'newest_first',
    })
    return facts.length
  }

  /** What a redacted record was made from; null when the body is gone. */
  async originalOf({ fact }: WholeFact): Promise<unknown> {
    const { original } = fact.record
    if (original === undefined) return null
    const bytes = await this.body(original.body)
    return bytes === null ? null : JSON.parse(new TextDecoder().decode(contentOf(bytes)))
  }

  async body(digest: string): Promise<Uint8Array | null> {
    try {
      // A name that a fact holds is a digest.
      return await this.#context.ledger.objects.get(digest as never)
    } catch (error) {
      if (error instanceof StoreFailure && error.fault.code === 'body.missing') return null
      throw error
    }
  }

  /** How many facts what stands was folded from; to be asked right behind it, without a pause. */
  get seen(): { readonly host: number; readonly stream: number } {
    const { host, stream } = this.#positions()
    return { host: host.size, stream: stream.size }
  }

  /** How many facts what was kept spared, and of how many. */
  get extent(): { readonly kept: number; readonly facts: number } {
    const kept = this.#kept === null ? 0 : sizeOf(this.#kept.positions)
    return { kept, facts: sizeOf(this.#positions()) }
  }

  #positions(): Positions {
    const of = (stream: string): Position => this.#read.get(stream) ?? NOWHERE
    return { host: of(HOST_STREAM), stream: of(this.#context.stream) }
  }

  async #catchUpAll(): Promise<void> {
    await this.#catchUp(HOST_STREAM)
    await this.#catchUp(this.#context.stream)
  }

  /** Facts of a page are taken in and counted without a pause, so that no caller sees half of one. */
  async #catchUp(stream: string): Promise<void> {
    for (;;) {
      const { size: from } = this.#read.get(stream) ?? NOWHERE
      const { size, last, facts, isLast } = await standingPage(this.#context.ledger, stream, from)
      // Another call may have been here meanwhile.
      if (last !== null && (this.#read.get(stream) ?? NOWHERE).size === from) {
        this.#isWhole = false
        for (const fact of facts) this.#standing.take(fact)
        this.#isWhole = true
        this.#read.set(stream, { size: from + size, chain: hexOf(last.chain) })
      }
      if (isLast) return
    }
  }
}

function sizeOf({ host, stream }: Positions): number {
  return host.size + stream.size
}
