/**
 * Every decision of a stream in its order, with what was recorded right before it at hand: one walk
 * over the facts instead of several searches for each. What lies further back is searched for.
 *
 * Memory holds only acts that are not decided yet, and those are few.
 */
import { type OpenedFact, type ReplayLookup, termsOf } from '../../ledger/index.ts'

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
