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
  {
    name: 'number-line',
    why: 'an int and a double are compared exactly; the other engine rounds the int beyond 2^53',
    applies: (source) =>
      source.includes('9007199254740993') && source.includes('9007199254740992.0'),
  },
]

/** The source with a blank in place of each comment. */
function bare(source: string): string {
  return source.replaceAll(/\/\/[^\n]*/g, ' ')
}

type OfText = ExplainedClass & { readonly applies: (source: string) => boolean }

/** Sources that one of the two refuses to read. */
export const EXPLAINED_SOURCES: readonly OfText[] = [
  {
    name: 'leading-dot',
    why: 'names that begin with a dot have no meaning without packages, so they are left out',
    applies: (source) => /(?:^|[^\w\])"'\s]|\bin)\s*\.\s*[A-Za-z_]/.test(bare(source).trim()),
  },
  {
    name: 'unknown-escape',
    why: 'an escape that names no character is refused, as CEL says; the other engine keeps it',
    applies: (source) => source.includes('\\q'),
  },
  {
    name: 'mixed-unary',
    why: '`! !a` and `-!a` can be read, and are refused by their types where they make no sense',
    applies: (source) => /[!-]\s+[!-]|!-|-!/.test(bare(source)),
  },
  {
    name: 'keyword-prefix',
    why: 'a name may begin with `true`, `false` or `null`; the other engine reads the keyword',
    applies: (source) => /\b(?:true|false|null)\w/.test(source),
  },
  {
    name: 'glued-words',
    why: 'a number or `in` ends where the word ends; the other engine splits `1in` and `in2`',
    applies: (source) => /[\dA-Fa-f"'\])]in|\bin[\d\w"']/.test(source),
  },
  {
    name: 'comments',
    why: 'comments may follow one another and end a source; the other engine refuses both',
    applies: (source) => /\/\/[^\n]*(?:$|\n\s*\/\/)/.test(source),
  },
  {
    name: 'blank-brackets',
    why: 'blanks may stand where brackets hold nothing; the other engine refuses them',
    applies: (source) => /\(\s+\)|\[\s+,/.test(bare(source)),
  },
]
