/**
 * The columns of an edge table (the 05d table, and the five that seed 004 §4 adds), and the fields of an
 * edge that some columns hold. The edge keeps the original cell in `columns` if writing the field would
 * give another text. The export writes that cell as long as it still reads as the field's value.
 */
import {
  EDGE_CLASSES,
  type EdgeClass,
  type FlowEdge,
  GUARD_FAIL_ACTIONS,
  TRUST_REQUIREMENTS,
} from '../../contracts/index.ts'

/** In the order of the original table. */
export const TABLE_COLUMNS = [
  'edge_id',
  'edge_signature',
  'source',
  'target',
  'label',
  'style',
  'old_object_class',
  'old_object_type',
  'v2_primary_class',
  'v2_secondary_tag',
  'v2_polarity',
  'execution_role',
  'control_direction',
  'constraint_strength',
  'mandatory',
  'is_executable',
  'side_effect_scope',
  'gate_family',
  'loop_family',
  'path_criticality',
  'rationale',
  'evidence',
] as const

export const ADDED_COLUMNS = [
  'guard_expr',
  'on_guard_fail',
  'policy_refs',
  'audit_invariant_refs',
  'trust_requirement',
] as const

/** The name of each column, trimmed; of two equal names the second gets a number. */
export function columnKeys(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const key = name.trim()
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return count === 1 ? key : numberedId(key, count)
  })
}

/** The key of a cell behind the last column, by its place from 0. */
export function extraKey(place: number): string {
  return `(${place + 1})`
}

/** The class that a cell names: the one of the eight that it begins with. */
export function classOf(cell: string): EdgeClass | null {
  const word = cell.trim().toLowerCase()
  return EDGE_CLASSES.find((name) => word.startsWith(name.toLowerCase())) ?? null
}

/** `SOURCE->TARGET`, with any arrow of that kind and space around it. */
export function endsOf(signature: string): readonly [source: string, target: string] | null {
  const found = /^([\s\S]*?)\s*(?:-+>|\u2192|=>)\s*([\s\S]*)$/.exec(signature.trim())
  const [, source = '', target = ''] = found ?? []
  return source === '' || target === '' ? null : [source, target]
}

export function listOf(cell: string): readonly string[] {
  return cell
    .split(';')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** The word of a closed list that a cell holds, without case and space around it. */
export function wordOf<W extends string>(cell: string, words: readonly W[]): W | null {
  const wanted = cell.trim().toLowerCase()
  return words.find((word) => word === wanted) ?? null
}

/** What the cell of a column is for an edge as it is now; null when the flow does not say it. */
export function cellOf(column: string, edge: FlowEdge): string | null {
  switch (column) {
    case 'edge_id':
      return edge.edge_id
    case 'edge_signature':
      return `${edge.source}->${edge.target}`
    case 'source':
      return edge.source
    case 'target':
      return edge.target
    case 'label':
      return edge.label ?? ''
    case 'class':
    case 'v2_primary_class':
      return edge.class
    case 'guard_expr':
      return edge.guard_expr ?? ''
    case 'on_guard_fail':
      return edge.on_guard_fail ?? ''
    case 'trust_requirement':
      return edge.trust_requirement ?? ''
    case 'policy_refs':
      return (edge.policy_refs ?? []).join(';')
    case 'audit_invariant_refs':
      return (edge.audit_invariant_refs ?? []).join(';')
    // A column that a flow does not know.
    default:
      return null
  }
}

/** Returns the cell to write: the kept cell if it still reads as the edge's value, else that value. */
export function writtenCell(key: string, edge: FlowEdge): string {
  const kept = keptCell(edge, key)
  const own = cellOf(key, edge)
  if (own === null) return kept ?? ''
  if (kept === null || !readsAs(key, kept, edge)) return rewritten(key, kept, own)
  return kept
}

export function keptCell({ columns }: FlowEdge, key: string): string | null {
  return columns !== undefined && Object.hasOwn(columns, key) ? (columns[key] ?? null) : null
}

/** Replaces the class in a kept cell and keeps the text after it, as in `GateTransitionObject`. */
function rewritten(column: string, kept: string | null, own: string): string {
  const known = column === 'v2_primary_class' && kept !== null ? classOf(kept) : null
  return known === null || kept === null ? own : own + kept.trim().slice(known.length)
}

function readsAs(column: string, kept: string, edge: FlowEdge): boolean {
  switch (column) {
    case 'edge_id':
      return kept.trim() === ''
        ? edge.edge_id.startsWith(ROW_ID)
        : isIdOf(kept.trim(), edge.edge_id)
    case 'edge_signature':
      return true
    case 'class':
    case 'v2_primary_class':
      return (classOf(kept) ?? 'Meta') === edge.class
    case 'on_guard_fail':
      return (wordOf(kept, GUARD_FAIL_ACTIONS) ?? '') === (edge.on_guard_fail ?? '')
    case 'trust_requirement':
      return (wordOf(kept, TRUST_REQUIREMENTS) ?? '') === (edge.trust_requirement ?? '')
    case 'policy_refs':
    case 'audit_invariant_refs':
      return sameList(listOf(kept), edge[column] ?? [])
    case 'source':
    case 'target':
      return kept.trim() === '' || kept.trim() === edge[column]
    // Columns whose cells are compared as they are.
    default:
      return kept.trim() === (cellOf(column, edge) ?? '').trim()
  }
}

function sameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index])
}

/** The id of a row without one. */
export const ROW_ID = 'row '

/** Returns the id of a later row with the same id: the id and a number. */
export function numberedId(id: string, number: number): string {
  return `${id} (${number})`
}

function isIdOf(kept: string, id: string): boolean {
  return kept === id || (id.startsWith(`${kept} (`) && id.endsWith(')'))
}
