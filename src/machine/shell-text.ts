/** Words for `sh`, quoted so that they stand for themselves, whatever they hold. */

export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ')
}
