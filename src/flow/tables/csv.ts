/**
 * Reads comma-separated values (RFC 4180) with the position of every cell and the text of every row,
 * and writes rows in the style of the original. Accepts a byte order mark, any line end, and `;` or a
 * tab as the delimiter. Never fails: reads malformed text as well as it can and lists the problems.
 *
 * INVARIANT (nothing is lost): mark, rows with the line ends between them, and tail are the whole text.
 */

export interface Cell {
  readonly text: string
  /** From 1; columns in UTF-16 units. */
  readonly line: number
  readonly column: number
  readonly isQuoted: boolean
}

export interface CsvRow {
  readonly cells: readonly Cell[]
  /** The row's text in the file, with the blank lines before it and without its line end. */
  readonly raw: string
  readonly line: number
}

interface CsvProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

export interface CsvText {
  readonly bom: boolean
  readonly delimiter: Delimiter
  readonly newline: Newline
  /** Line ends of more than one kind occur between rows. */
  readonly isMixed: boolean
  readonly rows: readonly CsvRow[]
  readonly tail: readonly Newline[]
  readonly problems: readonly CsvProblem[]
}

type Delimiter = ',' | ';' | '\t'
type Newline = 'lf' | 'crlf' | 'cr'
type Quotes = 'needed' | 'all'

export const NEWLINES: Readonly<Record<Newline, string>> = { lf: '\n', crlf: '\r\n', cr: '\r' }

/** The line ends of a text that has nothing else. */
function endsIn(text: string): readonly Newline[] {
  const ends = text.match(/\r\n|\n|\r/g) ?? []
  return ends.map((end) => (end === '\n' ? 'lf' : end === '\r' ? 'cr' : 'crlf'))
}

/** Without a delimiter, the header tells. */
export function readCsv(text: string, delimiter?: Delimiter): CsvText {
  const bom = text.startsWith('\uFEFF')
  const body = bom ? text.slice(1) : text
  return new Reader(body, delimiter ?? delimiterOf(body)).run(bom)
}

/** The comma, unless the header has none and something else that parts it. */
function delimiterOf(text: string): Delimiter {
  const header = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  if (header.includes(',')) return ','
  if (header.includes('\t')) return '\t'
  return header.includes(';') ? ';' : ','
}

class Reader {
  readonly #text: string
  readonly #delimiter: Delimiter
  readonly #problems: CsvProblem[] = []
  #index = 0
  #line = 1
  #lineStart = 0

  constructor(text: string, delimiter: Delimiter) {
    this.#text = text
    this.#delimiter = delimiter
  }

  run(bom: boolean): CsvText {
    const rows: CsvRow[] = []
    const ends: Newline[] = []
    let start = 0
    let tailStart = 0
    while (this.#index < this.#text.length) {
      const line = this.#line
      const cells = this.#row()
      const end = this.#index
      const newline = this.#newline()
      if (cells.length === 1 && cells[0]?.text === '' && !cells[0].isQuoted) continue
      rows.push({ cells, raw: this.#text.slice(start, end), line })
      if (newline !== null) ends.push(newline)
      start = this.#index
      tailStart = end
    }
    return {
      bom,
      delimiter: this.#delimiter,
      newline: ends[0] ?? 'lf',
      isMixed: ends.slice(0, rows.length - 1).some((end) => end !== ends[0]),
      rows,
      tail: endsIn(this.#text.slice(tailStart)),
      problems: this.#problems,
    }
  }

  #row(): readonly Cell[] {
    const cells: Cell[] = [this.#cell()]
    while (this.#text[this.#index] === this.#delimiter) {
      this.#index++
      cells.push(this.#cell())
    }
    return cells
  }

  #cell(): Cell {
    const place = { line: this.#line, column: this.#index - this.#lineStart + 1 }
    if (this.#text[this.#index] !== '"') return { text: this.#plain(), ...place, isQuoted: false }
    const quoted = this.#quoted(place)
    const rest = this.#plain()
    if (rest !== '') this.#tell(place, 'there is more text after the closing quotation mark')
    return { text: quoted + rest, ...place, isQuoted: true }
  }

  /** Up to the next delimiter or line end. */
  #plain(): string {
    const start = this.#index
    for (; this.#index < this.#text.length; this.#index++) {
      const unit = this.#text[this.#index]
      if (unit === this.#delimiter || unit === '\n' || unit === '\r') break
    }
    return this.#text.slice(start, this.#index)
  }

  #quoted(place: { readonly line: number; readonly column: number }): string {
    const parts: string[] = []
    let start = this.#index + 1
    for (;;) {
      const end = this.#text.indexOf('"', start)
      if (end === -1) {
        this.#tell(place, 'the quotation mark is never closed')
        parts.push(this.#text.slice(start))
        this.#moveTo(this.#text.length)
        return parts.join('')
      }
      parts.push(this.#text.slice(start, end))
      if (this.#text[end + 1] !== '"') {
        this.#moveTo(end + 1)
        return parts.join('')
      }
      parts.push('"')
      start = end + 2
    }
  }

  /** Goes on, counting the lines that a quoted cell spans. */
  #moveTo(index: number): void {
    for (let at = this.#index; at < index; at++) {
      const unit = this.#text[at]
      if (unit !== '\n' && (unit !== '\r' || this.#text[at + 1] === '\n')) continue
      this.#line++
      this.#lineStart = at + 1
    }
    this.#index = index
  }

  #newline(): Newline | null {
    const unit = this.#text[this.#index]
    if (unit !== '\n' && unit !== '\r') return null
    const newline = unit === '\n' ? 'lf' : this.#text[this.#index + 1] === '\n' ? 'crlf' : 'cr'
    this.#index += NEWLINES[newline].length
    this.#line++
    this.#lineStart = this.#index
    return newline
  }

  #tell(place: { readonly line: number; readonly column: number }, message: string): void {
    this.#problems.push({ ...place, message })
  }
}

export interface Dialect {
  readonly delimiter: Delimiter
  readonly quotes: Quotes
}

/** How most of the table is written: every cell in quotation marks, or only those that need them. */
export function quotesOf(rows: readonly CsvRow[]): Quotes {
  const isAll =
    rows.length > 0 && rows.every(({ cells }) => cells.every(({ isQuoted }) => isQuoted))
  return isAll ? 'all' : 'needed'
}

export function writeRow(cells: readonly string[], { delimiter, quotes }: Dialect): string {
  const row = cells.map((cell) => writeCell(cell, delimiter, quotes)).join(delimiter)
  // One empty cell would read as a blank line.
  return row === '' ? '""' : row
}

function writeCell(cell: string, delimiter: Delimiter, quotes: Quotes): string {
  const needs = quotes === 'all' || cell.startsWith('"') || /[\r\n]/.test(cell)
  if (!needs && !cell.includes(delimiter) && !cell.includes('"')) return cell
  return `"${cell.replaceAll('"', '""')}"`
}
