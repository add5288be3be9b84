/**
 * The rows of an edge table as edges, with everything a row says kept, and everything odd about it
 * told. Liberal: a row is left out only when it does not say from where to where it leads.
 */
import { nearest, showName } from '../../base/index.ts'
import {
  EDGE_CLASSES,
  type Flow,
  type FlowEdge,
  GUARD_FAIL_ACTIONS,
  TRUST_REQUIREMENTS,
} from '../../contracts/index.ts'
import {
  ADDED_COLUMNS,
  cellOf,
  classOf,
  columnKeys,
  endsOf,
  extraKey,
  listOf,
  numberedId,
  ROW_ID,
  TABLE_COLUMNS,
  wordOf,
} from './columns.ts'
import { type Cell, type CsvRow, type CsvText, type Dialect, quotesOf, writeRow } from './csv.ts'
import type { ImportReport } from './report.ts'

export interface ParsedTable {
  readonly edges: readonly FlowEdge[]
  readonly table: NonNullable<Flow['table']>
  /** By edge: its row. */
  readonly rows: readonly CsvRow[]
  /** The key under which the cell at a place of the row is known. */
  readonly keys: readonly string[]
}

/** Short rows are written back as long as the header: without a bound, many of them are too much. */
const COLUMNS_MAX = 500

export function readTable(csv: CsvText, report: ImportReport): ParsedTable | null {
  const [header, ...rows] = csv.rows
  if (header === undefined) {
    report.refuse('flow.table_text', { line: 1, column: 1 }, 'the table is empty')
    return null
  }
  for (const { message, ...place } of csv.problems) report.refuse('flow.table_text', place, message)
  if (header.cells.length > COLUMNS_MAX) {
    const message = `the table has more than ${COLUMNS_MAX} columns`
    report.refuse('flow.table_column', { line: header.line, column: 1 }, message)
    return null
  }
  const names = header.cells.map(({ text }) => text)
  const keys = keysOf(header, report)
  if (!hasEnds(keys)) {
    const message = 'the table has no columns `source` and `target`, and no `edge_signature`'
    report.refuse('flow.table_column', { line: header.line, column: 1 }, message, missingHint(keys))
    return null
  }
  tellMissing(keys, header, report)
  const dialect: Dialect = { delimiter: csv.delimiter, quotes: quotesOf(csv.rows) }
  const reader = new EdgeReader(keys, dialect, report)
  const read = rows.flatMap((row) => {
    const edge = reader.read(row)
    return edge === null ? [] : [{ edge, row }]
  })
  if (csv.isMixed) {
    const message = 'lines end in different ways; they will be written like the first'
    report.warn('flow.table_text', { line: header.line, column: 1 }, message)
  }
  const { bom, newline, tail } = csv
  return {
    edges: read.map(({ edge }) => edge),
    rows: read.map(({ row }) => row),
    keys,
    table: {
      header: names,
      ...(writeRow(names, dialect) === header.raw ? {} : { header_row: header.raw }),
      bom,
      ...dialect,
      newline,
      tail: [...tail],
    },
  }
}

function keysOf(header: CsvRow, report: ImportReport): readonly string[] {
  const names = header.cells.map(({ text }) => text)
  const keys = columnKeys(names)
  for (const [index, key] of keys.entries()) {
    const name = (names[index] ?? '').trim()
    if (key === name) continue
    const message = `the column ${showName(name)} occurs twice; the first one counts`
    report.warn('flow.table_column', header.cells[index] ?? { line: 1, column: 1 }, message)
  }
  return keys
}

function hasEnds(keys: readonly string[]): boolean {
  return (keys.includes('source') && keys.includes('target')) || keys.includes('edge_signature')
}

function missingHint(keys: readonly string[]): string | null {
  for (const name of ['source', 'target', 'edge_signature']) {
    const near = keys.includes(name) ? null : nearest(name, keys)
    if (near !== null) return `is ${showName(near)} meant to be ${showName(name)}?`
  }
  return null
}

function tellMissing(keys: readonly string[], header: CsvRow, report: ImportReport): void {
  const place = { line: header.line, column: 1 }
  if (classColumn(keys) === null) {
    const message = 'the table has no column `v2_primary_class`, so every edge is Progress'
    report.refuse('flow.table_column', place, message, missingClass(keys))
  }
  if (!keys.includes('edge_id')) {
    const message = 'the table has no column `edge_id`, so edges are named by their rows'
    report.warn('flow.table_column', place, message)
  }
  const known = new Set<string>([...TABLE_COLUMNS, ...ADDED_COLUMNS, 'class'])
  for (const [index, key] of keys.entries()) {
    const near = known.has(key) ? null : nearest(key, known)
    if (near === null || keys.includes(near)) continue
    const message = `the column ${showName(key)} is kept and not read`
    report.warn(
      'flow.table_column',
      header.cells[index] ?? place,
      message,
      `is ${showName(near)} meant?`,
    )
  }
}

function missingClass(keys: readonly string[]): string | null {
  const near = nearest('v2_primary_class', keys)
  return near === null ? null : `is ${showName(near)} meant to be \`v2_primary_class\`?`
}

/** Returns the name of the column that holds the class of an edge; null if there is none. */
function classColumn(keys: readonly string[]): string | null {
  return (
    ['v2_primary_class', 'class', 'old_object_class'].find((name) => keys.includes(name)) ?? null
  )
}

class EdgeReader {
  readonly #keys: readonly string[]
  readonly #dialect: Dialect
  readonly #report: ImportReport
  readonly #classColumn: string | null
  readonly #ids = new Map<string, { readonly line: number; count: number }>()
  readonly #taken = new Set<string>()

  constructor(keys: readonly string[], dialect: Dialect, report: ImportReport) {
    this.#keys = keys
    this.#dialect = dialect
    this.#report = report
    this.#classColumn = classColumn(keys)
  }

  read(row: CsvRow): FlowEdge | null {
    const cells = this.#cellsOf(row)
    const ends = this.#endsOf(row, cells)
    if (ends === null) return null
    const [source, target] = ends
    const edge: FlowEdge = {
      edge_id: this.#idOf(row, cells),
      source,
      target,
      class: this.#classOf(cells),
      ...this.#textOf(cells, 'label'),
      ...this.#guardOf(cells),
    }
    const columns = this.#kept(edge, cells)
    const written = writeRow(
      row.cells.map(({ text }) => text),
      this.#dialect,
    )
    return {
      ...edge,
      ...(Object.keys(columns).length === 0 ? {} : { columns }),
      ...(written === row.raw && row.cells.length === this.#keys.length ? {} : { row: row.raw }),
    }
  }

  /** By key; cells behind the last column have their number for a key. */
  #cellsOf(row: CsvRow): ReadonlyMap<string, Cell> {
    if (row.cells.length !== this.#keys.length) {
      const message = `the row has ${row.cells.length} cells, and the header ${this.#keys.length}`
      this.#report.warn('flow.table_row', { line: row.line, column: 1 }, message)
    }
    return new Map(
      row.cells.map((cell, index) => [this.#keys[index] ?? extraKey(index), cell] as const),
    )
  }

  #endsOf(row: CsvRow, cells: ReadonlyMap<string, Cell>): readonly [string, string] | null {
    const signature = cells.get('edge_signature')
    const signed = signature === undefined ? null : endsOf(signature.text)
    const source = trimmed(cells, 'source') || (signed?.[0] ?? '')
    const target = trimmed(cells, 'target') || (signed?.[1] ?? '')
    if (source === '' || target === '') {
      const lacking = source === '' ? 'source' : 'target'
      const place = cells.get(lacking) ?? { line: row.line, column: 1 }
      this.#report.refuse('flow.table_cell', place, `the row has no ${lacking} and is left out`)
      return null
    }
    if (signature !== undefined && signature.text.trim() !== '') {
      if (signed === null || signed[0] !== source || signed[1] !== target) {
        const message = `${showName(signature.text)} is not ${showName(`${source}->${target}`)}; source and target count`
        this.#report.warn('flow.table_signature', signature, message)
      }
    }
    return [source, target]
  }

  #idOf(row: CsvRow, cells: ReadonlyMap<string, Cell>): string {
    const cell = cells.get('edge_id')
    const id = trimmed(cells, 'edge_id') || `${ROW_ID}${row.line}`
    const known = this.#ids.get(id)
    if (known === undefined) {
      this.#ids.set(id, { line: row.line, count: 1 })
      return this.#take(id)
    }
    const message = `line ${known.line} has the edge id ${showName(id)} too; this one gets a number`
    this.#report.refuse('flow.table_id', cell ?? { line: row.line, column: 1 }, message)
    for (;;) {
      const next = numberedId(id, ++known.count)
      if (!this.#taken.has(next)) return this.#take(next)
    }
  }

  #take(id: string): string {
    this.#taken.add(id)
    return id
  }

  #classOf(cells: ReadonlyMap<string, Cell>): FlowEdge['class'] {
    const cell = this.#classColumn === null ? undefined : cells.get(this.#classColumn)
    if (cell === undefined) return 'Progress'
    const found = classOf(cell.text)
    if (found !== null) return found
    const message = `${showName(cell.text)} begins with none of the eight classes, so the edge is Meta and never fires`
    const near = nearest(cell.text.trim(), EDGE_CLASSES)
    const hint = near === null ? `one of: ${EDGE_CLASSES.join(', ')}` : `did you mean \`${near}\`?`
    this.#report.refuse('flow.table_class', cell, message, hint)
    return 'Meta'
  }

  #textOf(cells: ReadonlyMap<string, Cell>, key: 'label'): { readonly label?: string } {
    const text = cells.get(key)?.text ?? ''
    return text === '' ? {} : { [key]: text }
  }

  #guardOf(cells: ReadonlyMap<string, Cell>): Partial<FlowEdge> {
    const guard = trimmed(cells, 'guard_expr')
    const action = this.#wordOf(cells, 'on_guard_fail', GUARD_FAIL_ACTIONS, 'a failed guard blocks')
    const trust = this.#wordOf(cells, 'trust_requirement', TRUST_REQUIREMENTS, 'none is required')
    const policies = listOf(cells.get('policy_refs')?.text ?? '')
    const audits = listOf(cells.get('audit_invariant_refs')?.text ?? '')
    return {
      ...(guard === '' ? {} : { guard_expr: guard }),
      ...(action === null ? {} : { on_guard_fail: action }),
      ...(policies.length === 0 ? {} : { policy_refs: [...policies] }),
      ...(audits.length === 0 ? {} : { audit_invariant_refs: [...audits] }),
      ...(trust === null ? {} : { trust_requirement: trust }),
    }
  }

  #wordOf<W extends string>(
    cells: ReadonlyMap<string, Cell>,
    key: string,
    words: readonly W[],
    otherwise: string,
  ): W | null {
    const cell = cells.get(key)
    if (cell === undefined || cell.text.trim() === '') return null
    const word = wordOf(cell.text, words)
    if (word !== null) return word
    const near = nearest(cell.text.trim(), words)
    const message = `${showName(cell.text)} is not one of ${words.join(', ')}, so ${otherwise}`
    const hint = near === null ? null : `did you mean ${showName(near)}?`
    this.#report.refuse('flow.table_cell', cell, message, hint)
    return null
  }

  /** Cells that the edge itself would not give back. */
  #kept(edge: FlowEdge, cells: ReadonlyMap<string, Cell>): Record<string, string> {
    const kept: [string, string][] = []
    for (const [key, { text }] of cells) {
      const own = cellOf(key, edge)
      if (own === null ? text !== '' : own !== text) kept.push([key, text])
    }
    return Object.fromEntries(kept)
  }
}

function trimmed(cells: ReadonlyMap<string, Cell>, key: string): string {
  return cells.get(key)?.text.trim() ?? ''
}
