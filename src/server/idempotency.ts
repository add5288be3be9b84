/**
 * Idempotency keys (H-3). A request with a key is recorded in the transaction of its first fact, so that
 * a later request with the same key, also after a crash, is answered from the facts and does nothing
 * twice. Keys hold for a day.
 */
import { type Digest, digestDocument, faultError } from '../base/index.ts'
import type { RequestKey } from '../contracts/index.ts'
import { openFact } from '../history/index.ts'
import { type Caller, defaultStream, principalText } from '../ledger/index.ts'
import type { HostedHome } from './call/hosted-home.ts'
import type { Reply, Reservation } from './handlers/route-call.ts'
import { KeptAnswers } from './kept-answers.ts'

const DAY_MS = 86_400_000
const KEY = /^[\x21-\x7e]{1,200}$/

type OpenHome = Pick<HostedHome, 'ledger'> & {
  readonly home: Pick<HostedHome['home'], 'id' | 'state'>
}

interface KeyedRequest {
  readonly caller: Caller
  /** Where the fact of an earlier request may be. */
  readonly streams: readonly string[]
  readonly method: string
  readonly path: string
  readonly key: string
  readonly query: object
  readonly body: unknown
}

/** What was recorded under a key: what the request was about. */
interface EarlierRequest {
  readonly subject: string
  /** Under which name it was recorded. */
  readonly name: string
}

/** The keys of requests that this process is answering. */
export class RequestKeys {
  readonly #home: OpenHome
  readonly #answers: KeptAnswers
  readonly #underWay = new Set<string>()

  constructor(home: OpenHome) {
    this.#home = home
    this.#answers = new KeptAnswers(home.home.state)
  }

  /**
   * Calls `first` for a key that was not used, with what it has to record; `again` for one that was.
   * Fails if the key was used for another request, or if that request is under way.
   */
  async once<T>(
    request: KeyedRequest,
    first: (reservation: Reservation) => Promise<T>,
    again: (earlier: EarlierRequest) => Promise<T>,
  ): Promise<T> {
    const { caller, method, path, key } = request
    const home = this.#home
    if (!KEY.test(key)) {
      throw faultError('api.malformed', '', 'an idempotency key has 1 to 200 visible characters')
    }
    const who = principalText(caller.principal)
    const requestDigest = digestDocument([home.home.id, who, method, path, key])
    if (this.#underWay.has(requestDigest)) throw faultError('api.in_progress', '')
    this.#underWay.add(requestDigest)
    try {
      const bodyDigest = digestDocument(askedOf(request))
      const found = await findRequest(home, request, requestDigest)
      if (found !== null && isFresh(found)) {
        if (found.payload.body_digest !== bodyDigest) throw faultError('api.key_reused', '')
        return await again({ subject: found.payload.subject, name: found.name })
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

  /**
   * The same for a request that a command answers: the key is recorded before the command is called, so
   * that it is called at most once; its answer is kept for a day. After a crash in between no answer is
   * kept, and a repeated request is refused and told so.
   */
  onceWhole(
    request: KeyedRequest,
    { name, isKept }: { readonly name: string; readonly isKept: boolean },
    first: () => Promise<Reply>,
  ): Promise<Reply> {
    return this.once(
      request,
      async (reserve) => {
        const { key, ...record } = reserve(name)
        await this.#home.ledger.record({
          principal: request.caller.principal,
          source: 'api',
          stream: defaultStream(request.caller),
          record,
          idempotencyKey: key,
        })
        const reply = await first()
        if (isKept) this.#answers.keep(key, reply)
        return reply
      },
      async ({ name: key }) => this.#answers.find(key) ?? unknownOutcome(),
    )
  }
}

/** What a request asks for: its body, with what its address adds. */
function askedOf({ query, body }: KeyedRequest): unknown {
  return Object.keys(query).length === 0 ? (body ?? null) : { query, body: body ?? null }
}

function unknownOutcome(): never {
  const message = 'a request with this key was begun before, and its answer is not kept'
  const hint = 'look at what was done: GET /v1/actions, GET /v1/events'
  throw faultError('api.outcome_unknown', '', message, hint)
}

function nameOf(requestDigest: Digest): string {
  return `request/${requestDigest}`
}

interface FoundRequest {
  readonly name: string
  readonly seq: number
  readonly at: string
  readonly payload: RequestKey
}

function isFresh({ at }: FoundRequest): boolean {
  return Date.now() - Date.parse(at) < DAY_MS
}

async function findRequest(
  home: OpenHome,
  { streams }: KeyedRequest,
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
  home: OpenHome,
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
    found = { name, seq: stored.seq, at, payload: payload as RequestKey }
    name = `${nameOf(requestDigest)}/${found.seq}`
  }
}
