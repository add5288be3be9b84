/**
 * Every decision of a stream in its order, with what was recorded right before it at hand: one walk
 * over the facts instead of several searches for each. What lies further back is searched for.
 *
 * Memory holds only acts that are not decided yet, and those are few.
 */
import { type Digest, faultCode, isDigest } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import { allFacts, eachFact, openFact, readBody } from '../../history/index.ts'
import { type OpenedFact, type ReplayLookup, termsOf } from '../../ledger/index.ts'
import type { LedgerReader, ObjectStore } from '../../store/index.ts'

const TYPES: ReadonlySet<string> = new Set([
  'proposal_v1',
  'sandbox_result_v1',
  'evaluation_v1',
  'decision_v1',
])
/** Proposals that never came to a decision are forgotten beyond this. */
const OPEN_MAX = 5_000

export class DecisionWalk implements ReplayLookup {
  readonly #lookup: ReplayLookup
  readonly #open = new Map<string, OpenedFact[]>()
  readonly body: ReplayLookup['body']
  readonly fact: ReplayLookup['fact']
  readonly each: ReplayLookup['each']
  readonly ofRun: ReplayLookup['ofRun']

  constructor(lookup: ReplayLookup) {
    this.#lookup = lookup
    this.body = (digest) => lookup.body(digest)
    this.fact = (stream, seq) => lookup.fact(stream, seq)
    this.each = (stream, types) => lookup.each(stream, types)
    this.ofRun = (...of) => lookup.ofRun(...of)
  }

  /** What was recorded about an act that is being decided is complete up to here. */
  async ofAction(stream: string, type: string, action: string): Promise<readonly OpenedFact[]> {
    const near = (this.#open.get(action) ?? []).filter(
      (one) => one.stream === stream && one.record.type === type,
    )
    return near.length > 0 ? near : this.#lookup.ofAction(stream, type, action)
  }

  /** Each decision while what belongs to it is at hand. */
  async *decisions(stream: string): AsyncIterable<OpenedFact> {
    for await (const fact of this.#lookup.each(stream, TYPES)) {
      const action = termsOf(fact.record)['action'] ?? ''
      if (fact.record.type !== 'decision_v1') this.#keep(action, fact)
      else {
        yield fact
        this.#open.delete(action)
      }
    }
  }

  #keep(action: string, fact: OpenedFact): void {
    const known = this.#open.get(action)
    if (known !== undefined) known.push(fact)
    else this.#open.set(action, [fact])
    if (this.#open.size <= OPEN_MAX) return
    const [oldest = ''] = this.#open.keys()
    this.#open.delete(oldest)
  }
}

const PAGE = 500

/** What replay looks up on a ledger: bodies, facts by their place, by their type, by their action. */
export function replayLookup(ledger: LedgerReader): ReplayLookup {
  return {
    body: (digest) => readBody(ledger, digest),
    async fact(stream, seq) {
      const [stored] = await ledger.store.read(stream, seq, 1)
      return stored?.seq === seq ? openFact(ledger, stored.text) : null
    },
    each: (stream, types) => eachOf(ledger, stream, types),
    ofAction: (stream, type, action) => allFacts(ledger, { stream, type, action }),
    ofRun: (stream, run) => allFacts(ledger, { stream, run }),
  }
}

/** Facts of other types are passed over without being read. */
async function* eachOf(
  ledger: LedgerReader,
  stream: string,
  types: ReadonlySet<string>,
): AsyncIterable<OpenedFact> {
  const wanted = new RegExp(`"type":"(?:${[...types].join('|')})"`)
  for (let from = 0; ; ) {
    const facts = await ledger.store.read(stream, from, PAGE)
    for (const { text } of facts) {
      if (!wanted.test(text)) continue
      const fact = await openFact(ledger, text)
      if (types.has(fact.record.type)) yield fact
    }
    from += facts.length
    if (facts.length < PAGE) return
  }
}

/**
 * A store of bodies that notes what was asked for and is not there. A body that a `body_dropped_v1`
 * fact of any stream names went by a rule; any other was removed.
 */
export class NotedObjects implements ObjectStore {
  readonly #objects: ObjectStore
  readonly #absent = new Set<Digest>()

  constructor(objects: ObjectStore) {
    this.#objects = objects
  }

  put(object: Parameters<ObjectStore['put']>[0]): Promise<void> {
    return this.#objects.put(object)
  }

  putPieces(pieces: Iterable<Uint8Array>): Promise<Digest> {
    return this.#objects.putPieces(pieces)
  }

  lines(digest: Digest): Promise<Iterable<string>> {
    return this.#objects.lines(digest)
  }

  has(digest: Digest): Promise<boolean> {
    return this.#objects.has(digest)
  }

  size(digest: Digest): Promise<number | null> {
    return this.#objects.size(digest)
  }

  drop(digest: Digest): Promise<boolean> {
    return this.#objects.drop(digest)
  }

  async get(digest: Digest): Promise<Uint8Array> {
    try {
      return await this.#objects.get(digest)
    } catch (error) {
      const isAbsent = faultCode(error) === 'body.missing'
      if (isAbsent) this.#absent.add(digest)
      throw error
    }
  }

  /** Returns the absent bodies that no fact says were dropped. */
  async unexplained(ledger: LedgerReader): Promise<readonly Digest[]> {
    if (this.#absent.size === 0) return []
    for (const stream of await ledger.store.streams()) {
      for await (const fact of eachFact(ledger, { stream, type: 'body_dropped_v1' })) {
        const body = field(fact.payload, 'body')
        if (typeof body === 'string' && isDigest(body)) this.#absent.delete(body)
      }
    }
    return [...this.#absent]
  }
}
