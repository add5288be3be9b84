/** Shapes that task and receipt share. */
import * as Type from 'typebox'

const RFC3986 = "[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]"

/** An id, hash or URI-like token: never a sentence (seed 000 §A.2). */
export const PointerRef = Type.String({
  pattern: `^[A-Za-z0-9]${RFC3986}{0,511}$`,
  'x-code': { pattern: 'ref_not_pointer' },
  'x-says': 'an id, hash or URI-like token of 1 to 512 characters',
})

/** A span in milliseconds; that it runs forwards is a semantic check. */
export const Span = Type.Object(
  { start_ts: Type.Number(), end_ts: Type.Number() },
  { additionalProperties: false },
)
