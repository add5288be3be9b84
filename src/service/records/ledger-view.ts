/**
 * The ledger as the gate uses it: the state folded from all facts, updated with each new fact, and the
 * only way in which the gate records. Host-wide facts (halt, laws) lie in the host's stream.
 */
import { faultCode, faultError, invariant, parseIsoMomentMs } from '../../base/index.ts'
import type { Halt } from '../../contracts/index.ts'
import type { StandingFold, StandingOptions } from '../../gate/index.ts'
import {
  type Appended,
  contentOf,
  type Fact,
  HOST_STREAM,
  type Principal,
  principalText,
} from '../../ledger/index.ts'
import {
  custodyOf,
  retryWhileMoved,
  type StandingKeeper,
  StandingView,
  type WholeFact,
  wholeFact,
} from '../../store/index.ts'
import type { GateContext } from '../surface/context.ts'

/** One record to append. */
export interface GateRecord {
  readonly type: string
  readonly payload: unknown
  readonly key: string
}

const PAGE = 1_000

export class LedgerView {
  readonly #context: GateContext
  readonly #standing: StandingView
  readonly #close: () => void
  #alongside: GateRecord | null

  /** Without a keeper all facts are folded by every view. */
  constructor(
    context: GateContext,
    options: StandingOptions,
    keeper: StandingKeeper | null = null,
  ) {
    const { ledger, stream, standings } = context
    this.#context = context
    this.#alongside = context.alongside ?? null
    const place = { ledger, stream, keeper }
    if (standings === undefined) {
      const view = new StandingView(place, options)
      this.#standing = view
      this.#close = () => view.close()
    } else {
      const { view, rest } = standings.take(place, options)
      this.#standing = view
      this.#close = rest
    }
  }

  /** Returns the current state, with every fact that was acknowledged before the call. */
  standing(): Promise<StandingFold> {
    return this.#standing.standing()
  }

  /** Calls `question` with the current state; again if the kept one was damaged. It has no effects. */
  ask<T>(question: (standing: StandingFold) => T): Promise<T> {
    return this.#standing.ask(question)
  }

  /** How many facts what was kept spared, and of how many. */
  get extent(): { readonly kept: number; readonly facts: number } {
    return this.#standing.extent
  }

  /** Whose word the history is: this user's, or also that of witnesses (S-14). */
  custody(): Promise<'seatbelt' | 'witnessed'> {
    return custodyOf(this.#context.ledger)
  }

  /** Keeps the current state for the next command. Call it last. */
  close(): void {
    this.#close()
  }

  /** As one commit; a refusal is a defect of writ and stops everything. */
  async record(records: readonly GateRecord[], stream = this.#context.stream): Promise<number> {
    return this.recordAs(records, this.#context.caller.principal, stream)
  }

  /**
   * The same, when something else has come about; the most of the work is done meanwhile. Returns
   * whether the keys of all records are new.
   */
  async recordAfter(event: Promise<unknown>, records: readonly GateRecord[]): Promise<boolean> {
    const { caller, stream } = this.#context
    const appended = await this.#append(records, caller.principal, stream, undefined, event)
    return appended.slice(0, records.length).every(({ repeated }) => !repeated)
  }

  /** The same, and only if no fact has this key. Returns whether it was recorded. */
  recordUnless(key: string, records: readonly GateRecord[]): Promise<boolean> {
    return retryWhileMoved(async () => {
      await this.standing()
      const size = this.seen.stream
      if ((await this.factAt(key)) !== null) return false
      await this.recordAt(records, size)
      return true
    })
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
    after?: Promise<unknown>,
  ): Promise<number> {
    const [first] = await this.#append(records, principal, stream, size, after)
    return first?.seq ?? 0
  }

  /** In whose name it records. */
  get caller(): string {
    return principalText(this.#context.caller.principal)
  }

  /** Whether the record is new: false if its key was used before, and nothing is recorded then. */
  async recordFirst(record: GateRecord): Promise<boolean> {
    const { caller, stream } = this.#context
    const [first] = await this.#append([record], caller.principal, stream)
    return first?.repeated !== true
  }

  async #append(
    records: readonly GateRecord[],
    principal: Principal,
    stream: string,
    size?: number,
    after?: Promise<unknown>,
  ): Promise<readonly Appended[]> {
    const alongside = stream === this.#context.stream ? this.#alongside : null
    if (alongside !== null) this.#alongside = null
    const all = alongside === null ? records : [...records, alongside]
    const entries = all.map(({ type, payload, key }) => ({
      stream,
      source: 'gate',
      principal,
      record: { type, payload },
      idempotencyKey: key,
    }))
    const recorded = await this.#context.ledger
      .recordAll(entries, size, after)
      .catch((error: unknown) => {
        // Nothing was recorded, so the next record takes it along.
        if (alongside !== null) this.#alongside = alongside
        throw error
      })
    const refused = recorded.ok ? '' : JSON.stringify(recorded.violations[0])
    invariant(recorded.ok, `a record that the gate made follows its contract: ${refused}`)
    if (alongside !== null && recorded.appended.at(-1)?.repeated === true) {
      throw faultError('api.in_progress', alongside.key)
    }
    return recorded.appended
  }

  async recordOnHost(record: GateRecord): Promise<number> {
    return this.record([record], HOST_STREAM)
  }

  /** When everything was halted last, by the time of its fact; 0 if it never was. */
  async haltedMs(): Promise<number> {
    const { store } = this.#context.ledger
    const query = {
      stream: HOST_STREAM,
      type: 'halt_v1',
      limit: 16,
      order: 'newest_first',
    } as const
    for (
      let page = await store.find(query);
      ;
      page = await store.find({ ...query, cursor: page.next })
    ) {
      for (const { text } of page.facts) {
        // The store returns canonical texts of facts, and each is of its contract.
        const { record, occurred_at } = JSON.parse(text) as Fact
        if ((record.payload as Halt).state === 'HALTED') return parseIsoMomentMs(occurred_at) ?? 0
      }
      if (page.next === null) return 0
    }
  }

  /** The fact that was recorded under a key; null when there is none. */
  async factAt(key: string): Promise<WholeFact | null> {
    const { ledger, stream } = this.#context
    const query = { stream, idempotencyKey: key, limit: 1, order: 'oldest_first' } as const
    const [found] = (await ledger.store.find(query)).facts
    // The store returns the canonical text of a fact.
    return found === undefined ? null : wholeFact(ledger, JSON.parse(found.text) as Fact)
  }

  /** The newest fact of a type about an action, with its payload whole; null when there is none. */
  async factOf(
    type: string,
    actionId: string,
    stream = this.#context.stream,
  ): Promise<WholeFact | null> {
    const { ledger } = this.#context
    const page = await ledger.store.find({
      stream,
      type,
      action: actionId,
      limit: 1,
      order: 'newest_first',
    })
    const [found] = page.facts
    // The store returns the canonical text of a fact.
    return found === undefined ? null : wholeFact(ledger, JSON.parse(found.text) as Fact)
  }

  /**
   * The newest fact of each of these types about an action, in their order; null where there is none.
   * One search for all of them: each search reads the tail of the stream.
   */
  async newestOf(
    types: readonly string[],
    actionId: string,
  ): Promise<readonly (WholeFact | null)[]> {
    const { stream, ledger } = this.#context
    const order = 'newest_first' as const
    const page = await ledger.store.find({ stream, action: actionId, limit: PAGE, order })
    // The store returns the canonical text of a fact.
    const facts = page.facts.map(({ text }) => JSON.parse(text) as Fact)
    const newest = async (type: string): Promise<WholeFact | null> => {
      const fact = facts.find(({ record }) => record.type === type)
      if (fact !== undefined) return wholeFact(ledger, fact)
      return page.next === null ? null : this.factOf(type, actionId)
    }
    return Promise.all(types.map(newest))
  }

  /** All facts of a type about an action, in their order. */
  async factsOf(
    type: string,
    actionId: string,
    stream = this.#context.stream,
  ): Promise<readonly WholeFact[]> {
    const { ledger } = this.#context
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
      // The store returns the canonical text of a fact.
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
      if (faultCode(error) === 'body.missing') return null
      throw error
    }
  }

  /** The lines of a body that may be long; null when it is not kept. */
  async bodyLines(digest: string): Promise<Iterable<string> | null> {
    try {
      // A name that a fact holds is a digest.
      return await this.#context.ledger.objects.lines(digest as never)
    } catch (error) {
      if (faultCode(error) === 'body.missing') return null
      throw error
    }
  }

  /** Numbers of facts in the current state; read them right after `standing()`, with no await between. */
  get seen(): { readonly host: number; readonly stream: number } {
    const { host, stream } = this.#standing.positions
    return { host: host.size, stream: stream.size }
  }
}
