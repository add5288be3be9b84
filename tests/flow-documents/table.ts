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

/** A chain of phases with branches, checks, failures and ways back. */
export function originalTable(newline = '\r\n'): string {
  const rows: string[][] = []
  const left = { ...ORIGINAL_COUNTS }
  const add = (source: string, target: string, kind: EdgeClass): void => {
    if (left[kind] === 0) return
    left[kind]--
    const id = `E${rows.length + 1}`
    const label = LABELS[rows.length % LABELS.length] ?? ''
    rows.push([
      id,
      `${source}->${target}`,
      source,
      target,
      label,
      rows.length % 3 === 0 ? 'dashed' : 'solid',
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
      `doc.md:${rows.length}`,
    ])
  }
  const phase = (index: number): string => `P${index}_阶段`
  for (let index = 0; index < 60; index++) {
    const [here, next] = [phase(index), phase(index + 1)]
    if (index % 4 === 0) add(here, next, 'Progress')
    else add(here, next, 'Gate')
    if (index % 3 === 0) add(here, `W${index}`, 'Progress')
    if (index % 3 === 0) add(`W${index}`, `C${index}`, 'Gate')
    if (index % 5 === 1) add(here, `X${index}`, 'Exception')
    if (index % 6 === 2) add(next, here, 'Loop')
    if (index % 6 === 4) add(next, here, 'Rollback')
    if (index % 7 === 3) add(`C${index - (index % 3)}`, next, 'Sync')
    if (index % 6 === 5) add(here, 'LEGEND', 'Meta')
  }
  let index = 0
  for (const kind of Object.keys(left) as EdgeClass[]) {
    while (left[kind] > 0) {
      const back = kind === 'Loop' || kind === 'Rollback'
      if (back) add(phase(index + 1), phase(index), kind)
      else add(phase(index % 60), `${kind}_${index}`, kind)
      index++
    }
  }
  const text = [ORIGINAL_COLUMNS, ...rows.map((row) => row.map(cell).join(','))].join(newline)
  return `\uFEFF${text}${newline}`
}

export function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
