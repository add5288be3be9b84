/** `writ flow check|import|export` as a user meets them: the built program, real files. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HUB_SIDE, hubTable } from './hub-table.ts'
import { ORIGINAL_COUNTS, originalTable } from './table.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const EXAMPLE = join(process.cwd(), 'examples', 'flows', 'tables')
const folder = mkdtempSync(join(tmpdir(), 'writ-flow-documents-'))

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writ(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'flow', ...args], {
    input,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, out: stdout, err: stderr }
}

function file(name: string, content: string | object): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const FLOW = `type: flow_v1
flow_id: f
title: t
nodes:
  - { node_id: a, kind: WORK, phase_id: P, title: A, actor: x, max_attempts: 1 }
  - { node_id: g, kind: GOAL, phase_id: P, title: G, actor: x, max_attempts: 1 }
edges:
  - { edge_id: E1, source: a, target: g, class: Progress, guard_expr: "state.tool_calls >= 0" }
`
const sound = file('sound.yaml', FLOW)
const broken = file(
  'broken.yaml',
  FLOW.replace('tool_calls', 'tool_cals').replace('target: g', 'target: gg'),
)
const odd = file(
  'odd.yaml',
  FLOW.replace('class: Progress', 'class: Progress, guard_type: enum_match'),
)

const TASK = '00000000-0000-4000-8000-00000000000'
const PLAN = {
  plan: {
    plan_id: `${TASK}0`,
    title: 'p',
    root_task_id: `${TASK}1`,
    created_at: '2026-01-01T00:00:00Z',
    owner_agent_id: 'xiaobo',
    constraints: {},
  },
  nodes: [
    {
      task_id: `${TASK}1`,
      plan_id: `${TASK}0`,
      node_type: 'GOAL',
      title: 'r',
      owner_agent_id: 'xiaobo',
      priority: 0,
      tags: [],
    },
    {
      task_id: `${TASK}2`,
      plan_id: `${TASK}0`,
      node_type: 'ACTION',
      title: 'a',
      owner_agent_id: 'xiaobo',
      priority: 0,
      tags: [],
    },
  ],
  edges: [
    {
      edge_id: `${TASK}3`,
      plan_id: `${TASK}0`,
      from_task_id: `${TASK}1`,
      to_task_id: `${TASK}2`,
      edge_type: 'DECOMPOSE',
      metadata: {},
    },
  ],
}
const plan = file('plan.json', PLAN)
const participants = file(
  'participants.yaml',
  'xiaobo: { command: [work] }\nxiaojing: { human: true }\n',
)

describe('flow check', () => {
  it('says yes, and no with the place in the file', () => {
    expect(writ(['check', sound])).toMatchObject({
      status: 0,
      out: expect.stringContaining('valid'),
    })
    const { status, out } = writ(['check', broken])
    expect(status).toBe(1)
    expect(out).toContain(`${broken}:8:79  /edges/0/guard_expr  expression.unknown_field`)
    expect(out).toContain('did you mean `state.tool_calls`?')
    expect(out).toContain(`${broken}:8:39  /edges/0/target  flow.unknown_ref`)
  })

  it('answers as JSON, for one file and for several', () => {
    const one = JSON.parse(writ(['check', '--json', broken]).out)
    expect(Object.keys(one)).toEqual(['valid', 'violations', 'warnings'])
    expect(one).toMatchObject({
      valid: false,
      violations: [
        { code: 'expression.unknown_field', line: 8, column: 79 },
        { code: 'flow.unknown_ref' },
        { code: 'flow.dead_end' },
      ],
    })
    const several = writ(['check', '--json', sound, broken])
    expect(several.status).toBe(1)
    expect(JSON.parse(several.out)).toMatchObject({
      valid: false,
      files: [
        { file: sound, valid: true },
        { file: broken, valid: false },
      ],
    })
  })

  it('tells places in JSON files too, and reads standard input', () => {
    const json = file(
      'broken.json',
      JSON.stringify({ type: 'flow_v1', flow_id: 'f', nodes: [], edges: [] }, null, 1),
    )
    expect(JSON.parse(writ(['check', '--json', json]).out)).toMatchObject({
      violations: [{ code: 'flow.required', path: '/title', line: 1, column: 1 }],
    })
    expect(writ(['check', '-'], FLOW).status).toBe(0)
    expect(writ(['check', '-'], readFileSync(json, 'utf8')).status).toBe(1)
    expect(
      writ(['check', '-'], 'edge_id,source,target,v2_primary_class\nE1,A,B,Gate\n').status,
    ).toBe(0)
  })

  it('warnings do not refuse, unless they are asked to', () => {
    expect(writ(['check', odd])).toMatchObject({
      status: 0,
      out: expect.stringContaining('flow.guard_type'),
    })
    expect(writ(['check', '--strict', odd]).status).toBe(1)
  })

  it('gives the names of a plan the same ids each time, also after an edit', () => {
    const task = (task_id: string, title: string) => ({ task_id, title, node_type: 'ACTION' })
    const written = (title: string) =>
      JSON.stringify({
        plan: { goal: 'a book' },
        nodes: [task('draft', title), task('print', 'Print')],
        edges: [{ from: 'draft', to: 'print' }],
      })
    const idsOf = (name: string, text: string): readonly string[] => {
      const { out } = writ(['export', file(name, text), '--format', 'json'])
      return JSON.parse(out).nodes.map(({ node_id }: { node_id: string }) => node_id)
    }
    const first = idsOf('named.json', written('Draft'))
    expect(first.length).toBeGreaterThan(1)
    expect(idsOf('named.json', written('Draft'))).toEqual(first)
    const edited = idsOf('named.json', written('Write'))
    expect(edited.filter((id) => first.includes(id)).length).toBeGreaterThan(1)
  }, 60_000)

  it('reads plans whose title lies next to their tasks, and plans whose tasks lie in `plan`', () => {
    const tasks = PLAN.nodes.map(({ task_id, node_type, title }) => ({
      ...{ task_id, node_type, title, owner_agent_id: 'xiaobo' },
    }))
    const { edges } = PLAN
    const forms = [
      { title: 'p', goal: 'g', nodes: tasks, edges },
      { title: 'p', tasks, links: edges },
      { plan: { title: 'p', nodes: tasks, edges } },
    ]
    for (const form of forms) {
      const answer = JSON.parse(writ(['check', '--json', file('head.json', form)]).out)
      expect(answer).toMatchObject({ valid: true, violations: [] })
    }
    const flow = writ(['check', '--json', file('head.json', { flow_id: 'f', nodes: tasks })]).out
    expect(JSON.parse(flow)).toMatchObject({ valid: false })
  })

  it('reads plans with their participants', () => {
    expect(writ(['check', plan, '--participants', participants]).status).toBe(0)
    const without = JSON.parse(writ(['check', '--json', plan]).out)
    expect(without).toMatchObject({
      valid: true,
      warnings: [{ code: 'flow.plan_repaired' }, { code: 'flow.plan_participant' }],
    })
    const empty = file('empty.json', '{"plan": 3, "nodes": "x"}')
    expect(JSON.parse(writ(['check', '--json', empty]).out)).toMatchObject({
      valid: false,
      violations: [{ code: 'flow.plan_without_work' }],
    })
    const nobody = file('nobody.yaml', 'xiaojing: { human: true }\n')
    expect(JSON.parse(writ(['check', '--json', plan, '--participants', nobody]).out)).toMatchObject(
      {
        valid: false,
        violations: [{ code: 'flow.plan_participant', path: '/nodes/1/owner_agent_id' }],
      },
    )
    const wrong = file('wrong.yaml', 'xiaobo: { comand: [x] }\n')
    expect(JSON.parse(writ(['check', '--json', plan, '--participants', wrong]).out)).toMatchObject({
      valid: false,
      violations: [{ code: 'flow.participant', path: '/xiaobo' }],
    })
  })

  it('refuses what it cannot read, with the codes of readers', () => {
    expect(writ(['check', join(folder, 'none.yaml')]).status).toBe(2)
    expect(writ(['check']).status).toBe(2)
    const twice = file('twice.yaml', 'a: 1\na: 2\n')
    expect(JSON.parse(writ(['check', '--json', twice]).out)).toMatchObject({
      violations: [{ code: 'document.duplicate_key', line: 2 }],
    })
    const bytes = join(folder, 'bytes.yaml')
    writeFileSync(bytes, Buffer.from([0xff, 0xfe, 0x00]))
    expect(JSON.parse(writ(['check', '--json', bytes]).out)).toMatchObject({
      violations: [{ code: 'document.not_json' }],
    })
  })
})

describe('runs', () => {
  const place = join(folder, 'place')
  const here = (args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: place,
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, XDG_STATE_HOME: join(folder, 'state'), WRIT_HOME: '' },
    })
    return { status, out: stdout, err: stderr }
  }

  it('are drawn with their place and what was found, and tables are walked as they are', () => {
    mkdirSync(place)
    expect(here(['init', '--no-pass']).status).toBe(0)
    const closed = file('closed.yaml', FLOW.replace('>= 0', '> 5'))
    const run = here(['flow', 'run', closed, '--workspace', '.', '--json'])
    expect(run.status).toBe(1)
    const drawn = here(['flow', 'export', JSON.parse(run.out).run_id])
    expect(drawn).toMatchObject({ status: 0, err: '' })
    expect(drawn.out).toContain('n0["▶ A<br/>a<br/>held"]')
    expect(drawn.out).toContain('-->|"✖ E1"|')
    expect(drawn.out).toContain('class n0 here')
    const table = file('walked.csv', 'edge_id,source,target,v2_primary_class\nE1,A,B,Progress\n')
    expect(
      JSON.parse(here(['flow', 'run', table, '--workspace', '.', '--json']).out),
    ).toMatchObject({
      flow_id: 'walked',
      status: 'DONE',
    })
    expect(here(['flow', 'export', 'run-00000000-0000-7000-8000-000000000000']).status).not.toBe(0)
  }, 120_000)
})

describe('flow import and export', () => {
  it('a table of the original’s size goes in and comes out the same', () => {
    const edges = file('original.csv', originalTable())
    const flow = join(folder, 'original.yaml')
    const { status, out } = writ(['import', '--edges', edges, '--out', flow, '--json'])
    expect(status).toBe(0)
    const answer = JSON.parse(out)
    expect(Object.keys(answer)).toEqual(['flow_id', 'nodes', 'edges', 'classes', 'findings'])
    expect(answer).toMatchObject({ flow_id: 'original', edges: 146, classes: ORIGINAL_COUNTS })
    expect(answer.findings.every(({ level }: { level: string }) => level === 'warning')).toBe(true)
    expect(writ(['check', flow]).status).toBe(0)
    expect(writ(['export', flow, '--format', 'csv']).out).toBe(originalTable())
    const back = join(folder, 'back.csv')
    expect(writ(['export', flow, '--out', back]).status).toBe(0)
    expect(readFileSync(back, 'utf8')).toBe(originalTable())
  }, 60_000)

  it('proposes a side file that can be taken, and keeps what the given one says', () => {
    const edges = file('hub.csv', hubTable())
    const [mine, proposed] = [file('mine.json', JSON.stringify(HUB_SIDE)), join(folder, 'p.yaml')]
    const { status, out } = writ(['import', edges, '--side', mine, '--propose', proposed, '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(out).proposals).toContainEqual({
      node: { node_id: 'CLOCK', call: true },
      why: expect.stringContaining('27 Gate edges lead to it'),
    })
    const taken = readFileSync(proposed, 'utf8')
    expect(taken).toContain('call: true')
    expect(taken).toContain('guard_expr: state.accepted')
    const check = JSON.parse(writ(['check', '--json', edges, '--side', proposed]).out)
    expect(check.valid).toBe(true)
    const codes = check.warnings.map(({ code }: { code: string }) => code)
    expect(codes).not.toContain('flow.way_back')
    const again = ['import', edges, '--propose', proposed, '--out', join(folder, 'h.yaml')]
    const text = writ([...again, '--force'])
    expect(text.out).toContain('proposed  `CLOCK` {"call":true}: ')
    expect(text.out).toContain(`take it with \`--side ${proposed}\``)
  }, 60_000)

  it('leaves a file that exists as it is, and replaces it with `--force`', () => {
    const edges = file('kept.csv', 'edge_id,source,target,v2_primary_class\nE1,A,B,Flow\n')
    const kept = file('kept.yaml', 'mine: yes\n')
    for (const words of [
      ['import', edges, '--out', kept],
      ['import', edges, '--propose', kept],
      ['export', edges, '--out', kept],
    ]) {
      const { status, err } = writ(words)
      expect(status).not.toBe(0)
      expect(err).toContain('there is a file of that name')
      expect(err).toContain('--force')
      expect(readFileSync(kept, 'utf8')).toBe('mine: yes\n')
    }
    expect(writ(['export', edges, '--out', kept, '--force']).status).toBe(0)
    expect(readFileSync(kept, 'utf8')).not.toBe('mine: yes\n')
  }, 60_000)

  it('the example is sound, and its export has the same bytes', () => {
    const [edges, side] = [join(EXAMPLE, 'edges.csv'), join(EXAMPLE, 'side.yaml')]
    const flow = join(folder, 'example.yaml')
    expect(writ(['import', '--edges', edges, '--side', side, '--out', flow])).toMatchObject({
      status: 0,
      err: '',
    })
    expect(JSON.parse(writ(['check', '--json', edges, '--side', side]).out)).toEqual({
      valid: true,
      violations: [],
      warnings: [],
    })
    expect(writ(['export', flow, '--format', 'csv']).out).toBe(readFileSync(edges, 'utf8'))
  }, 60_000)

  it('findings have their place in the table or in the side file', () => {
    const edges = file(
      'edges.csv',
      'edge_id,source,target,v2_primary_class,guard_expr\nE1,A,B,Gate,state.nothing\nE2,B,C,Nothing,\n',
    )
    const side = file('side.yaml', 'edges:\n  - affected_edge: E2\n    guard_expr: state.score >\n')
    const { status, out } = writ([
      'import',
      '--edges',
      edges,
      '--side',
      side,
      '--out',
      join(folder, 'x.yaml'),
      '--json',
    ])
    expect(status).toBe(1)
    expect(JSON.parse(out).findings).toMatchObject([
      { level: 'error', code: 'flow.table_class', file: edges, line: 3, column: 8 },
      { level: 'error', code: 'expression.unknown_field', file: edges, line: 2, column: 13 },
      { level: 'error', code: 'expression.syntax', file: side, line: 3 },
      { level: 'warning', code: 'flow.guard_unused', file: side, line: 3, column: 17 },
      { level: 'warning', code: 'flow.unmeant_start', file: edges, line: 3, column: 6 },
    ])
  })

  it('a flow without a table is written with the columns of the seed', () => {
    const { out, status } = writ(['export', sound, '--format', 'csv'])
    expect(status).toBe(0)
    expect(out.split('\n')[0]).toMatch(
      /^edge_id,edge_signature,source,.*,evidence,guard_expr,on_guard_fail,policy_refs,audit_invariant_refs,trust_requirement$/,
    )
    expect(out.split('\n')[1]).toMatch(/^E1,a->g,a,g,/)
  })

  it('columns that a table did not have are added on demand, and missed otherwise', () => {
    const edges = file('few.csv', 'edge_id,source,target,v2_primary_class\nE1,A,B,Gate\n')
    const side = file('guard.json', {
      edges: [{ affected_edge: 'E1', guard_expr: 'state.gate_passed' }],
    })
    const flow = join(folder, 'few.json')
    writ(['import', '--edges', edges, '--side', side, '--out', flow])
    expect(writ(['export', flow, '--format', 'csv'])).toMatchObject({
      out: readFileSync(edges, 'utf8'),
      err: expect.stringContaining('guard_expr'),
    })
    expect(writ(['export', flow, '--format', 'csv', '--all-columns']).out.split('\n')[1]).toBe(
      'E1,A,B,Gate,state.gate_passed,,,,',
    )
  })

  it('draws in every format, by name or by the file’s ending, with the place marked', () => {
    expect(writ(['export', sound, '--at', 'a']).out).toContain('▶ A')
    expect(writ(['export', sound, '--format', 'dot', '--at', 'a']).out).toMatch(
      /^digraph flow \{[\s\S]*penwidth=4/,
    )
    const svg = join(folder, 'flow.svg')
    expect(writ(['export', sound, '--out', svg, '--at', 'g']).status).toBe(0)
    expect(readFileSync(svg, 'utf8')).toContain('class="here"')
    expect(JSON.parse(writ(['export', sound, '--format', 'json']).out)).toMatchObject({
      flow_id: 'f',
    })
    expect(
      writ(['export', plan, '--participants', participants, '--format', 'yaml']).out,
    ).toContain('kind: CHECK')
  })

  it('shows what is wrong in the drawing, and can be switched off', () => {
    expect(writ(['export', broken]).out).toContain('✖')
    expect(writ(['export', broken, '--no-findings']).out).not.toContain('✖')
  })

  it('refuses what cannot be drawn, marked or written', () => {
    const shapeless = file('shapeless.yaml', 'type: flow_v1\n')
    expect(writ(['export', shapeless])).toMatchObject({
      status: 1,
      err: expect.stringContaining('flow.required'),
    })
    expect(writ(['export', sound, '--at', 'gg'])).toMatchObject({
      status: 2,
      err: expect.stringContaining('did you mean `g`?'),
    })
    expect(writ(['export', sound, '--format', 'png']).status).toBe(2)
    expect(writ(['export', sound, '--out', join(folder, 'no', 'where.svg')]).status).toBe(4)
    expect(writ(['import']).status).toBe(2)
  })
})
