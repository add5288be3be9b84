/** JSON in pieces: the text of a long answer is held neither whole nor once more for the output. */

const PIECE_CHARACTERS = 64 * 1024

/** Gives the text of `JSON.stringify`, cut between values. */
export function* jsonPieces(value: unknown): Generator<string> {
  let piece = ''
  for (const part of partsOf(shownOf(value))) {
    piece += part
    if (piece.length < PIECE_CHARACTERS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) return yield* listParts(value)
  if (typeof value !== 'object' || value === null) return yield JSON.stringify(value) ?? 'null'
  let before = '{'
  for (const [key, item] of Object.entries(value)) {
    const shown = shownOf(item)
    if (['undefined', 'function', 'symbol'].includes(typeof shown)) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* partsOf(shown)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

function* listParts(list: readonly unknown[]): Generator<string> {
  let before = '['
  for (const item of list) {
    yield `${before}${JSON.stringify(item) ?? 'null'}`
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** What an object has itself written as. */
function shownOf(value: unknown): unknown {
  // Any value may be asked for the method; only objects have it.
  const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}
