/** Sub-flows: put in the place of their node, walked there, pinned by digest, refused where they do not fit. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestDocument } from '../../src/base/index.ts'
import { loadFlowFile } from '../../src/cli/flow/load.ts'
import type { Flow } from '../../src/contracts/index.ts'
import { checkFlow, inlineFlows } from '../../src/flow/index.ts'
import { edge, Host, node, work } from '../flow-runtime/host.ts'

const flow = (parts: Partial<Flow>): Flow => ({
  type: 'flow_v1',
  flow_id: 'f',
  title: 't',
  nodes: [],
  edges: [],
  ...parts,
})

const INNER = flow({
  nodes: [
    work('draft'),
    node('check', { kind: 'CHECK', target: 'draft', reviewer: { command: ['r'] } }),
    node('end', { kind: 'GOAL' }),
  ],
  edges: [edge('draft', 'check'), edge('check', 'end')],
})
const OUTER = flow({
  nodes: [
    node('a'),
    node('paper', { flow: 'inner.json', phase_id: 'Q' }),
    node('z', { kind: 'GOAL', phase_id: 'R' }),
  ],
  edges: [edge('a', 'paper'), edge('paper', 'z')],
})
const inlined = (outer: Flow, inner: Flow) => inlineFlows(outer, new Map([['paper', inner]]))

describe('a sub-flow', () => {
  it('takes the place of its node, and is walked there', () => {
    const { flow: whole, violations } = inlined(OUTER, INNER)
    expect([violations, checkFlow(whole).violations]).toEqual([[], []])
    const host = new Host(whole).start().run()
    expect(host.entered).toEqual([
      'a',
      'paper/begin',
      'paper/draft',
      'paper/check',
      'paper/end',
      'paper',
      'z',
    ])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('is called as its node is', () => {
    const nodes = [
      node('a', { phase_id: 'A' }),
      node('b', { phase_id: 'B' }),
      node('paper', { flow: 'inner.json', phase_id: 'Q', call: true }),
    ]
    const edges = [
      edge('a', 'b'),
      edge('a', 'paper', { class: 'Gate' }),
      edge('b', 'paper', { class: 'Gate' }),
    ]
    const host = new Host(inlined(flow({ nodes, edges }), INNER).flow).start().run()
    const once = ['paper/begin', 'paper/draft', 'paper/check', 'paper/end', 'paper']
    expect([host.entered, host.status]).toEqual([['a', ...once, 'b', ...once], 'DONE'])
    host.verify()
  })

  it('is refused with what belongs to the outer flow, with two ends, and when it is not the pinned one', () => {
    const told = (outer: Flow, inner: Flow) =>
      inlined(outer, inner).violations.map(({ message }) => message)
    expect(told(OUTER, { ...INNER, budgets: { attempts: 3 } })).toEqual([
      'the sub-flow has `budgets`, which belongs to the outer flow',
    ])
    const [, second] = [0, flow({ nodes: [node('x'), node('y')], edges: [] })]
    expect(told(OUTER, second)).toEqual(['a sub-flow ends at one node, and this one at 2'])
    const pin = (digest: string) =>
      flow({
        ...OUTER,
        nodes: OUTER.nodes.map((one) =>
          one.flow === undefined ? one : { ...one, flow_digest: digest },
        ),
      })
    expect(told(pin(digestDocument(INNER)), INNER)).toEqual([])
    expect(told(pin(`sha256:${'0'.repeat(64)}`), INNER)[0]).toContain('not the pinned one')
  })
})

describe('the files', () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-subflow-'))
    mkdirSync(join(folder, 'parts'))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const write = (name: string, document: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(document))
    return join(folder, name)
  }
  const load = (file: string) => loadFlowFile(file, { participants: null, side: null })

  it('are read relative to the one that names them, also below one another', async () => {
    write('parts/inner.json', INNER)
    write('parts/middle.json', flow({ nodes: [node('m', { flow: 'inner.json' })], edges: [] }))
    const nodes = [node('o', { flow: 'parts/middle.json' })]
    const { valid, flow: whole } = await load(write('outer.json', flow({ nodes, edges: [] })))
    expect(valid).toBe(true)
    expect(whole?.nodes.map(({ node_id }) => node_id)).toContain('o/m/draft')
  })

  it('that hold themselves, or are wrong, are refused at their place', async () => {
    const own = write('own.json', flow({ nodes: [node('o', { flow: 'own.json' })], edges: [] }))
    const circle = await load(own)
    expect(circle.violations.map(({ code }) => code)).toContain('flow.subflow')
    write('bad.json', flow({ nodes: [node('x')], edges: [edge('x', 'gone')] }))
    const bad = await load(
      write('uses.json', flow({ nodes: [node('o', { flow: 'bad.json' })], edges: [] })),
    )
    expect(bad.violations[0]).toMatchObject({
      code: 'flow.unknown_ref',
      file: join(folder, 'bad.json'),
    })
  })

  const NODE = 'title: t, phase_id: P, actor: w, max_attempts: 1'
  const RUN = 'executor: { command: [node, gone.mjs], tools: none }'
  const text = (name: string, lines: readonly string[]): string => {
    const head = ['type: flow_v1', 'flow_id: f', 'title: t', 'nodes:']
    writeFileSync(join(folder, name), `${[...head, ...lines].join('\n')}\n`)
    return join(folder, name)
  }

  it('have the places of what is found in the whole', async () => {
    const legal = text('legal.yaml', [
      `  - { node_id: scan, kind: WORK, ${NODE}, ${RUN} }`,
      `  - { node_id: sign, kind: WORK, ${NODE} }`,
      'edges: [{ edge_id: E1, source: scan, target: sign, class: Progress }]',
    ])
    const outer = text('places.yaml', [
      `  - { node_id: legal, kind: WORK, ${NODE}, flow: legal.yaml }`,
      `  - { node_id: a, kind: WORK, ${NODE}, ${RUN} }`,
      'edges: [{ edge_id: E1, source: legal, target: a, class: Progress }]',
    ])
    const { valid, warnings, place } = await load(outer)
    expect(valid).toBe(true)
    const unchecked = warnings.filter(({ code }) => code === 'flow.unchecked_work')
    expect(unchecked).toMatchObject([
      { file: legal, path: '/nodes/0/node_id', line: 5 },
      { file: outer, path: '/nodes/1/node_id', line: 6 },
    ])
    // The whole is legal/begin, legal/scan, legal/sign, legal, a.
    const at = (path: string) => ({ code: 'flow.program_missing' as const, path, message: 'x' })
    const paths = ['/nodes/0', '/nodes/2', '/nodes/4/executor', '/edges/1', '/edges/2']
    expect(await place?.(paths.map(at))).toMatchObject([
      { file: outer, path: '/nodes/0/flow', line: 5 },
      { file: legal, path: '/nodes/1', line: 6 },
      { file: outer, path: '/nodes/1/executor', line: 6 },
      { file: outer, path: '/nodes/0/flow', line: 5 },
      { file: legal, path: '/edges/0', line: 7 },
    ])
  })

  it('that are missing are named with their node, and the rest is checked', async () => {
    const outer = text('lost.yaml', [
      `  - { node_id: legal, kind: WORK, ${NODE}, flow: nope.yaml }`,
      'edges: [{ edge_id: E1, source: legal, target: gone, class: Progress }]',
    ])
    const { valid, violations } = await load(outer)
    expect(valid).toBe(false)
    expect(violations).toMatchObject([
      { code: 'flow.subflow', file: outer, path: '/nodes/0/flow', line: 5 },
      { code: 'flow.unknown_ref', file: outer, line: 6 },
    ])
    expect(violations[0]?.message).toMatch(/sub-flow of `legal` cannot be read: .*nope\.yaml/)
  })
})
