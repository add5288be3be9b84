/**
 * A table of the shape of the original: 146 rows, 28 stages in a row that all lead to one clock gate
 * as well, reviews whose No is an Exception edge, Rollback edges that dispatch forward. The names and
 * labels are of this project.
 */
import type { EdgeClass, FlowSide } from '../../src/contracts/index.ts'
import { cell, ORIGINAL_COLUMNS } from './table.ts'

type Row = readonly [source: string, target: string, label?: string]

const stage = (index: number): string => `S${String(index).padStart(2, '0')}`
const STAGES = Array.from({ length: 28 }, (_, index) => stage(index))
const TEAM = ['T1', 'T2', 'T3', 'T4', 'T5', 'T6', 'T7']
const REWORKS = ['R1', 'R2', 'R3', 'R4']
const PARTS = ['M1', 'M2', 'M3']

const ROWS: Readonly<Record<EdgeClass, readonly Row[]>> = {
  Progress: [
    ...STAGES.slice(1).map((id, index): Row => [stage(index), id]),
    ['PART_PASS', stage(25)],
    ['FULL_PASS', stage(25)],
    ['FALLBACK_A', 'FALLBACK_B', 'fallback'],
    ['FALLBACK_B', 'FALLBACK_C', 'fallback'],
    ['AUDIT', 'NEXT', 'APPROVE'],
    ['NEXT', 'GOING'],
    ['JOIN', stage(11)],
    ['FILES', stage(11), 'all there'],
    ['ASSETS', stage(15), 'Yes'],
    ['BUILD', stage(21), 'Yes'],
    ['DATA', stage(22), 'Yes'],
    ['J2', 'PART_PASS', 'Yes'],
    ['J3', 'FULL_PASS', 'Yes'],
    ['REVISIT', 'GOING', 'No'],
    ['ISSUES', 'GOING', 'work around it and go on'],
  ],
  Gate: [
    ...STAGES.map((id): Row => [id, 'CLOCK']),
    ['RESUME', 'CLOCK', '回到时钟'],
    ['CLOCK', 'AUDIT', 'Yes'],
    ['CLOCK', 'AUDIT_CALL', 'each stage'],
    [stage(14), 'ASSETS'],
    [stage(20), 'BUILD'],
    [stage(21), 'DATA'],
    ['JOIN', 'FILES', 'are the results there?'],
    ...[15, 16, 17, 18, 19].map((index): Row => [stage(index), 'EDITOR']),
    [stage(24), 'DEFECT'],
    ['RUN', 'TOOLS', 'no tools used?'],
    ['EXTERNAL', 'VERIFY', 'verify independently'],
    ['REWORKED', 'REVERIFY', 'everybody verifies again'],
  ],
  Decision: [
    ['IDEA', 'CHOICE'],
    ['CHOICE', 'PAUSE', 'Accept'],
    ['CHOICE', 'CLOCK', 'Reject'],
    ['GOING', 'CONSULT', 'ask an adviser'],
    [stage(10), 'DISPATCH'],
    ...PARTS.map((id): Row => ['DISPATCH', id]),
    ['URGENT', 'DISPATCH', 'No'],
    [stage(10), 'URGENT'],
    ['DEFECT', 'J1', 'No'],
    ['J1', 'J2', 'No'],
    ['J2', 'J3', 'No'],
  ],
  Exception: [
    ['CLOCK', 'RERUN', 'No'],
    ['AUDIT', 'RERUN', 'REJECT'],
    ['ASSETS', 'FIX_ASSETS', 'No'],
    ['EDITOR', 'REVISE', '否'],
    ['BUILD', 'RETRY', 'No, can be mended'],
    ['DATA', 'FIX_DATA', 'No'],
    ['DEFECT', 'SENT_BACK', 'Yes (rejected at once)'],
    ['J1', 'SENT_BACK', 'Yes'],
    ['DIRECTOR', 'BAN', 'may not read'],
    ['URGENT', 'BYPASS', 'Yes'],
    ['BUILD', 'ESCALATE', 'No, the machine'],
    ['TIMEOUT', 'FALLBACK_A', '3 timeouts'],
  ],
  Loop: [
    ['FIX_ASSETS', 'ASSETS', '循环'],
    ['FIX_DATA', stage(21), '循环'],
    ['BYPASS', stage(10)],
    ['ESCALATE', 'BUILD'],
    ['SENT_BACK', stage(24)],
    ['J3', 'SENT_BACK', 'No'],
    ['RERUN', 'CLOCK', '循环'],
    ['RERUN', 'COMMAND', 'run again'],
    ['RETRY', 'BUILD'],
    ['REVISE', 'EDITOR', '再审'],
  ],
  Meta: [
    ...TEAM.map((id): Row => [id, 'IDEA']),
    ['NOTE', stage(0)],
    ['ANY', 'ISSUES', 'note the issue'],
  ],
  Rollback: [
    ['REVISIT', 'PAUSE', 'Yes'],
    ...REWORKS.map((id): Row => ['PAUSE', id]),
    ...REWORKS.map((id): Row => [id, 'RESUME']),
  ],
  Sync: [
    [stage(1), 'GUIDE'],
    ['GUIDE', stage(2), '解锁后'],
    ['COMMAND', 'PREVIOUS', 'read what was made before'],
    [stage(20), 'MANIFEST'],
    ...PARTS.map((id): Row => [id, 'JOIN']),
  ],
}

/** Ids are `SOURCE>TARGET`, so that tests name edges by what they are. */
export function hubTable(): string {
  const rows = Object.entries(ROWS).flatMap(([kind, list]) =>
    list.map(([source, target, label = '']) => {
      const known: Readonly<Record<string, string>> = {
        edge_id: `${source}>${target}`,
        edge_signature: `${source}->${target}`,
        source,
        target,
        label,
        v2_primary_class: `${kind}TransitionObject`,
        gate_family: target === 'CLOCK' ? 'time' : 'none',
      }
      return ORIGINAL_COLUMNS.split(',').map((name) => cell(known[name] ?? ''))
    }),
  )
  return `\uFEFF${[ORIGINAL_COLUMNS, ...rows.map((row) => row.join(','))].join('\r\n')}\r\n`
}

const reviewer = { command: ['review'] }

/** What a user writes next to the proposals: who works, which way a decision goes, what is drawn only. */
export const HUB_SIDE: FlowSide = {
  state: {
    fields: {
      urgent: { type: 'bool', initial: false },
      accepted: { type: 'bool', initial: false },
    },
  },
  nodes: [
    ...['CLOCK', 'AUDIT', 'ASSETS', 'EDITOR', 'BUILD', 'DATA', 'DEFECT', 'REVISIT'].map(
      (node_id) => ({ node_id, reviewer }),
    ),
    ...['J1', 'J2', 'J3'].map((node_id) => ({ node_id, kind: 'CHECK' as const, reviewer })),
    { node_id: 'TIMEOUT', executor: { command: ['slow'] } },
    { node_id: 'DIRECTOR', executor: { command: ['direct'] } },
  ],
  edges: [
    { affected_edge: 'CHOICE>PAUSE', guard_expr: 'state.accepted' },
    { affected_edge: 'CHOICE>CLOCK', guard_expr: '!state.accepted' },
    { affected_edge: 'S10>URGENT', guard_expr: 'state.urgent' },
    { affected_edge: 'S10>DISPATCH', guard_expr: '!state.urgent' },
    ...PARTS.map((id) => ({ affected_edge: `DISPATCH>${id}`, v2_primary_class: 'Progress' })),
    { affected_edge: 'J1>SENT_BACK', on: 'reject' },
    { affected_edge: 'J2>J3', v2_primary_class: 'Exception', on: 'reject' },
    { affected_edge: 'J3>SENT_BACK', v2_primary_class: 'Exception', on: 'reject' },
    { affected_edge: 'BUILD>ESCALATE', on: 'reject', guard_expr: 'state.rejection_count > 5' },
    { affected_edge: 'URGENT>BYPASS', guard_expr: 'state.urgent' },
    // The judges decide, not the stage.
    { affected_edge: 'S24>S25', v2_primary_class: 'Meta' },
    ...REWORKS.map((id) => ({
      affected_edge: `PAUSE>${id}`,
      guard_expr: id === 'R2' ? 'state.tool_calls == 0' : 'state.tool_calls > 0',
    })),
    { affected_edge: 'RERUN>COMMAND', v2_primary_class: 'Meta' },
  ],
}
