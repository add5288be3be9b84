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
})
