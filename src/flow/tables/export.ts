/**
 * A flow as an edge table. One that came from a table has that table's columns, in its way of writing:
 * what was not changed has the same bytes. Any other flow has the columns of seed 004 §4.
 */
import type { Flow, FlowEdge } from '../../contracts/index.ts'
import {
  ADDED_COLUMNS,
  columnKeys,
  extraKey,
  keptCell,
  TABLE_COLUMNS,
  writtenCell,
} from './columns.ts'
import { NEWLINES, readCsv, writeRow } from './csv.ts'

type Table = NonNullable<Flow['table']>

const USUAL: Table = {
  header: [...TABLE_COLUMNS, ...ADDED_COLUMNS],
  bom: false,
  delimiter: ',',
  newline: 'lf',
  quotes: 'needed',
  tail: ['lf'],
}

export interface TableOptions {
  /** Also the columns for guards, policies, invariants and trust that the table did not have. */
  readonly allColumns?: boolean
}

export function exportTable(flow: Flow, { allColumns = false }: TableOptions = {}): string {
  const table = flow.table ?? USUAL
  const known = columnKeys(table.header)
  const added = allColumns ? ADDED_COLUMNS.filter((name) => !known.includes(name)) : []
  const keys = [...known, ...added]
  const head =
    added.length === 0 && table.header_row !== undefined
      ? table.header_row
      : writeRow([...table.header, ...added], table)
  const rows = flow.edges.map((edge) => rowOf(edge, keys, table))
  const tail = table.tail.map((end) => NEWLINES[end]).join('')
  return `${table.bom ? '\uFEFF' : ''}${[head, ...rows].join(NEWLINES[table.newline])}${tail}`
}

/** Fields of edges that no column of the table holds, by name; for a note to the user. */
export function lostColumns({ table, edges }: Flow): readonly string[] {
  const keys = new Set(columnKeys((table ?? USUAL).header))
  const fields = [
    ...ADDED_COLUMNS,
    'guard_scope',
    'guard_type',
    'guard_evidence_source',
    'join',
    'on',
    'group_id',
  ] as const
  return fields.filter((name) => !keys.has(name) && edges.some((edge) => edge[name] !== undefined))
}

function rowOf(edge: FlowEdge, keys: readonly string[], table: Table): string {
  const cells = keys.map((key) => writtenCell(key, edge))
  for (let place = keys.length; keptCell(edge, extraKey(place)) !== null; place++)
    cells.push(keptCell(edge, extraKey(place)) ?? '')
  const { row } = edge
  return row !== undefined && saysSame(row, cells, table) ? row : writeRow(cells, table)
}

/** The row as it was written still holds these cells; cells that it lacks are empty. */
function saysSame(row: string, cells: readonly string[], { delimiter }: Table): boolean {
  const [read, ...others] = readCsv(row, delimiter).rows
  if (read === undefined || others.length > 0 || read.cells.length > cells.length) return false
  return cells.every((cell, index) => cell === (read.cells[index]?.text ?? ''))
}
