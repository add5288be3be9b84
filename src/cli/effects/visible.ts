/**
 * Names and contents of files as a person may safely see them: whatever moves the cursor, turns the
 * direction of writing, takes no room or is no character at all is written out instead (`\u202e`,
 * `\xff`). What cannot be seen must not decide what somebody says yes to.
 *
 * Absent: any judgement whether a name is odd. Everything is shown, nothing is left out.
 */
import { bytesOfRaw, type RawPath, textOfRaw } from '../../gate/index.ts'

/**
 * Controls, formats, separators, halves of pairs, whatever a terminal draws as nothing, and spaces
 * that only look like the space. Made when it is first asked for: the tables behind it are large.
 */
function unseen(): RegExp {
  return /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs})/u
}

const TAB_WIDTH = 4
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** How text and escapes are drawn; two ways tell an escape from text that looks like one. */
export interface Style {
  readonly text: (text: string) => string
  readonly escaped: (text: string) => string
}

const PLAIN: Style = { text: (text) => text, escaped: (text) => text }

/** A text on one line. */
export function visible(text: string, style: Style = PLAIN): string {
  // A separator that is captured stands at every odd place.
  return text
    .split(unseen())
    .map((piece, index) => draw(piece, index % 2 === 1, style))
    .join('')
}

function draw(piece: string, isUnseen: boolean, { text, escaped }: Style): string {
  if (piece === '') return ''
  return isUnseen ? escaped(escapeOf(piece)) : text(piece)
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

/** A path: bytes that spell no text are shown one by one, and a backslash is doubled. */
export function visiblePath(path: RawPath): string {
  const text = textOfRaw(path)
  return text === null ? visibleBytes(bytesOfRaw(path)) : visibleName(text)
}

/** A name that is text; the backslash of an escape is never the name's own. */
export function visibleName(text: string): string {
  return visible(text.replaceAll('\\', '\\\\'))
}

/** What is UTF-8 as text, each other byte as a number. */
function visibleBytes(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.length; ) {
    const first = bytes[from] ?? 0
    const length = sequenceLength(first)
    const decoded = decode(bytes.subarray(from, from + length))
    text += decoded === null ? `\\x${first.toString(16).padStart(2, '0')}` : visibleName(decoded)
    from += decoded === null ? 1 : length
  }
  return text
}

function sequenceLength(first: number): number {
  if (first < 0xc2) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

function decode(piece: Uint8Array): string | null {
  try {
    return strict.decode(piece)
  } catch {
    return null
  }
}

function escapeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const digits = point.toString(16).padStart(4, '0')
  return point > 0xffff ? `\\u{${digits}}` : `\\u${digits}`
}
