/**
 * Queries (L-6): by stream, type, time, action, task, principal; paged and ordered by seq. `matches`
 * is the meaning of a query; indexes only spare reading facts that cannot match.
 */
import type { Fact, Principal } from './fact.ts'
import { termsOf } from './term.ts'

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
  const terms = indexTerms(fact)
  const asked = (field: IndexedField): boolean => {
    const wanted = queryTerm(query, field)
    return wanted === undefined || terms[field] === wanted
  }
  return (
    fact.stream === query.stream &&
    (query.since === undefined || fact.occurred_at >= query.since) &&
    (query.until === undefined || fact.occurred_at < query.until) &&
    INDEXED_FIELDS.every(asked)
  )
}
