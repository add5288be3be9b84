/**
 * Where our answers and those of @bufbuild/cel 0.6.1 are known to part, and why. docs/expressions.md
 * lists the same classes; anything else is a defect.
 */

export interface ExplainedClass {
  readonly name: string
  readonly why: string
}

type OfValues = ExplainedClass & {
  readonly applies: (source: string, state: Readonly<Record<string, unknown>>) => boolean
}

/** Two expressions that mean the same to both read differently on these values. */
export const EXPLAINED_ANSWERS: readonly OfValues[] = [
  {
    name: 'has-null',
    why: 'a key that holds null is there, as the definition of CEL says; the other engine says no',
    applies: (source, { x }) => source.includes('has(state.x)') && x === null,
  },
  {
    name: 'has-no-fields',
    why: 'asking a value without fields for one is an error here, false there',
    applies: (source, { x }) =>
      source.includes('has(state.x.y)') &&
      (typeof x !== 'object' || x === null || Array.isArray(x)),
  },
  {
    name: 'code-point-order',
    why: 'texts are ordered by code points, as CEL says; the other engine orders by UTF-16 units',
    applies: (source, state) => {
      const texts = source + JSON.stringify(state)
      return texts.includes('😀') && texts.includes('\ufffd')
    },
  },
]

type OfText = ExplainedClass & { readonly applies: (source: string) => boolean }

/** Sources that one of the two refuses to read. */
export const EXPLAINED_SOURCES: readonly OfText[] = [
  {
    name: 'leading-dot',
    why: 'names that begin with a dot have no meaning without packages, so they are left out',
    applies: (source) => /(?:^|[^\w\])"'\s])\s*\.\s*[A-Za-z_]/.test(source),
  },
  {
    name: 'unknown-escape',
    why: 'an escape that names no character is refused, as CEL says; the other engine keeps it',
    applies: (source) => /(?:^|[^rR])"\\q"/.test(source),
  },
  {
    name: 'mixed-unary',
    why: '`! !a` and `-!a` can be read, and are refused by their types where they make no sense',
    applies: (source) => /[!-]\s+[!-]|!-|-!/.test(source),
  },
  {
    name: 'keyword-prefix',
    why: 'a name may begin with `true`, `false` or `null`; the other engine reads the keyword',
    applies: (source) => /\b(?:true|false|null)\w/.test(source),
  },
  {
    name: 'glued-words',
    why: 'a number or `in` ends where the word ends; the other engine splits `1in` and `in2`',
    applies: (source) => /[\d"'\])]in|\bin[\d\w"']/.test(source),
  },
  {
    name: 'last-comment',
    why: 'a comment may be the last thing in a source; the other engine wants a line behind it',
    applies: (source) => /\/\/[^\n]*$/.test(source),
  },
]
