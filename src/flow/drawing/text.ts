/**
 * Texts of a drawing: made harmless, cut, broken into lines by their width. Chinese and other wide
 * characters count two columns, as East Asian Width says; marks that combine count none.
 */

const HARMFUL = /[\p{Cc}\p{Cf}\ufffe\uffff]/gu
const SPACE = /\s+/g
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const MARK = /\p{M}/u

/** One line, without anything that a terminal, a browser or a parser would obey. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(SPACE, ' ').replace(HARMFUL, '\ufffd').trim()
}

/** In columns: a Latin letter is one wide. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

function columnsOf(character: string): number {
  if (MARK.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** At most so many columns, with an ellipsis when something is left out. */
export function cutText(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let width = 1
  let kept = ''
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Lines of at most so many columns, broken at spaces where there are any; the last one is cut. */
export function wrapText(text: string, columns: number, linesMax: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of piecesOf(text, columns)) {
    const joined = line + word
    if (line === '' || widthOf(joined.trimEnd()) <= columns) {
      line = joined
      continue
    }
    lines.push(line.trimEnd())
    line = word
  }
  if (line.trim() !== '') lines.push(line.trimEnd())
  if (lines.length <= linesMax) return lines
  const kept = lines.slice(0, linesMax)
  const last = `${kept[linesMax - 1] ?? ''} …`
  return [...kept.slice(0, -1), widthOf(last) <= columns ? last : cutText(last, columns)]
}

/** Words with the space behind them; what is too long for a line, or wide, breaks anywhere. */
function* piecesOf(text: string, columns: number): Iterable<string> {
  for (const [word] of text.matchAll(/\S+\s*|\s+/g)) {
    if (widthOf(word) <= columns && !WIDE.test(word)) yield word
    else yield* word
  }
}
