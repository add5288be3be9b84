/** Texts by their parts: where lines and parentheses end, words, and the first line. */

/** Where the line ends that this place is in. */
export function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** What is inside the parentheses that the text begins with. */
export function balanced(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(1, at)
  }
  return text.slice(1)
}

/** The word, what is behind a sign in it, and the words inside it. */
export function pieces(word: string): readonly string[] {
  return [word, ...word.split(/[\s'"`;|&()<>=,]+/)].filter((piece) => piece !== '')
}

/** Whether the name or the first line says that a shell reads it. */
export function isShellText(path: string, text: string): boolean {
  if (/\.(?:sh|bash|zsh|ksh)$/.test(path)) return true
  return /^#!.*\b(?:sh|bash|dash|zsh|ksh)\b/.test(text.slice(0, 200))
}
