/**
 * Idempotency keys (H-3). A request with a key is recorded in the transaction of its first fact, so that
 * a later request with the same key, also after a crash, is answered from the facts and does nothing
 * twice. Keys hold for a day.
 */
import { type Digest, digestDocument, faultError } from '../base/index.ts'
import type { RequestKey } from '../contracts/index.ts'
import { openFact } from '../history/index.ts'
import { type Caller, principalText } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { Reservation } from './call/route-call.ts'

const DAY_MS = 86_400_000
const KEY = /^[\x21-\x7e]{1,200}$/

interface KeyedRequest {
  readonly home: HostedHome
  readonly caller: Caller
  /** Where the fact of an earlier request may be. */
  readonly streams: readonly string[]
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body: unknown
}

/** What was recorded under a key: what the request was about. */
interface EarlierRequest {
  readonly subject: string
}

/** The keys of requests that this process is answering. */
export class RequestKeys {
  readonly #underWay = new Set<string>()

  /**
   * Calls `first` for a key that was not used, with what it has to record; `again` for one that was.
   * Fails if the key was used for another request, or if that request is under way.
   */
  async once<T>(
    request: KeyedRequest,
    first: (reservation: Reservation) => Promise<T>,
    again: (earlier: EarlierRequest) => Promise<T>,
  ): Promise<T> {
    const { home, caller, method, path, key } = request
    if (!KEY.test(key)) {
      throw faultError('api.malformed', '', 'an idempotency key has 1 to 200 visible characters')
    }
    const who = principalText(caller.principal)
    const requestDigest = digestDocument([home.home.id, who, method, path, key])
    if (this.#underWay.has(requestDigest)) throw faultError('api.in_progress', '')
    this.#underWay.add(requestDigest)
    try {
      const bodyDigest = digestDocument(request.body ?? null)
      const found = await findRequest(request, requestDigest)
      if (found !== null && isFresh(found)) {
        if (found.payload.body_digest !== bodyDigest) throw faultError('api.key_reused', '')
        return await again(found.payload)
      }
      return await first((subject) => ({
        type: 'request_key_v1',
        payload: { request_digest: requestDigest, body_digest: bodyDigest, method, path, subject },
        // A key that was used long ago is used again under another name.
        key: found === null ? nameOf(requestDigest) : `${nameOf(requestDigest)}/${found.seq}`,
      }))
    } finally {
      this.#underWay.delete(requestDigest)
    }
  }
}

function nameOf(requestDigest: Digest): string {
  return `request/${requestDigest}`
}

interface FoundRequest {
  readonly seq: number
  readonly at: string
  readonly payload: RequestKey
}

function isFresh({ at }: FoundRequest): boolean {
  return Date.now() - Date.parse(at) < DAY_MS
}

async function findRequest(
  { home, streams }: KeyedRequest,
  requestDigest: Digest,
): Promise<FoundRequest | null> {
  for (const stream of streams) {
    const found = await findIn(home, stream, requestDigest)
    if (found !== null) return found
  }
  return null
}

/** The newest request under a key; one of another day has the number of the one before in its name. */
async function findIn(
  home: HostedHome,
  stream: string,
  requestDigest: Digest,
): Promise<FoundRequest | null> {
  let found: FoundRequest | null = null
  for (let name = nameOf(requestDigest); ; ) {
    const query = { stream, idempotencyKey: name, limit: 1, order: 'oldest_first' } as const
    const [stored] = (await home.ledger.store.find(query)).facts
    if (stored === undefined) return found
    const { occurred_at: at, payload } = await openFact(home.ledger, stored.text)
    // The store judged the record by its contract before it was written.
    found = { seq: stored.seq, at, payload: payload as RequestKey }
    name = `${nameOf(requestDigest)}/${found.seq}`
  }
}
