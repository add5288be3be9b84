/** Cases of flow tests: time passes without waiting, people and failures are scripted, differences have a cause. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  checkDocument,
  type Flow,
  type FlowTest,
  type FlowTestCase,
} from '../../src/contracts/index.ts'
import {
  compileFlow,
  coverageOf,
  importTable,
  junitXml,
  runTestCase,
  type TestCaseResult,
  unknownNames,
} from '../../src/flow/index.ts'
import { check, compiled, edge, node, work } from '../flow-runtime/host.ts'

const PHASED = parse(readFileSync('examples/flows/phased/flow.yaml', 'utf8')) as Flow
const PHASED_TEST = parse(readFileSync('examples/flows/phased/flow.test.yaml', 'utf8')) as FlowTest

function testOf(one: Omit<FlowTestCase, 'name'>): FlowTest {
  return { type: 'flow_test_v1', flow: 'f', cases: [{ name: 'case', ...one }] }
}

/** Runs one case, which has to keep its contract. */
function walk(parts: Partial<Flow>, one: Omit<FlowTestCase, 'name'>): TestCaseResult {
  const test = testOf(one)
  expect(checkDocument(test, { as: 'flow_test_v1' }).violations).toEqual([])
  const [first] = test.cases
  if (first === undefined) throw new Error('there is a case')
  return runTestCase(compiled(parts), test, first)
}

function told({ differences }: TestCaseResult): readonly string[] {
  return differences.map(({ at, says }) => `${at}: ${says}`)
}

const LINE = { nodes: [work('a'), work('b')], edges: [edge('a', 'b')] }

describe('evidence', () => {
  it('of the ways to CHECK nodes is read from what the work has staged', () => {
    const guarded = {
      guard_expr: 'state.pages >= 4',
      guard_evidence_source: 'out/book.json:pages',
    }
    const parts: Partial<Flow> = {
      nodes: [work('a'), check('c', 'a'), check('d', 'a'), node('z')],
      edges: [edge('a', 'c', guarded), edge('c', 'd', guarded), edge('d', 'z')],
      state: { fields: { pages: { type: 'int', initial: 0 } } },
    }
    const wrote = (pages: number) => ({
      nodes: { a: [{ files: { 'out/book.json': { pages } } }] },
    })
    const good = walk(parts, { ...wrote(4), expect: { status: 'DONE', passes: ['a>c', 'c>d'] } })
    expect(told(good)).toEqual([])
    const expected = { status: 'BLOCKED' as const, avoids: ['c'], files: { 'out/book.json': null } }
    expect(told(walk(parts, { ...wrote(3), expect: expected }))).toEqual([])
  })
})

describe('time', () => {
  it('waits, retries and signals take no real time', () => {
    const nodes = [work('a', { after: 86_400, retry: { initial: 3_600 } }), work('b')]
    const edges = [edge('a', 'b', { signal: 'go' })]
    const one = walk(
      { nodes, edges },
      {
        nodes: { a: [{ failure: { exit_status: 3 } }] },
        events: [{ signal: 'go', data: { n: 1 } }],
        expect: { status: 'DONE', edges: ['a>b'], attempts: { a: 2, b: 1 } },
      },
    )
    expect(told(one)).toEqual([])
  })

  it('a deadline comes while an attempt is under way, and while a person is waited for', () => {
    const nodes = [work('a', { deadline: 60 }), node('help')]
    const edges = [edge('a', 'help', { class: 'Exception' })]
    const late = walk(
      { nodes, edges },
      { nodes: { a: [{ seconds: 61 }] }, expect: { passes: ['a', 'help'] } },
    )
    expect(told(late)).toEqual([])
    const intime = walk(
      { nodes, edges },
      { nodes: { a: [{ seconds: 60 }] }, expect: { status: 'DONE', avoids: ['help'] } },
    )
    expect(told(intime)).toEqual([])
    const asked = [work('a', { executor: { human: 'ann' }, deadline: 60 }), node('help')]
    const expected = { findings: ['flow.deadline' as const], passes: ['help'] }
    expect(told(walk({ nodes: asked, edges }, { expect: expected }))).toEqual([])
    const stopped = { events: [{ pass: 59 }, { stop: true as const }] }
    const waits = walk(
      { nodes: asked, edges },
      { ...stopped, expect: { status: 'WAITING', waits_at: ['a'], avoids: ['help'] } },
    )
    expect(told(waits)).toEqual([])
  })

  it('attempts at the same time end in the order of their ends', () => {
    const nodes = [work('slow'), work('quick'), node('slowly'), node('quickly')]
    const edges = [edge('slow', 'slowly'), edge('quick', 'quickly')]
    const one = walk(
      { nodes, edges },
      {
        nodes: { slow: [{ seconds: 9 }], quick: [{ seconds: 2 }] },
        expect: { edges: ['quick>quickly', 'slow>slowly'] },
      },
    )
    expect(told(one)).toEqual([])
  })

  it('the time of a node, of the run and of a phase bound what attempts take', () => {
    const timeout = walk(
      { nodes: [work('a', { timeout: 5, max_attempts: 2 })] },
      { nodes: { a: [{ seconds: 6 }] }, expect: { status: 'DONE', attempts: { a: 2 } } },
    )
    expect(told(timeout)).toEqual([])
    const parts = { ...LINE, budgets: { seconds: 10 } }
    const spent = walk(parts, {
      nodes: { a: [{ seconds: 8 }], b: [{ seconds: 8 }] },
      expect: { status: 'BLOCKED', findings: [{ code: 'flow.budget', node: 'b' }] },
    })
    expect(told(spent)).toEqual([])
    const raised = walk(parts, {
      nodes: { a: [{ seconds: 8 }], b: [{ seconds: 8 }, { seconds: 8 }] },
      events: [{ budget: { seconds: 100 } }],
      expect: { status: 'DONE', attempts: { b: 2 } },
    })
    expect(told(raised)).toEqual([])
  })

  it('periodic invariants are judged every ten seconds of an attempt', () => {
    const invariants = [
      {
        invariant_id: 'SOON',
        invariant_expr: "event.type != 'tick'",
        check_timing: 'periodic' as const,
        severity: 'high' as const,
        fail_action: 'alert' as const,
      },
    ]
    const one = (seconds: number, times: number) =>
      walk(
        { nodes: [work('a')], invariants },
        {
          nodes: { a: [{ seconds }] },
          expect: { findings: [{ code: 'flow.invariant_violated', invariant: 'SOON', times }] },
        },
      )
    expect(told(one(35, 3))).toEqual([])
    expect(told(one(9, 1))).toHaveLength(1)
  })
})

describe('people', () => {
  const nodes = [work('a'), check('c', 'a', { reviewer: { human: 'ann' } })]
  const edges = [
    edge('a', 'c'),
    edge('c', 'a', { class: 'Loop', guard_expr: "state.validator_verdict == 'REJECT'" }),
  ]

  it.each(['MODIFY', 'REJECT'] as const)('answer %s as participants, or are waited for', (no) => {
    const yes = walk(
      { nodes, edges },
      {
        nodes: { c: [{ verdict: no, suggestions: ['shorter'] }, { verdict: 'APPROVE' }] },
        expect: {
          status: 'DONE',
          attempts: { a: 2, c: 2 },
          state: { validator_verdict: 'APPROVE' },
        },
      },
    )
    expect(told(yes)).toEqual([])
    const none = walk({ nodes, edges }, { expect: { status: 'WAITING', waits_at: ['c'] } })
    expect(told(none)).toEqual([])
  })

  it('skip, cancel, unblock, retry and give up', () => {
    const failing = { a: [{ error: { code: 'X' }, times: 3 }] }
    const retried = { answer: 'retry' as const, node: 'a' }
    const done = walk(LINE, { nodes: failing, events: [retried], expect: { status: 'DONE' } })
    expect(told(done)).toEqual([])
    const given = { answer: 'abandon' as const, node: 'a' }
    const failed = walk(LINE, { nodes: failing, events: [given], expect: { status: 'FAILED' } })
    expect(told(failed)).toEqual([])
    const skipped = walk(LINE, {
      nodes: failing,
      events: [{ skip: 'a' }],
      expect: { status: 'DONE', findings: ['flow.skipped'] },
    })
    expect(told(skipped)).toEqual([])
    const cancelled = walk(LINE, {
      nodes: failing,
      events: [{ cancel: true }],
      expect: { status: 'CANCELLED' },
    })
    expect(told(cancelled)).toEqual([])
  })

  it('an entry that nothing waits for, and one that is never reached, are differences', () => {
    const unasked = walk(LINE, {
      nodes: { a: [{ error: { code: 'X' }, times: 3 }] },
      events: [
        { answer: 'retry', node: 'b' },
        { answer: 'retry', node: 'a' },
      ],
      expect: { status: 'DONE' },
    })
    expect(told(unasked)).toEqual(['events: answer retry at b: nothing waits for it'])
    const late = walk(LINE, { events: [{ cancel: true }], expect: { status: 'DONE' } })
    expect(told(late)).toEqual(['events: cancel: the run had ended'])
  })
})

describe('failures', () => {
  it('a line that fails is tried again and does not count; an endpoint that declines fails', () => {
    const http = { nodes: [work('a', { executor: { http: 'https://h.example/' } })] }
    const passing = walk(http, {
      nodes: {
        a: [{ failure: { http_status: 503 }, times: 3 }, { failure: { unreachable: true } }],
      },
      expect: { status: 'DONE', attempts: { a: 1 }, lacks: ['flow.attempt_failed'] },
    })
    expect(told(passing)).toEqual([])
    const declined = walk(http, {
      nodes: { a: [{ failure: { http_status: 403, body: 'no' } }] },
      expect: { status: 'DONE', attempts: { a: 2 }, findings: ['flow.attempt_failed'] },
    })
    expect(told(declined)).toEqual([])
  })

  it('invalid outputs, another task, blocked operations, a refused promotion', () => {
    const parts = { nodes: [work('a'), check('c', 'a')], edges: [edge('a', 'c')] }
    const said = walk(parts, {
      nodes: { a: [{ outputs: ['?', '?', '?', '?', '?'] }] },
      expect: { status: 'DONE', findings: ['flow.output_invalid'], attempts: { a: 2 } },
    })
    expect(told(said)).toEqual([])
    const wrong = walk(parts, {
      nodes: { a: [{ task_id: 'other' }, { blocked: ['law.X'] }] },
      expect: { findings: ['flow.task_mismatch', 'flow.incomplete'] },
    })
    expect(told(wrong)).toEqual([])
    const refused = walk(parts, {
      nodes: { a: [{ promotion: 'refused' }] },
      expect: { status: 'BLOCKED', findings: ['flow.promotion_refused'] },
    })
    expect(told(refused)).toEqual([])
  })

  it('a Rollback takes back what was promoted', () => {
    const nodes = [work('a'), check('ok', 'a'), work('b'), node('end', { kind: 'GOAL' })]
    const edges = [
      edge('a', 'ok'),
      edge('ok', 'b'),
      edge('b', 'a', { class: 'Rollback', guard_expr: 'state.attempt_count < 2' }),
      edge('b', 'end', { guard_expr: 'state.attempt_count >= 2' }),
    ]
    const one = walk(
      { nodes, edges },
      {
        files: { kept: 'as it was', gone: 'old' },
        nodes: {
          a: [{ files: { kept: 'changed', gone: null } }, { files: { fresh: { n: 1 } } }],
        },
        expect: {
          status: 'DONE',
          passes: ['b>a', 'a', 'b>end'],
          files: { kept: 'as it was', gone: 'old', fresh: { n: 1 } },
        },
      },
    )
    expect(told(one)).toEqual([])
  })
})

describe('differences', () => {
  const fields = { fields: { pages: { type: 'int' as const, initial: 3 } } }
  const guarded = edge('a', 'b', { guard_expr: 'state.pages >= 10', on_guard_fail: 'block' })

  it('names the first divergence with what the guard read', () => {
    const { differences, passed, status } = walk(
      { ...LINE, edges: [guarded], state: fields },
      { expect: { status: 'DONE', edges: ['a>b'], passes: ['a', 'b'], state: { pages: 4 } } },
    )
    expect([passed, status]).toEqual([false, 'BLOCKED'])
    expect(differences.map(({ at }) => at)).toEqual([
      'status',
      'edges[0]',
      'passes[1]',
      'state.pages',
    ])
    expect(differences[1]).toMatchObject({
      says: 'at the start: expected a>b, nothing followed',
      because: [
        'a>b: its guard `state.pages >= 10` was false with state.pages = 3',
        expect.stringContaining('flow.guard_false'),
      ],
    })
    expect(differences[0]?.because[0]).toContain('a: ')
  })

  it('says of every expectation what is otherwise', () => {
    const one = walk(LINE, {
      expect: {
        status: 'FAILED',
        nodes: ['a'],
        avoids: ['b'],
        attempts: { a: 2 },
        findings: ['flow.budget', { code: 'flow.escalated', times: 1 }],
        policies: { won: ['P'] },
        claims: { C: 'verified' },
        refused: [{ node: 'a', path: 'x', mode: 'read' }],
        waits_at: ['a'],
        logged: ['Q'],
        files: { x: 'y' },
      },
    })
    expect(new Set(one.differences.map(({ at }) => at.replace(/[[.].*/, '')))).toEqual(
      new Set([
        ...['status', 'nodes', 'avoids', 'attempts', 'findings', 'policies', 'claims'],
        ...['refused', 'waits_at', 'logged', 'files'],
      ]),
    )
  })

  it('finds names that the flow does not have, with the nearest', () => {
    const test = testOf({
      nodes: { aa: [] },
      events: [{ skip: 'x' }],
      expect: { edges: ['a>c'], state: { pagse: 1 }, policies: { won: ['Z'] } },
    })
    const found = unknownNames(compiled({ ...LINE, edges: [guarded], state: fields }), test)
    expect(found.map(({ path }) => path)).toEqual([
      '/cases/0/nodes/aa',
      '/cases/0/events/0/skip',
      '/cases/0/expect/edges/0',
      '/cases/0/expect/policies/won/0',
      '/cases/0/expect/state/pagse',
    ])
    expect(found.at(-1)?.hint).toContain('pages')
  })

  it('scripts items of a list that a run reads by their index, and no others', () => {
    const parts = {
      nodes: [work('a', { map: { from: 'list.json:names' } }), check('c', 'a'), node('z')],
      edges: [edge('a', 'c'), edge('c', 'z')],
    }
    const failing = [{ failure: { exit_status: 1 }, times: 9 }]
    const one = (...names: string[]): Omit<FlowTestCase, 'name'> => ({
      files: { 'list.json': { names: ['north', 'south'] } },
      nodes: Object.fromEntries(names.map((name) => [name, failing])),
      expect: { status: 'WAITING', waits_at: names.slice(0, 1) },
    })
    expect(told(walk(parts, one('a/2')))).toEqual([])
    expect(told(walk(parts, one('a/2', 'a/3')))).toEqual([
      'nodes: the case says what a/3 does, and its list has no such item',
    ])
    const names = ['a/1', 'c/2', 'a', 'c', 'a/begin', 'a/each', 'c/each', 'a/0']
    const found = unknownNames(compiled(parts), testOf(one(...names)))
    expect(
      found.map(({ path, hint }) => [path.split('/nodes/')[1], hint?.split(' ').at(-1)]),
    ).toEqual([
      ['a', '`a/1`'],
      ['c', '`c/1`'],
      ['a~1begin', '`a/1`'],
      ['a~1each', '`a/1`'],
      ['c~1each', '`c/1`'],
      ['a~10', undefined],
    ])
  })

  it('tells what no case came to; Meta edges do not count', () => {
    const edges = [guarded, edge('b', 'a', { class: 'Meta' })]
    const flow = compiled({ ...LINE, edges, state: fields })
    const result = walk({ ...LINE, edges, state: fields }, { expect: {} })
    expect(coverageOf(flow, [result])).toEqual({
      nodes: { taken: 1, all: 2 },
      edges: { taken: 0, all: 1 },
      untaken_nodes: ['b'],
      untaken_edges: ['a>b'],
    })
  })

  it('counts the template of a list that a run reads as taken with its items', () => {
    const parts = {
      nodes: [work('a', { map: { from: 'list.json:names' } }), node('z')],
      edges: [edge('a', 'z')],
    }
    const result = walk(parts, { files: { 'list.json': { names: ['north'] } }, expect: {} })
    expect(coverageOf(compiled(parts), [result])).toMatchObject({
      untaken_nodes: [],
      untaken_edges: [],
    })
  })

  it('writes JUnit XML that nothing in a test can break out of', () => {
    const because = ['a & b', '\u0000']
    const differences = [{ at: 'status', says: 'expected <DONE> "now"', because }]
    const xml = junitXml([
      { file: 'a"b.yaml', problem: null, cases: [{ name: '<x>', passed: false, differences }] },
      { file: 'c.yaml', problem: 'no <flow>', cases: [] },
    ])
    expect(xml).toContain('<testsuite name="a&quot;b.yaml" tests="1" failures="1" errors="0">')
    expect(xml).toContain('message="status: expected &lt;DONE&gt; &quot;now&quot;"')
    expect(xml).toContain('a &amp; b')
    expect(xml).toContain('<error message="no &lt;flow&gt;"/>')
    expect(xml).not.toContain('\u0000')
  })
})

describe('the rows of the seed', () => {
  /** Runs a case of an example by a flow from which a mechanism was taken. */
  function without(row: string, change: (flow: Flow) => Flow): boolean {
    const one = PHASED_TEST.cases.find(({ name }) => name.startsWith(row))
    if (one === undefined) throw new Error(`there is no case ${row}`)
    const compilation = compileFlow(change(PHASED))
    if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
    return runTestCase(compilation.flow, PHASED_TEST, one).passed
  }
  const nodes =
    (change: (one: Flow['nodes'][number]) => Flow['nodes'][number]) => (flow: Flow) => ({
      ...flow,
      nodes: flow.nodes.map(change),
    })

  it.each([
    ['row 1,', nodes(({ minimum_duration: _, ...one }) => one)],
    ['row 2,', ({ policies: _, ...flow }: Flow) => ({ ...flow, edges: withoutRefs(flow.edges) })],
    ['row 5,', nodes(({ required_files: _, ...one }) => one)],
    ['row 7,', nodes((one) => (one.executor === undefined ? one : toolless(one)))],
    ['row 8,', ({ access_rules: _, ...flow }: Flow) => flow],
    ['row 12,', nodes(({ subphase_id: _, ...one }) => one)],
  ] as const)('%s fails without its mechanism', (row, change) => {
    expect(without(row, (flow) => flow)).toBe(true)
    expect(without(row, change)).toBe(false)
  })

  it('pass as the example says', () => {
    const { cases } = PHASED_TEST
    const results = cases.map((one) => runTestCase(compiled(PHASED), PHASED_TEST, one))
    expect(results.filter(({ passed }) => !passed).map(({ name }) => name)).toEqual([])
  })

  it('row 9 fails without its mechanism', () => {
    const side: unknown = parse(readFileSync('examples/flows/tables/side.yaml', 'utf8'))
    const test = parse(readFileSync('examples/flows/tables/edges.test.yaml', 'utf8')) as FlowTest
    const one = test.cases.find(({ name }) => name.includes('cannot verify its own'))
    const passes = (requirement: string): boolean => {
      const table = readFileSync('examples/flows/tables/edges.csv', 'utf8')
      const text = table.replace('independent_verification_required', requirement)
      const { flow } = importTable(text, side, { flowId: 'f', title: 'f' })
      const compilation = flow === null ? null : compileFlow(flow)
      if (compilation?.ok !== true || one === undefined) throw new Error('the table loads')
      return runTestCase(compilation.flow, test, one).passed
    }
    expect([passes('independent_verification_required'), passes('none')]).toEqual([true, false])
  })
})

function withoutRefs(edges: Flow['edges']): Flow['edges'] {
  return edges.map(({ policy_refs: _, ...one }) => one)
}

function toolless(one: Flow['nodes'][number]): Flow['nodes'][number] {
  return { ...one, executor: { command: ['true'], tools: 'none' } }
}
