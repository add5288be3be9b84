/** Tables of edges read as flows, walked, and written back as they were. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GRAPH_LIMITS } from '../../src/base/index.ts'
import { toYaml } from '../../src/cli/rules/survey-text.ts'
import { checkDocument, type Flow, readYaml } from '../../src/contracts/index.ts'
import {
  checkFlow,
  classCounts,
  exportTable,
  importTable,
  lostColumns,
} from '../../src/flow/index.ts'
import { readCsv } from '../../src/flow/tables/csv.ts'
import { Host } from '../flow-runtime/host.ts'
import { SEED_POLICIES } from '../flow-runtime/seed-policies.ts'
import { cell, ORIGINAL_COUNTS, originalTable } from './table.ts'

const OPTIONS = { flowId: 'table', title: 'A table' }
const read = (text: string, side?: unknown) => importTable(text, side, OPTIONS)

function flowOf(text: string, side?: unknown): Flow {
  const { flow } = read(text, side)
  if (flow === null) throw new Error('not read')
  return flow
}

const findingsOf = (text: string, side?: unknown) =>
  read(text, side).findings.map(
    ({ level, code, file, line, column, path }) =>
      `${level} ${code} ${file === 'edges' ? `${line}:${column}` : path}`,
  )

describe('a table of the original’s size', () => {
  const text = originalTable()

  it('is read whole, is a flow, and has nothing that refuses it', () => {
    const { flow, findings } = read(text)
    expect(findings).toEqual([])
    expect(flow?.edges).toHaveLength(146)
    expect(classCounts(flow?.edges ?? [])).toEqual(ORIGINAL_COUNTS)
    expect(checkDocument(flow)).toMatchObject({ valid: true, contract: 'flow_v1' })
    expect(checkFlow(flow).violations).toEqual([])
    expect(flow?.nodes[0]).toEqual({
      node_id: 'P0_阶段',
      kind: 'WORK',
      title: 'P0_阶段',
      phase_id: 'P0_阶段',
      actor: 'P0_阶段',
      max_attempts: 3,
    })
  })

  it('can be walked to its end', () => {
    const host = new Host(flowOf(text)).start().run()
    expect(host.status).toBe('DONE')
    expect(host.entered).toContain('END1')
    expect(host.entered).toContain('P60_阶段')
    host.verify()
  })

  it.each(['\r\n', '\n', '\r'])('is written back to the byte (%j)', (newline) => {
    const original = originalTable(newline)
    expect(exportTable(flowOf(original))).toBe(original)
  })

  it('survives the file that it is kept in', async () => {
    const reading = await readYaml(toYaml(flowOf(text) as never), GRAPH_LIMITS)
    expect(reading).toEqual({ ok: true, value: flowOf(text) })
  })
})

describe('what a table may be like', () => {
  const table = (...rows: readonly string[]) =>
    ['edge_id,source,target,v2_primary_class', ...rows].join('\n')

  it('quotes, line ends inside cells, and cells that need none', () => {
    const text = `\uFEFF"edge_id","source","target","label"\r\n"E1","A","B","two\r\nlines, ""quoted"""\r\n`
    const flow = flowOf(text)
    expect(flow.edges[0]?.label).toBe('two\r\nlines, "quoted"')
    expect(flow.table).toMatchObject({ quotes: 'all', bom: true, newline: 'crlf' })
    expect(exportTable(flow)).toBe(text)
  })

  it('irregular writing comes back as it was', () => {
    const text =
      'edge_id,source,target,v2_primary_class,x\n"E1",A,"B",Gate,\n\nE2,B,C,Gate\nE3,C,D,Gate,1,2,3\n\n\n'
    const flow = flowOf(text)
    expect(exportTable(flow)).toBe(text)
    expect(findingsOf(text)).toEqual(['warning flow.table_row 4:1', 'warning flow.table_row 5:1'])
  })

  it('a changed row is written again, the others stay', () => {
    const text =
      'edge_id,source,target,v2_primary_class,note\n"E1",A,B,GateTransitionObject,"x"\n"E2",B,C,Gate,y\n'
    const flow = flowOf(text)
    const [first, ...rest] = flow.edges
    const edges = [{ ...first, class: 'Progress' as const, target: 'Z' }, ...rest]
    expect(exportTable({ ...flow, edges } as Flow)).toBe(
      'edge_id,source,target,v2_primary_class,note\nE1,A,Z,ProgressTransitionObject,x\n"E2",B,C,Gate,y\n',
    )
  })

  it('the five added columns are fields of the edge, with lists parted by semicolons', () => {
    const text =
      table().replace(
        'class',
        'class,guard_expr,on_guard_fail,policy_refs,audit_invariant_refs,trust_requirement',
      ) +
      '\nE1,A,B,Gate,state.tool_calls > 0,rerun,TIME_HARD_FLOOR; OTHER,ORCH_LOG_IMMEDIATE_UPDATE,independent_verification_required\n'
    const flow = flowOf(text)
    expect(flow.edges[0]).toMatchObject({
      guard_expr: 'state.tool_calls > 0',
      on_guard_fail: 'rerun',
      policy_refs: ['TIME_HARD_FLOOR', 'OTHER'],
      audit_invariant_refs: ['ORCH_LOG_IMMEDIATE_UPDATE'],
      trust_requirement: 'independent_verification_required',
    })
    expect(exportTable(flow)).toBe(text)
  })

  it.each([
    ['an empty text', '', ['error flow.table_text 1:1']],
    ['no ends at all', 'a,b\n1,2\n', ['error flow.table_column 1:1']],
    ['a class of another name', table('E1,A,B,Blah'), ['error flow.table_class 2:8']],
    ['an id twice', table('E1,A,B,Gate', 'E1,B,C,Gate'), ['error flow.table_id 3:1']],
    ['a row without a target', table('E1,A,,Gate'), ['error flow.table_cell 2:6']],
    [
      'a quotation mark that stays open',
      table('E1,"A,B,Gate'),
      ['error flow.table_text 2:4', 'warning flow.table_row 2:1', 'error flow.table_cell 2:1'],
    ],
    ['something behind a closing mark', table('E1,"A"x,B,Gate'), ['error flow.table_text 2:4']],
    [
      'a column twice',
      'edge_id,source,target,v2_primary_class,source\nE1,A,B,Gate,C',
      ['warning flow.table_column 1:40'],
    ],
    ['no class', 'edge_id,source,target\nE1,A,B', ['error flow.table_column 1:1']],
    ['no id', 'source,target,v2_primary_class\nA,B,Gate', ['warning flow.table_column 1:1']],
    [
      'a misspelt column',
      'edge_id,source,target,v2_primary_clas\nE1,A,B,Gate',
      ['error flow.table_column 1:1', 'warning flow.table_column 1:23'],
    ],
    [
      'a signature of other ends',
      'edge_id,edge_signature,source,target,v2_primary_class\nE1,A->C,A,B,Gate',
      ['warning flow.table_signature 2:4'],
    ],
    [
      'a word that is none of the list',
      `${table().replace('class', 'class,on_guard_fail')}\nE1,A,B,Gate,retry`,
      ['error flow.table_cell 2:13'],
    ],
    [
      'mixed line ends',
      'edge_id,source,target,v2_primary_class\r\nE1,A,B,Gate\nE2,B,C,Gate',
      ['warning flow.table_text 1:1'],
    ],
  ])('tells of %s', (_, text, want) => {
    expect(findingsOf(text)).toEqual(want)
  })

  it('ends are taken from the signature when they stand nowhere else', () => {
    const flow = flowOf('edge_id,edge_signature,v2_primary_class\nE1,A -> B,Gate\n')
    expect(flow.edges[0]).toMatchObject({ source: 'A', target: 'B' })
  })

  it('semicolons and tabs part cells when the header has no comma', () => {
    for (const mark of [';', '\t']) {
      const text = table('E1,A,B,Gate', '').replaceAll(',', mark)
      expect(exportTable(flowOf(text))).toBe(text)
    }
  })

  it('what is misspelt is named with what is meant', () => {
    const hintsOf = (text: string) => read(text).findings.map(({ hint }) => hint)
    expect(hintsOf('edge_id,source,targt\n1,A,B\n')).toContain('is `targt` meant to be `target`?')
    const classes = 'edge_id,source,target,class\n1,A,B,Progres\n2,B,C,zzz\n'
    expect(hintsOf(classes)).toContain('did you mean `Progress`?')
    expect(hintsOf(classes).join()).toContain('one of: Progress, Gate')
  })

  it('names of the object prototype are names', () => {
    const text =
      'edge_id,source,target,v2_primary_class,__proto__,constructor,toString\n__proto__,constructor,__proto__,Gate,a,b,c\n'
    const flow = flowOf(text)
    expect(flow.nodes.map(({ node_id }) => node_id)).toEqual(['constructor', '__proto__'])
    expect(exportTable(flow)).toBe(text)
  })
})

describe('the side file', () => {
  const text =
    'edge_id,source,target,v2_primary_class,guard_expr\nE131,A,B,GateTransitionObject,state.gate_passed\nE2,B,C,Progress,\n'

  /** The seed's own examples, as they stand. */
  const seed = {
    edges: [
      {
        affected_edge: 'E131',
        v2_primary_class: 'GateTransitionObject',
        guard_expr: 'state.phase_completed && state.cumulative_duration >= state.minimum_duration',
        guard_scope: 'phase',
        guard_type: 'numeric',
        on_guard_fail: 'rerun',
        guard_evidence_source:
          'output/implementation/logs/phase_{X}_timing.json:cumulative_duration',
      },
    ],
    state: {
      phase_id: 'string',
      tool_calls: 'integer',
      validator_verdict: 'APPROVE|REJECT|PENDING',
    },
    policies: SEED_POLICIES,
    access_rule: {
      actor: 'director',
      resource_path: 'output/phase_x/agent_output.md',
      access_mode: 'read',
      access_allowed: false,
      reason: 'file-ban',
    },
    claim_verification: {
      claim_id: 'C-EXT-023',
      trust_level: 'external_unverified',
      evidence_ids: ['EVID-112', 'EVID-209'],
      verification_status: 'verified',
    },
    invariants: [
      {
        invariant_id: 'ORCH_LOG_IMMEDIATE_UPDATE',
        invariant_expr: 'event.phase_end -> state.log_updated_after_phase == true',
        check_timing: 'post_phase',
        severity: 'high',
        fail_action: 'block',
      },
    ],
  }

  it('of the seed is read literally, singular forms and all', () => {
    const flow = flowOf(text, seed)
    expect(flow.edges[0]).toMatchObject({ guard_scope: 'phase', on_guard_fail: 'rerun' })
    expect(flow.access_rules).toHaveLength(1)
    expect(flow.claims).toMatchObject([{ claim_id: 'C-EXT-023', node_id: 'A', actor: 'unknown' }])
    expect(checkFlow(flow).violations).toEqual([])
    expect(findingsOf(text, seed)).toEqual(['warning flow.claim_unplaced /claim_verification'])
    expect(lostColumns(flow)).toEqual([
      'on_guard_fail',
      'guard_scope',
      'guard_type',
      'guard_evidence_source',
    ])
  })

  it('wins over the table, adds nodes, and places its findings', () => {
    const side = {
      flow_id: 'f',
      nodes: [
        { node_id: 'C', kind: 'GOAL', phase_id: 'end' },
        { node_id: 'D', max_attempts: 1 },
      ],
      edges: [{ affected_edge: 'E2', guard_expr: 'state.nothing' }, { affected_edge: 'E9' }],
      access_rules: [{ actor: 'x', resource_path: 'a', access_mode: 'read', access_allowed: true }],
      access_rule: [{ actor: 'y', resource_path: 'b', access_mode: 'read', access_allowed: true }],
    }
    const { flow, findings, originOf } = read(text, side)
    expect(flow?.nodes.map(({ node_id, kind }) => `${node_id} ${kind}`)).toEqual([
      'A WORK',
      'B WORK',
      'C GOAL',
      'D WORK',
    ])
    expect(findings).toMatchObject([
      { code: 'flow.table_edge', path: '/edges/1/affected_edge' },
      { level: 'warning', code: 'flow.table_node', path: '/nodes/1/node_id' },
    ])
    expect(originOf('/edges/1/guard_expr')).toEqual({ file: 'side', path: '/edges/0/guard_expr' })
    expect(originOf('/edges/0/guard_expr')).toEqual({ file: 'edges', line: 2, column: 31 })
    expect(originOf('/edges/0/class')).toEqual({ file: 'edges', line: 2, column: 10 })
    expect(originOf('/nodes/2/kind')).toEqual({ file: 'side', path: '/nodes/0/kind' })
    expect(originOf('/nodes/1/node_id')).toEqual({ file: 'edges', line: 2, column: 8 })
    expect(originOf('/access_rules/0/actor')).toEqual({
      file: 'side',
      path: '/access_rules/0/actor',
    })
    expect(originOf('/access_rules/1/actor')).toEqual({
      file: 'side',
      path: '/access_rule/0/actor',
    })
    expect(originOf('/flow_id')).toEqual({ file: 'side', path: '/flow_id' })
    expect(originOf('/table')).toBeNull()
  })

  it('that breaks its contract is reported and left out', () => {
    expect(findingsOf(text, { polices: [] })).toEqual(['error flow.unknown_key /polices'])
  })
})

describe('laws', () => {
  const texts = fc.string({
    unit: fc.constantFrom('a', '"', ',', '\n', '\r', ';', ' ', '阶', '\uFEFF'),
  })

  it('any text is read without a throw, and nothing of it is lost', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { bom, rows, tail, newline, isMixed } = readCsv(text)
        if (isMixed) return
        const ends = { lf: '\n', crlf: '\r\n', cr: '\r' }
        const body = rows.map(({ raw }) => raw).join(ends[newline])
        // A text of blank lines alone has no row to belong to.
        const whole = `${bom ? '\uFEFF' : ''}${body}${tail.map((end) => ends[end]).join('')}`
        expect(whole).toBe(text)
      }),
    )
  })

  it('a table that is read is written back to the byte, no matter what its cells say', () => {
    const row = fc.tuple(texts, texts, texts, texts)
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
        const lines = rows.map(([id, label, note, kind], index) =>
          [id, `S${index}`, 'T', label, `Gate${kind}`, note].map(cell).join(','),
        )
        const text = ['edge_id,source,target,label,v2_primary_class,note', ...lines, ''].join('\n')
        const flow = flowOf(text)
        expect(checkDocument(flow).valid).toBe(true)
        expect(exportTable(flow)).toBe(text)
      }),
    )
  })

  it('any text and any side file are answered', () => {
    const wide = Array.from({ length: 600 }, (_, index) => `c${index}`).join(',')
    expect(findingsOf(`source,target,${wide}\nA,B\n`)).toEqual(['error flow.table_column 1:1'])
    fc.assert(
      fc.property(fc.oneof(texts, fc.string()), fc.jsonValue(), (text, side) => {
        const { flow } = read(text, side)
        if (flow !== null) expect(checkDocument(flow).valid).toBe(true)
      }),
    )
  })
})
