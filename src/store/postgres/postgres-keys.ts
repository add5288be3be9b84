/** Reads the facts that change keys by their idempotency keys, without a search. */
import type { ClientBase } from 'pg'
import { HOST_STREAM } from '../../ledger/index.ts'
import { KEY_FACT, KEY_FACTS_END, type KeyFact, type ReadKeyFacts } from '../keys/machine-keys.ts'

interface Row {
  readonly text: string
  readonly size: number | null
  readonly note: string | null
}

export function keyFactsIn(queries: Pick<ClientBase, 'query'>, schema: string): ReadKeyFacts {
  return async (from) => {
    const { rows } = await queries.query<Row>(
      `WITH host AS (SELECT stream FROM ${schema}.streams WHERE name = '${HOST_STREAM}'),
        found AS (SELECT 0::bigint AS seq WHERE $1 = 0 UNION SELECT seq FROM ${schema}.keys
          WHERE stream = (SELECT stream FROM host) AND key >= '${KEY_FACT}' AND key < '${KEY_FACTS_END}'
            AND keys.seq >= $1)
      SELECT fact AS text, kept.size::float8 AS size, kept.note
        FROM found JOIN ${schema}.facts ON facts.stream = (SELECT stream FROM host)
            AND facts.seq = found.seq
          LEFT JOIN LATERAL (SELECT size, note FROM ${schema}.checkpoints
            WHERE checkpoints.stream = facts.stream AND checkpoints.size > facts.seq
            ORDER BY checkpoints.size LIMIT 1) AS kept ON true
        ORDER BY facts.seq`,
      [from],
    )
    return rows.map(({ text, size, note }): KeyFact => {
      return { text, kept: size === null || note === null ? null : { size, note } }
    })
  }
}
