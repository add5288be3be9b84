/** Quotes words for `sh`, so that it takes every character literally. */

export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ')
}
