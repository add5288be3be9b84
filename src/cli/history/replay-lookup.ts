/** What replay looks up on a ledger: bodies, facts by their place, by their type, by their action. */

import { type Digest, faultCode, isDigest } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import type { OpenedFact, ReplayLookup } from '../../ledger/index.ts'
import { type LedgerReader, ObjectStore } from '../../store/index.ts'
import { allFacts, eachFact, openFact, readBody } from './facts.ts'

const PAGE = 500

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
export class NotedObjects extends ObjectStore {
  readonly #absent = new Set<Digest>()

  override async get(digest: Digest): Promise<Uint8Array> {
    try {
      return await super.get(digest)
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
