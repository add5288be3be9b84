/**
 * Names and contents of files as a person may safely see them. Characters that move the cursor, change
 * the direction of writing, take no room, cover their neighbours or look like a space are written out
 * (`\u202e`, `\xff`). In a name so are spaces at an end or next to one another, which could pad a name
 * to the end of its row and continue on the next one like a row of writ.
 *
 * Absent: any judgement whether a name is odd. Everything is shown, nothing is left out.
 */

/**
 * Controls, formats, separators, halves of pairs, characters that a terminal draws as nothing, spaces
 * other than the space (the empty braille cell among them), and letters written from right to left.
 * A literal is compiled on its first use, which matters: the tables behind it are large.
 */
function unseen(): RegExp {
  return /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]|(?! )\p{Zs})/u
}

/** Marks that are drawn over their neighbours. */
const MARKS = /[\p{Mn}\p{Me}]/gu
/** In contents: more marks than any script puts on one letter, marks on none, and strokes through. */
const STACKED =
  /(?<=\p{M}\p{M})[\p{Mn}\p{Me}]|(?<![\p{L}\p{M}])[\p{Mn}\p{Me}]|\p{Me}|[\u{334}-\u{338}]|[\u{20d0}-\u{20ff}]/gu
/** A space at the end of a name, or next to another. */
const PADDING = / (?=[ /]|$)|(?<=[ /]|^) /g
const ASCII = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

const TAB_WIDTH = 4

/** How text and escapes are drawn; two ways tell an escape from text that looks like one. */
interface Style {
  readonly text: (text: string) => string
  readonly escaped: (text: string) => string
}

const PLAIN: Style = { text: (text) => text, escaped: (text) => text }

/** A text on one line. */
export function visible(text: string, style: Style = PLAIN): string {
  if (ASCII.test(text)) return style.text(text)
  // A captured separator is at every odd index.
  return text
    .split(unseen())
    .map((piece, index) => draw(piece, index % 2 === 1, style))
    .join('')
}

function draw(piece: string, isUnseen: boolean, { text, escaped }: Style): string {
  if (piece === '') return ''
  if (isUnseen) return escaped(escapeOf(piece))
  return text(piece.replace(STACKED, escapeOf))
}

/** A line of a file: tabs are drawn, since they are everywhere and harmless. */
export function visibleLine(line: string, style: Style = PLAIN): string {
  const [last = '', ...others] = line.split('\t').reverse()
  let column = 0
  const cells = others.reverse().map((cell) => {
    column += visible(cell).length
    const width = TAB_WIDTH - (column % TAB_WIDTH)
    column += width
    return `${visible(cell, style)}${style.escaped('→')}${' '.repeat(width - 1)}`
  })
  return `${cells.join('')}${visible(last, style)}`
}

/** A name that is text; the backslash of an escape is never the name's own. */
export function visibleName(text: string): string {
  if (ASCII.test(text) && !text.includes('  ') && !text.includes('\\')) {
    return text.includes(' /') || text.includes('/ ') ? padded(text) : text
  }
  return padded(visible(text.replaceAll('\\', '\\\\')).replace(MARKS, escapeOf))
}

function padded(text: string): string {
  return text.replace(PADDING, '\\x20')
}

function escapeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const digits = point.toString(16).padStart(4, '0')
  return point > 0xffff ? `\\u{${digits}}` : `\\u${digits}`
}
