/**
 * Files of evidence (`guard_evidence_source`, F-2): which ones a node needs, which fields of the flow they
 * set, and whether a guard may be judged with what they say.
 *
 * INVARIANT (no evidence, no way): a file that is missing, cannot be read, or does not have the field as
 * a value of the field's type closes the guard. The value that the field had before does not stand in.
 */
import { HOST_FIELDS } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { EvidenceProblem, EvidenceValue } from '../state/event.ts'
import type { Values } from '../state/fact.ts'
import { isActing } from '../state/state.ts'
import type { SceneValues } from './scene.ts'
import type { Turn } from './turn.ts'

const HOST: ReadonlySet<string> = new Set(HOST_FIELDS)

/** What the host measures: a file may say less, since it was written before the host stopped counting. */
const MEASURED: ReadonlySet<string> = new Set([
  'attempt_count',
  'cumulative_duration',
  'tool_calls',
  'rejection_count',
])

interface EvidenceSource {
  readonly path: string
  /** In the file, by its way: `a.b.c`. */
  readonly field: string
  /** In the state: the last name of the way. */
  readonly name: string
}

function sourceOf(turn: Turn, { document, source }: CompiledEdge): EvidenceSource | null {
  const text = document.guard_evidence_source
  if (text === undefined) return null
  const colon = text.lastIndexOf(':')
  const { phase_id } = turn.draft.nodeOf(source).document
  const field = text.slice(colon + 1)
  const name = turn.draft.run.rules < 2 ? field : field.slice(field.lastIndexOf('.') + 1)
  return { path: text.slice(0, colon).replaceAll('{X}', phase_id), field, name }
}

/**
 * Commands the host to read the evidence files of a node's guards; returns false if there are none that
 * were not read. `isReview`: those of the ways to its CHECK nodes, before there is an approval.
 */
export function asksForEvidence(turn: Turn, node: number, isReview = false): boolean {
  const { outgoing, document, readsEvidence } = turn.draft.nodeOf(node)
  if (!readsEvidence) return false
  const isByWay = turn.draft.run.rules >= 4
  const ways = outgoing.filter((edge) => !isByWay || edge.isReview === isReview)
  const isRead = (edge: CompiledEdge): boolean =>
    sourceOf(turn, edge) === null || readingFor(turn, edge) !== undefined
  if (isByWay ? ways.every(isRead) : turn.node(node).work.readings !== null) return false
  const sources = ways.flatMap((edge) => {
    const source = sourceOf(turn, edge)
    if (source === null) return []
    return [{ edge_id: edge.document.edge_id, path: source.path, field: source.field }]
  })
  if (sources.length === 0) return false
  if (!isActing(turn.node(node).status)) turn.settle(node, 'running', 'evidence')
  turn.command({ type: 'read_evidence', node_id: document.node_id, sources })
  return true
}

/** Returns whether the evidence that was read is that of the ways to CHECK nodes. */
export function isReviewEvidence({ answered, flow, draft }: Turn): boolean {
  return (
    draft.run.rules >= 4 &&
    answered?.type === 'read_evidence' &&
    answered.sources.every(({ edge_id }) => flow.edgeById.get(edge_id)?.isReview === true)
  )
}

/** Sets fields of the flow from evidence files. Files never set the host's fields. */
export function takeFields(turn: Turn, edges: readonly CompiledEdge[]): void {
  for (const edge of edges) {
    const source = sourceOf(turn, edge)
    const reading = source === null ? undefined : readingFor(turn, edge)
    if (source === null || reading === undefined || reading.value === null) continue
    const { name } = source
    const declared = turn.flow.document.state?.fields
    if (HOST.has(name) || declared === undefined || !Object.hasOwn(declared, name)) continue
    if (turn.draft.run.rules >= 2 && !isOfType(turn, name, reading.value)) continue
    if (turn.draft.run.fields[name] !== reading.value)
      turn.record({ kind: 'field', name, value: reading.value })
  }
}

function readingFor(turn: Turn, edge: CompiledEdge): EvidenceValue | undefined {
  const { readings } = turn.node(edge.source).work
  return readings?.find(({ edge_id }) => edge_id === edge.document.edge_id)
}

/** A field that the flow does not declare may have any value. */
function isOfType(turn: Turn, name: string, value: string | number | boolean): boolean {
  const declared = turn.flow.document.state?.fields ?? {}
  const type = Object.hasOwn(declared, name) ? declared[name]?.type : undefined
  switch (type) {
    case 'int':
      return Number.isSafeInteger(value)
    case 'double':
      return typeof value === 'number'
    case 'bool':
      return typeof value === 'boolean'
    case 'string':
      return typeof value === 'string'
    case undefined:
      return true
    default:
      return type satisfies never
  }
}

/** Returns whether a guard may be judged; a finding says why it may not. */
export function isEvidenceSound(turn: Turn, edge: CompiledEdge, { state }: SceneValues): boolean {
  const source = sourceOf(turn, edge)
  if (source === null) return true
  const reading = readingFor(turn, edge)
  // The scene has an object of fields there.
  const known = (state as Values)[source.name] ?? null
  if (turn.draft.run.rules < 2) return isSoundByFirstRules(turn, edge, source, reading, known)
  const problem = problemOf(turn, source, reading)
  if (problem !== null) {
    findUnsound(turn, edge, 'flow.evidence_unreadable', {
      path: source.path,
      field: source.field,
      problem,
      why: WORDS[problem],
      next: nextCommand(turn, edge),
    })
    return false
  }
  const value = reading?.value ?? null
  if (!HOST.has(source.name) || isBorneOut(source.name, value, known)) return true
  const values = { path: source.path, field: source.name, host: known, file: value }
  findUnsound(turn, edge, 'flow.evidence_mismatch', { ...values, next: nextCommand(turn, edge) })
  return false
}

function problemOf(
  turn: Turn,
  { name }: EvidenceSource,
  reading: EvidenceValue | undefined,
): EvidenceProblem | null {
  if (reading === undefined || reading.digest === null) return reading?.problem ?? 'missing'
  if (reading.value === null) return reading.problem ?? 'no_field'
  return isOfType(turn, name, reading.value) ? null : 'wrong_type'
}

const WORDS: Readonly<Record<EvidenceProblem, string>> = {
  missing: 'there is no such file',
  unreadable: 'the file cannot be read: it is no plain file, or too large',
  not_json: 'the file is no JSON',
  no_field: 'the file does not have the field',
  not_plain: 'the field is no text, no number, and neither true nor false',
  wrong_type: 'the field has another type than the flow declares',
}

/** Returns whether the host bears out what a file says: of what it measures a file may say less. */
function isBorneOut(name: string, value: unknown, known: unknown): boolean {
  if (!MEASURED.has(name) || typeof value !== 'number' || typeof known !== 'number')
    return value === known
  return value >= 0 && value <= known
}

function isSoundByFirstRules(
  turn: Turn,
  edge: CompiledEdge,
  { name }: EvidenceSource,
  reading: EvidenceValue | undefined,
  known: unknown,
): boolean {
  const isThere = reading !== undefined && reading.digest !== null
  if (isThere && (!HOST.has(name) || reading.value === known)) return true
  const values = { field: name, host: known, file: reading?.value ?? null }
  findUnsound(turn, edge, 'flow.evidence_mismatch', values)
  return false
}

function findUnsound(
  turn: Turn,
  { source, document }: CompiledEdge,
  code: 'flow.evidence_mismatch' | 'flow.evidence_unreadable',
  values: Values,
): void {
  const place = { node_id: turn.idOf(source), edge_id: document.edge_id }
  turn.find({ code, ...place, action: 'block', values })
}

/** Lets the node go on once the file is put right; the host reads it again then. */
function nextCommand(turn: Turn, { source }: CompiledEdge): string {
  return turn.unblockCommand(source)
}
