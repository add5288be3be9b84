/**
 * Warms a writer up: the first append of a process takes five times as long as the next one, because no
 * code has run yet. All other writers would wait for that under the ledger's lock. So a writer that has
 * to wait for its turn appends once to a stream that is stored nowhere. A writer that does not have to
 * wait delays no other writer and skips it.
 */
import type { FactDraft } from '../../ledger/index.ts'
import { keyFromSeed, newSeed } from '../keys/ed25519.ts'
import { ringOf } from '../keys/key-ring.ts'
import { FactIds } from '../streams/fact-id.ts'
import { newStream, sealNext, signEnd, stateOf } from '../streams/stream-state.ts'

const NAME = 'nowhere'
const DRAFT: FactDraft = {
  stream: NAME,
  idempotencyKey: null,
  middle: '"principal":null,"record":null',
  tail: `"source":"","stream":"${NAME}"`,
  expectedSize: null,
}

/** With a key of its own, which signs nothing else. */
export function warmUp(): void {
  const key = keyFromSeed(newSeed())
  const state = newStream(0, NAME, NAME, key)
  const { text, chain } = sealNext(state, DRAFT, 0, new FactIds())
  const tiles = state.growth.takeChanges()
  const { note } = signEnd(state, undefined)
  const end = { id: 0, name: NAME, origin: NAME, size: 1, tiles }
  stateOf({ ...end, head: { size: 1, note }, last: { fact: text, chain } }, ringOf(key), false)
}
