/**
 * How a stream comes to be: with its first fact, the host's stream gets one that names the stream and
 * the key that signs it first, in the same commit.
 *
 * INVARIANT (named streams): every stream is named in the tree of the host's stream, so that a whole
 * stream cannot be taken out of the file, or slipped into it, without the host's checkpoint telling.
 */
import { canonicalJson } from '../../base/index.ts'
import { type Draft, formatVerifierKey, HOST_STREAM } from '../../ledger/index.ts'
import { publicKeyOf } from './ed25519.ts'
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
