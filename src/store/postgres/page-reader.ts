/**
 * Reads stretches of streams from PostgreSQL. Calls of one moment, also of different callers, become one
 * statement: a look at the ledger concerns two streams, and a worker looks for many runs at a time.
 *
 * PROMISE (fresh): the statement is sent after the call, so it sees every fact that was committed before.
 */
import type { Pool } from 'pg'
import { FaultError, fault } from '../../base/index.ts'
import type { StoredFact } from '../../ledger/index.ts'
import { lostStream } from '../streams/stream-start.ts'
import { lostFact } from '../streams/stream-state.ts'
import { checkNotBegunAt } from './postgres-connection.ts'
import { prepared } from './prepared.ts'

interface Stretch {
  readonly stream: string
  readonly from: number
  readonly limit: number
}

interface Asked extends Stretch {
  readonly resolve: (facts: readonly StoredFact[]) => void
  readonly reject: (error: unknown) => void
}

interface FactRow {
  /** Which question the row answers. */
  readonly asked: number
  /** Null where the stream has no head. */
  readonly checkpoint: number | null
  readonly exists: boolean
  readonly seq: number | null
  readonly text: string
  readonly chain: Buffer
}

export class PageReader {
  readonly #pool: Pool
  readonly #schema: string
  #asked: Asked[] = []

  constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#schema = schema
  }

  read(stream: string, from: number, limit: number): Promise<readonly StoredFact[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ stream, from, limit, resolve, reject })
      if (this.#asked.length === 1) queueMicrotask(() => this.#send())
    })
  }

  #send(): void {
    const asked = this.#asked
    this.#asked = []
    this.#answer(asked).catch((error: unknown) => {
      for (const { reject } of asked) reject(error)
    })
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    // One statement is one snapshot: the head counts the facts that it is read with.
    const { rows } = await this.#pool.query<FactRow>(
      prepared(
        `SELECT asked.at::integer AS asked, streams.stream IS NOT NULL AS exists,
          heads.size::float8 AS checkpoint, one.seq::float8 AS seq, one.fact AS text, one.chain
        FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (name, low, most, at)
          LEFT JOIN ${this.#schema}.streams ON streams.name = asked.name
          LEFT JOIN ${this.#schema}.heads USING (stream)
          LEFT JOIN LATERAL (SELECT * FROM ${this.#schema}.facts WHERE facts.stream = streams.stream
            AND facts.seq >= asked.low ORDER BY facts.seq LIMIT asked.most) AS one ON true
        ORDER BY asked.at, one.seq`,
        [
          asked.map(({ stream }) => stream),
          asked.map(({ from }) => from),
          asked.map(({ limit }) => limit),
        ],
      ),
    )
    for (const [index, { resolve, reject, ...stretch }] of asked.entries()) {
      const own = rows.filter((row) => row.asked === index + 1)
      await this.#factsOf(stretch, own).then(resolve, reject)
    }
  }

  async #factsOf(stretch: Stretch, rows: readonly FactRow[]): Promise<readonly StoredFact[]> {
    const { stream } = stretch
    const [first] = rows
    if (first?.exists !== true) {
      await checkNotBegunAt(this.#pool, this.#schema, stream)
      return []
    }
    if (first.checkpoint === null) throw lostStream(stream)
    return wholeRun(stretch, first.checkpoint, rows)
  }
}

/** Fails if a fact is missing in between, or at the end. */
function wholeRun(
  { stream, from, limit }: Stretch,
  checkpoint: number,
  rows: readonly FactRow[],
): readonly StoredFact[] {
  const there = rows.filter(({ seq }) => seq !== null)
  const facts = there.map(({ seq: found, text, chain }, at) => {
    const seq = from + at
    if (found === seq) return { seq, text, chain }
    throw lostFact(stream, seq)
  })
  const size = from + facts.length
  if (facts.length >= limit || size >= checkpoint) return facts
  throw new FaultError(fault('ledger.truncated', stream, { size, checkpoint }))
}
