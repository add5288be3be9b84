/**
 * A store of bodies that notes what was asked for and is not there. A body that a `body_dropped_v1`
 * fact of any stream names went by a rule; any other was removed.
 */
import { type Digest, faultCode, isDigest } from '../../base/index.ts'
import { field } from '../../contracts/index.ts'
import { type LedgerReader, ObjectStore } from '../../store/index.ts'
import { eachFact } from './facts.ts'

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
