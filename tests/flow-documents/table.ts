/**
 * Tables of edges for tests: one of the size and columns of the original (146 rows, all eight classes,
 * Chinese labels, a byte order mark), and small ones.
 */
import type { EdgeClass } from '../../src/contracts/index.ts'

export const ORIGINAL_COLUMNS =
  'edge_id,edge_signature,source,target,label,style,old_object_class,old_object_type,v2_primary_class,v2_secondary_tag,v2_polarity,execution_role,control_direction,constraint_strength,mandatory,is_executable,side_effect_scope,gate_family,loop_family,path_criticality,rationale,evidence'

export const ORIGINAL_COUNTS: Readonly<Record<EdgeClass, number>> = {
  Gate: 44,
  Progress: 42,
  Decision: 13,
  Exception: 12,
  Loop: 10,
  Meta: 9,
  Rollback: 9,
  Sync: 7,
}

const LABELS = [
  '阶段完成 → 下一步',
  '验证者 "APPROVE" 才通过',
  '失败，重试',
  'go on, please',
  '回滚\n到上一阶段',
  '',
]

/** A chain of phases with parallel work, failures, decisions, waits and back edges. */
export function originalTable(newline = '\r\n'): string {
  const rows = originalEdges().map(([source, target, kind], index) => [
    `E${index + 1}`,
    `${source}->${target}`,
    source,
    target,
    LABELS[index % LABELS.length] ?? '',
    index % 3 === 0 ? 'dashed' : 'solid',
    'ControlObject',
    'Edge',
    `${kind}TransitionObject`,
    '',
    '+',
    'executor',
    'forward',
    'hard',
    'true',
    'yes',
    'phase',
    kind === 'Gate' ? 'time' : '',
    kind === 'Loop' ? 'rerun' : '',
    'high',
    '依据：协议第 6 条',
    `doc.md:${index}`,
  ])
  const text = [ORIGINAL_COLUMNS, ...rows.map((row) => row.map(cell).join(','))].join(newline)
  return `\uFEFF${text}${newline}`
}

type Row = readonly [source: string, target: string, kind: EdgeClass]

function originalEdges(): readonly Row[] {
  const phase = (index: number): string => `P${index}_阶段`
  const many = (count: number, make: (index: number) => Row): readonly Row[] =>
    Array.from({ length: count }, (_, index) => make(index))
  return [
    ...many(60, (index) => [phase(index), phase(index + 1), index % 2 === 0 ? 'Progress' : 'Gate']),
    ...many(12, (index) => [phase(index * 5), `W${index}`, 'Progress']),
    ...many(12, (index) => [`W${index}`, phase(index * 5 + 2), 'Gate']),
    ...many(2, (index) => [phase(60), `END${index}`, 'Gate']),
    ...many(12, (index) => [phase(index * 5 + 1), `X${index}`, 'Exception']),
    ...many(7, (index) => [`W${index}`, phase(index * 5 + 3), 'Sync']),
    ...many(13, (index) => [phase(index * 4), `Q${index}`, 'Decision']),
    ...many(10, (index) => [phase(index * 6 + 1), phase(index * 6), 'Loop']),
    ...many(9, (index) => [phase(index * 6 + 3), phase(index * 6 + 2), 'Rollback']),
    ...many(9, (index) => [phase(index), 'LEGEND', 'Meta']),
  ]
}

export function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
