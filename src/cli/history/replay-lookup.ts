/** What replay looks up on a ledger: bodies, facts by their place, by their type, by their action. */

import type { OpenedFact, ReplayLookup } from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { allFacts, openFact, readBody } from './facts.ts'

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
