/** Texts of writ for places that know no more than ASCII: manual pages, and terminals without UTF-8. */

const PLAIN: Readonly<Record<string, string>> = {
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '…': '...',
  '·': '|',
  '–': '-',
  '→': '->',
}

/** Returns the text in ASCII; a character without an ASCII form becomes a question mark. */
export function asciiText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with the controls.
  return text.replace(/[^\u0000-\u007f]/gu, (character) => PLAIN[character] ?? '?')
}

type Variables = Readonly<Record<string, string | undefined>>

/** Returns whether the locale names UTF-8; the first variable that is set decides. */
export function knowsUtf8(env: Variables): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return /utf-?8/i.test(locale)
}
