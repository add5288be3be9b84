/**
 * How the house reads: words that a reader stumbles over in comments, documents, messages and titles of
 * tests, and casts without a comment that says why they are true. Functions of texts, as `inspect.ts` is.
 */

const HARD =
  /\b(?:somebody|nobody|whoever|whatever|anew|beside|furnish\w*|in the end|is to be|are to be|(?:is|are|was|were|be) told|stands)\b/gi
/** A message has no excuse for these. */
const TOLD = /\btold\b/gi
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^|[\s;{(,])\/\/.*$/gm
const TEXT = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
const TITLE =
  /(?:\b(?:it|describe)(?:\.\w+)*\(|\)\()\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g
const CAST = /(?<=[\w)\]}'"`>]) as (?!const\b)[\w{([]/
/** How many lines above a cast its comment may begin. */
const ABOVE = 3

/** Returns the hard words of a document. */
export function hardWords(text: string): readonly string[] {
  return [...text.matchAll(HARD)].map(([word]) => word.toLowerCase())
}

/** Returns the hard words in the comments of a source file. */
export function hardComments(text: string): readonly string[] {
  return [...text.matchAll(COMMENT)].flatMap(([comment]) => hardWords(comment))
}

/** Returns the hard words in the texts of a source file: messages, help, sentences of codes. */
export function hardTexts(text: string): readonly string[] {
  const lines = text.replace(COMMENT, '').split('\n')
  // The titles of schemas are published and frozen.
  const live = lines.filter((line) => !/^\s*title: /.test(line)).join('\n')
  return [...live.matchAll(TEXT)].flatMap(([literal]) => hardIn(literal))
}

/** Returns the hard words in the titles of tests. */
export function hardTitles(text: string): readonly string[] {
  return [...text.matchAll(TITLE)].flatMap(([, literal = '']) => hardIn(literal))
}

/** Only sentences count: keys and words of a language have no spaces. */
function hardIn(literal: string): readonly string[] {
  const words = literal.replace(/\$\{[^}]*\}/g, '')
  if (!words.includes(' ')) return []
  return [...hardWords(words), ...(words.match(TOLD) ?? []).map((word) => word.toLowerCase())]
}

/** Returns the numbers of the lines that cast without a comment. */
export function bareCasts(text: string): readonly number[] {
  const lines = text.split('\n')
  const bare: number[] = []
  let isList = false
  let isText = false
  for (const [index, line] of lines.entries()) {
    // A template of several lines, such as a page of prose, ends at the next backtick.
    const wasText: boolean = isText
    isText = wasText ? !line.includes('`') : /= `[^`]*$/.test(line)
    if (wasText) continue
    if (/^(?:import|export)(?: type)? \{/.test(line)) isList = true
    const isCode = !isList && !/^\s*(?:\*|\/\/|\/\*)/.test(line)
    if (isList && /\}/.test(line)) isList = false
    if (!isCode || !CAST.test(line.replace(/'[^']*'|`[^`]*`/g, "''"))) continue
    const near = lines.slice(Math.max(0, index - ABOVE), index + 1)
    if (!near.some((text) => /\/\/|\*\/|^\s*\*/.test(text))) bare.push(index + 1)
  }
  return bare
}
