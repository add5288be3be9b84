/**
 * A first append takes five times as long as the next one, because no code has run yet. Under the lock
 * of the ledger everybody else would wait for that, and sixteen processes that begin together for all
 * of it. So a writer that has to wait for its turn does it once meanwhile, on a stream that is stored
 * nowhere; who finds nobody in front has nobody to spare it.
 */
import type { Draft } from '../ledger/index.ts'
import { keyFromSeed, newSeed } from './ed25519.ts'
import { FactIds } from './fact-id.ts'
import { ringOf } from './key-ring.ts'
import { newStream, sealNext, signEnd, stateOf } from './stream-state.ts'

const NAME = 'nowhere'
const DRAFT: Draft = {
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
