/**
 * The store: where facts lie. One interface for every kind of it; SQLite and PostgreSQL pass one
 * suite (`tests/ledger/store-suite.ts`). The promises below are what the rest of writ relies on.
 *
 * Deliberately absent: change and removal. A store has no such door, and refuses both below its API.
 *
 * Queries (L-6): by stream, type, time, action, task, principal; paged and ordered by seq. `matches`
 * is the meaning of a query; indexes only spare reading facts that cannot match.
 */
import type { NodeId } from '../tree/tree.ts'
import type { Fact, FactDraft, Principal } from './fact.ts'
import { termsOf } from './term.ts'

/** An acknowledged fact. */
export interface Appended {
  readonly stream: string
  readonly seq: number
  readonly factId: string
  /** ISO 8601, the `occurred_at` of the fact. */
  readonly occurredAt: string
  /** `sha256:` and hex of the leaf. */
  readonly leaf: string
  /** The size of the tree in the checkpoint that was signed with it. */
  readonly size: number
  /** The idempotency key was used before: this is the fact of the first time. */
  readonly repeated: boolean
}

export interface StoredFact {
  readonly seq: number
  /** The canonical text. */
  readonly text: string
  readonly chain: Uint8Array
}

/** A stream as its newest checkpoint tells it. */
export interface SignedHead {
  readonly stream: string
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** The newest checkpoint as a signed note. */
  readonly checkpoint: string
}

/**
 * PROMISE (durable): what `append` resolves with is on disk, synced, and survives the death of the
 *   process, of the machine's kernel and of the server. Nothing is resolved before.
 * PROMISE (whole): the drafts of one call become facts together, in their order, or not at all. Drafts
 *   of different calls may share a commit.
 * PROMISE (order): within a stream `seq` counts from 0 without gaps, `occurred_at` never runs
 *   backwards, and each fact is in the tree of every later checkpoint. Between streams there is no
 *   order.
 * PROMISE (once): a draft whose idempotency key was used in its stream makes no fact; the first one
 *   is returned, `repeated`. This holds over processes, crashes and the death of a server, also when
 *   the key is used twice in one call.
 * PROMISE (concurrency): any number of callers in any number of processes. The store waits for its
 *   turn and retries by itself up to a bound; then `ledger.busy`, and nothing was recorded.
 * PROMISE (honest failure): after a rejection with any code but `ledger.unclear` nothing of the call
 *   was recorded. After `ledger.unclear` it may have been: ask again with the same idempotency keys,
 *   or read. The store stays usable and finds out by itself what is recorded, by the same code that
 *   opens a ledger. `ledger.truncated`, `ledger.unsigned_tail`, `ledger.tampered` and `ledger.corrupt`
 *   are final: every later append is refused, and nothing is cut or repaired.
 * PROMISE (fresh reads): a read sees every fact that was acknowledged to anybody before it began.
 *   Queries read an index and the tail that is not indexed yet; the index only narrows, the fact
 *   decides.
 *
 * Who retries: the store against other writers; the caller, with idempotency keys, against failures.
 */
export interface Store {
  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]>

  /** The names of all streams, sorted. For the host only: tenants must not learn of one another. */
  streams(): Promise<readonly string[]>

  /** All heads, sorted by stream, of one state of the store. For the host only. */
  heads(): Promise<readonly SignedHead[]>

  /** Null when the stream does not exist. */
  head(stream: string): Promise<SignedHead | null>

  /** Facts from `from` on, ordered by seq, at most `limit`. */
  read(stream: string, from: number, limit: number): Promise<readonly StoredFact[]>

  find(query: Query): Promise<Page>

  /** The hashes of complete subtrees, in the order of the question; all lie inside the tree. */
  nodes(stream: string, nodes: readonly NodeId[]): Promise<readonly Uint8Array[]>

  /** Kept checkpoints from that size on, ordered, at most `limit`; the newest is in `head`. */
  checkpoints(stream: string, fromSize: number, limit: number): Promise<readonly string[]>

  /** Makes the query index again from the facts. */
  reindex(): Promise<void>

  /** Waits for appends under way, then lets go of everything. Idempotent. */
  close(): Promise<void>
}

export interface Query {
  readonly stream: string
  readonly type?: string
  readonly action?: string
  readonly task?: string
  readonly run?: string
  readonly principal?: Principal
  readonly factId?: string
  readonly idempotencyKey?: string
  /** ISO 8601 in UTC with milliseconds, inclusive. */
  readonly since?: string
  /** The same form, exclusive. */
  readonly until?: string
  /** Where the page before ended: only facts behind it in the query's order. */
  readonly cursor?: number
  readonly limit: number
  readonly order: 'oldest_first' | 'newest_first'
}

export interface Page {
  /** Canonical texts. */
  readonly facts: readonly { readonly seq: number; readonly text: string }[]
  /** The cursor of the next page; null when there is none. */
  readonly next: number | null
}

/** The fields of which a query may name one value, and which an index keeps. */
export const INDEXED_FIELDS = [
  'type',
  'action',
  'task',
  'run',
  'principal',
  'factId',
  'idempotencyKey',
] as const

export type IndexedField = (typeof INDEXED_FIELDS)[number]

/** What an index holds of a fact: the value of each indexed field that it has. */
export function indexTerms(fact: Fact): Readonly<Partial<Record<IndexedField, string>>> {
  const { idempotency_key: idempotencyKey } = fact.record
  return {
    ...termsOf(fact.record),
    type: fact.record.type,
    principal: principalTerm(fact.principal),
    factId: fact.fact_id,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
}

export function principalTerm({ kind, id, namespace }: Principal): string {
  return JSON.stringify([kind, namespace, id])
}

/** The value that a query asks of a field; undefined when it does not ask. */
export function queryTerm(query: Query, field: IndexedField): string | undefined {
  if (field !== 'principal') return query[field]
  return query.principal === undefined ? undefined : principalTerm(query.principal)
}

export function matches(query: Query, fact: Fact): boolean {
  if (fact.stream !== query.stream) return false
  if (query.since !== undefined && fact.occurred_at < query.since) return false
  if (query.until !== undefined && fact.occurred_at >= query.until) return false
  const asked = INDEXED_FIELDS.filter((field) => queryTerm(query, field) !== undefined)
  if (asked.length === 0) return true
  const terms = indexTerms(fact)
  return asked.every((field) => terms[field] === queryTerm(query, field))
}
