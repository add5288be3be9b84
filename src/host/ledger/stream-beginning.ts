/**
 * How a stream comes to be: with its first fact, the host's stream gets one that names the stream and
 * the key that signs it first, in the same commit.
 *
 * INVARIANT (named streams): every stream is named in the tree of the host's stream, so that a whole
 * stream cannot be taken out of the file, or slipped into it, without the host's checkpoint telling.
 */

import { canonicalJson, fault } from '../../base/index.ts'
import { type Draft, formatVerifierKey, HOST_STREAM, StoreFailure } from '../../ledger/index.ts'
import { publicKeyOf } from './ed25519.ts'
import type { Database } from './sqlite-driver.ts'
import type { StreamState } from './stream-state.ts'

/** The host's fact about a new stream, in the name of whoever wrote the stream's first fact. */
export function beginningDraft({ name, origin, key }: StreamState, first: Draft): Draft {
  // The texts of a draft are canonical JSON without their braces.
  const { principal } = JSON.parse(`{${first.middle}}`)
  const { source } = JSON.parse(`{${first.tail}}`)
  const payload = {
    stream: name,
    origin,
    old_key: null,
    new_key: formatVerifierKey(publicKeyOf(key, origin)),
    last_size: 0,
  }
  const record = { type: 'key_rotated_v1', payload }
  return {
    stream: HOST_STREAM,
    idempotencyKey: null,
    middle: canonicalJson({ principal, record }).slice(1, -1),
    tail: canonicalJson({ source, stream: HOST_STREAM }).slice(1, -1),
    expectedSize: null,
  }
}

/**
 * Fails if the host's stream names a stream that has no rows: they were removed, and beginning it again
 * would hide that.
 */
export function checkNotBegun(database: Database, stream: string): void {
  const begun = database
    .prepare(
      `SELECT facts.fact FROM facts JOIN streams ON streams.name = '${HOST_STREAM}'
        WHERE facts.place >= streams.stream << 32 AND facts.place < (streams.stream + 1) << 32
          AND instr(facts.fact, ?) > 0 AND instr(facts.fact, '"type":"key_rotated_v1"') > 0 LIMIT 1`,
    )
    .pluck()
    .get(`"stream":${JSON.stringify(stream)}`)
  if (begun !== undefined && stream !== HOST_STREAM) throw lostStream(stream)
}

/** The failure that a stream without its rows is. */
export function lostStream(stream: string): StoreFailure {
  const message = `the stream \`${stream}\` was begun, and its facts are gone. Put a complete copy of the ledger back; \`writ ledger verify\` says what is missing`
  return new StoreFailure(fault('ledger.tampered', stream, null, { message }))
}
