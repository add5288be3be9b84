/**
 * The ledger as the gate uses it: what stands after all facts, kept current fact by fact, and the one
 * way in which the gate records. Host-wide facts (halt, laws) lie in the host's stream.
 */
import { invariant } from '../../base/index.ts'
import { type StandingFact, StandingFold } from '../../gate/index.ts'
import {
  contentOf,
  type Fact,
  HOST_STREAM,
  type Principal,
  type StoredFact,
  StoreFailure,
} from '../../ledger/index.ts'
import type { GateContext } from './context.ts'

/** One record to append. */
export interface GateRecord {
  readonly type: string
  readonly payload: unknown
  readonly key: string
}

const PAGE = 1_000

/** Facts that decide what stands; everything else is skipped unread. */
const STANDING_TYPES = [
  'halt_v1',
  'laws_v1',
  'proposal_v1',
  'evaluation_v1',
  'decision_v1',
  'confirmation_v1',
  'promotion_v1',
  'rollback_v1',
  'override_v1',
  'request_v1',
] as const
const STANDING = new RegExp(`"type":"(?:${STANDING_TYPES.join('|')})"`)

export class LedgerView {
  readonly #context: GateContext
  readonly #standing: StandingFold
  readonly #read = new Map<string, number>()

  constructor(
    context: GateContext,
    options: { readonly confirmationMs: number; readonly cooldownMs: number },
  ) {
    this.#context = context
    this.#standing = new StandingFold(options)
  }

  /** What stands now: everything that was acknowledged to anybody before the call. */
  async standing(): Promise<StandingFold> {
    await this.#catchUp(HOST_STREAM)
    await this.#catchUp(this.#context.stream)
    return this.#standing
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
    return found === undefined ? null : this.#whole(JSON.parse(found.text) as Fact)
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
      for (const { text } of page.facts) found.push(await this.#whole(JSON.parse(text) as Fact))
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
    const count = (stream: string): number => this.#read.get(stream) ?? 0
    return { host: count(HOST_STREAM), stream: count(this.#context.stream) }
  }

  /** Facts of a page are taken in and counted without a pause, so that no caller sees half of one. */
  async #catchUp(stream: string): Promise<void> {
    for (;;) {
      const from = this.#read.get(stream) ?? 0
      const facts = await this.#context.ledger.store.read(stream, from, PAGE)
      const opened: StandingFact[] = []
      for (const fact of facts) opened.push(...(await this.#open(fact)))
      // Another call may have been here meanwhile.
      if ((this.#read.get(stream) ?? 0) === from) {
        for (const fact of opened) this.#standing.take(fact)
        this.#read.set(stream, from + facts.length)
      }
      if (facts.length < PAGE) return
    }
  }

  async #open({ text, seq }: StoredFact): Promise<readonly StandingFact[]> {
    if (!STANDING.test(text)) return []
    const { fact, payload } = await this.#whole(JSON.parse(text) as Fact)
    const { record, occurred_at: occurredAt, principal } = fact
    return [{ type: record.type, payload, occurredAt, seq, principal }]
  }

  async #whole(fact: Fact): Promise<WholeFact> {
    const { payload, payload_ref: reference } = fact.record
    if (reference === undefined) return { fact, payload }
    // A record that is not whole decides nothing: the failure is told, and nothing goes on.
    const bytes = await this.#context.ledger.objects.get(reference as never)
    return { fact, payload: JSON.parse(decoder.decode(bytes)) }
  }
}

export interface WholeFact {
  readonly fact: Fact
  readonly payload: unknown
}

const decoder = new TextDecoder()
