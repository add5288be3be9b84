/** Maps: a node runs once for each item, items begin in their turn, failures are counted, lists are bounded. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow, elementAt, inlineFlows } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const mapped = (map: FlowNode['map'], more: Partial<FlowNode> = {}): FlowNode =>
  work('m', { ...(map === undefined ? {} : { map }), ...more })

const judged = (map: FlowNode['map'], more: Partial<FlowNode> = {}): Partial<Flow> => ({
  nodes: [node('a'), mapped(map, more), check('c', 'm'), node('g', { kind: 'GOAL' })],
  edges: [edge('a', 'm'), edge('m', 'c'), edge('c', 'g')],
})

const statuses = (host: Host): Record<string, string> =>
  Object.fromEntries(
    host.flow.nodes.map(({ nodeId, index }) => [nodeId, elementAt(host.state.nodes, index).status]),
  )

const open = (host: Host): readonly string[] =>
  host.open.map((command) => ('node_id' in command ? command.node_id : command.type))

function isAt(payload: object, kind: string, id: string): boolean {
  const { kind: own, node_id, phase_id } = payload as Record<string, unknown>
  return own === kind && (node_id === id || phase_id === id)
}

describe('a map over a written list', () => {
  it('runs the node and its CHECK for each item, and then goes on', () => {
    const host = new Host(judged({ items: ['x', 'y'] }), (id) => ({ stage: id })).start().run()
    host.verify()
    expect(host.entered).toEqual(['a', 'm/begin', 'm/1', 'm/2', 'c/1', 'c/2', 'm', 'c', 'g'])
    expect(host.status).toBe('DONE')
    expect(host.node('m/2').work.artifact?.path).toBe('artifacts/m/2/1/out.md')
    expect(host.node('m/1').work.stage?.actionId).not.toBeNull()
  })

  it.each([1, 2])('has its phase end once, after its items, %i at once', (at_once) => {
    const parts: Partial<Flow> = {
      nodes: [
        node('w', { phase_id: 'A' }),
        mapped({ items: ['x', 'y'], at_once }, { minimum_duration: 1, phase_id: 'B' }),
        node('g', { kind: 'GOAL', phase_id: 'C' }),
      ],
      edges: [edge('w', 'm'), edge('m', 'g')],
      invariants: [
        {
          invariant_id: 'END',
          invariant_expr: 'false',
          check_timing: 'post_phase',
          severity: 'low',
          fail_action: 'alert',
        },
      ],
    }
    const host = new Host(parts, () => ({ stage: 'm', seconds: 3 })).start().run()
    host.verify()
    const ends = host.facts.flatMap(({ payload }) =>
      'kind' in payload && payload.kind === 'phase_ended' ? [payload.phase_id] : [],
    )
    expect([host.status, ends]).toEqual(['DONE', ['A', 'B', 'C']])
    expect(host.findings).toEqual(Array(3).fill('flow.invariant_violated alert'))
    const at = (kind: string, id: string): number =>
      host.facts.findIndex(({ payload }) => isAt(payload, kind, id))
    expect(at('phase_ended', 'B')).toBeGreaterThan(at('entered', 'm'))
    expect(at('phase_ended', 'B')).toBeLessThan(at('entered', 'g'))
  })

  it('gives each item its number, its texts and its title', () => {
    const items = [{ name: 'one' }, { name: 'two' }]
    const more = {
      title: 'Write',
      instructions: 'write {item.name}, {index} of {count}',
      writes: ['out/{index}/{item.name}.md'],
    }
    const host = new Host(judged({ items }, more)).start()
    const second = host.flow.nodes[host.flow.nodeIndex.get('m/2') ?? -1]
    expect(second?.document).toMatchObject({
      title: 'Write 2/2: two',
      instructions: 'write two, 2 of 2',
      writes: ['out/2/two.md'],
    })
    expect(host.flow.items.get(second?.index ?? -1)).toEqual({ index: 2, count: 2, item: items[1] })
  })

  it('runs at most so many items at once, in the order of the list', () => {
    const host = new Host(judged({ items: [1, 2, 3, 4, 5], at_once: 2 })).start()
    host.run(({ type }) => type === 'run_participant')
    expect(open(host)).toEqual(['m/1', 'm/2'])
    const begun: string[] = []
    for (let count = 0; count < 40 && host.status === 'RUNNING'; count++) {
      const running = statuses(host)
      const items = Object.keys(running).filter((id) => /^m\/\d+$/.test(id))
      const busy = items.filter((id) => running[id] === 'running' || running[id] === 'submitted')
      expect(busy.length).toBeLessThanOrEqual(2)
      const [next] = host.open.splice(0, 1)
      if (next !== undefined) host.answer(next)
      if (next?.type === 'run_participant') begun.push(next.node_id)
    }
    host.verify()
    expect(host.status).toBe('DONE')
    expect(begun.filter((id) => id.startsWith('m/'))).toEqual(['m/1', 'm/2', 'm/3', 'm/4', 'm/5'])
  })

  it('judges each item by itself: one that is rejected runs again alone', () => {
    const script: Script = (id, attempt) =>
      id === 'c/2' && attempt === 1 ? { score: 40 } : { stage: `${id} ${attempt}` }
    const host = new Host(judged({ items: ['x', 'y', 'z'] }), script).start().run()
    host.verify()
    const runs = (id: string) => host.entered.filter((one) => one === id).length
    expect([runs('m/1'), runs('m/2'), runs('m/3'), host.status]).toEqual([1, 2, 1, 'DONE'])
  })

  it('opens a gate by what all items are', () => {
    const parts = judged({ items: ['x', 'y'] })
    const guard = {
      class: 'Gate' as const,
      guard_expr: "state.validator_verdict == 'APPROVE' && state.score >= 92",
    }
    const edges = [edge('a', 'm'), edge('m', 'c'), edge('c', 'g', guard)]
    const least: Script = (id) => (id === 'c/2' ? { score: 92 } : {})
    expect(new Host({ ...parts, edges }, least).start().run().status).toBe('DONE')
    const below: Script = (id) => (id === 'c/2' ? { score: 91 } : {})
    expect(new Host({ ...parts, edges }, below).start().run().status).toBe('BLOCKED')
  })
})

describe('failures of items', () => {
  const failing: Script = (id) => (id === 'm/2' ? { outcome: 'failed' } : {})

  it('are decided by a person where all have to be done', () => {
    const host = new Host(judged({ items: ['x', 'y', 'z'] }), failing).start().run()
    host.verify()
    expect([host.status, statuses(host)['m/2'], statuses(host)['m/3']]).toEqual([
      'WAITING',
      'waiting',
      'done',
    ])
  })

  it('are counted by `minimum`', () => {
    const host = new Host(judged({ items: ['x', 'y', 'z'], minimum: 2 }), failing).start().run()
    host.verify()
    expect([host.status, statuses(host)['m/2']]).toEqual(['DONE', 'abandoned'])
    expect(host.findings).toContain('flow.item_failed alert')
  })

  it('stop the node when too few are done; one that tries again with success lets it go on', () => {
    let isMended = false
    const script: Script = (id) => (id === 'm/2' && !isMended ? { outcome: 'failed' } : {})
    const host = new Host(judged({ items: ['x', 'y', 'z'], minimum: 3 }), script).start().run()
    host.verify()
    expect([host.status, statuses(host)['m']]).toEqual(['BLOCKED', 'blocked'])
    expect(host.findings).toContain('flow.items_short block')
    isMended = true
    expect(host.send({ type: 'unblocked', node_id: 'm/2', principal: 'human:ann@local' })).toBe(
      true,
    )
    host.run().verify()
    expect(host.status).toBe('DONE')
  })

  it('lead to the way out of the node', () => {
    const parts = judged({ items: ['x', 'y'] })
    const nodes = [...(parts.nodes ?? []), node('h')]
    const edges = [...(parts.edges ?? []), edge('m', 'h', { class: 'Exception' })]
    const host = new Host({ nodes, edges }, failing).start().run()
    host.verify()
    expect(host.entered).toContain('h')
  })

  it('are given up by a person, and an item is skipped by one', () => {
    const host = new Host(judged({ items: ['x', 'y', 'z'], minimum: 1 }), (id) =>
      id === 'm/1' ? { result: 'NEEDS_INPUT' } : {},
    )
    host.start().run()
    expect(statuses(host)['m/1']).toBe('waiting')
    const principal = 'human:ann@local'
    expect(host.send({ type: 'skipped', node_id: 'm/1', principal, comment: 'not needed' })).toBe(
      true,
    )
    host.run()
    expect(host.status).toBe('DONE')
  })
})

describe('a list of a file', () => {
  const fromFile = judged({ from: 'out/list.json:chapters' })

  it('is read when the run comes there; its items take the place of the node', () => {
    const host = new Host(fromFile)
    host.lists.set('m', ['x', 'y', 'z'])
    host.start()
    expect(host.flow.nodeIndex.has('m/each')).toBe(true)
    host.run().verify()
    expect(host.status).toBe('DONE')
    expect(host.entered).toEqual([
      'a',
      'm/begin',
      'm/1',
      'm/2',
      'm/3',
      'c/1',
      'c/2',
      'c/3',
      'm',
      'c',
      'g',
    ])
  })

  it('is too short if it is empty: nothing was judged', () => {
    const host = new Host(fromFile)
    host.lists.set('m', [])
    host.start().run().verify()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.items_short block']])
  })

  it('may be empty where `minimum: 0` says so', () => {
    const host = new Host(judged({ from: 'out/list.json:chapters', minimum: 0 }))
    host.lists.set('m', [])
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'm/begin', 'm', 'c', 'g']])
  })

  it('that is missing stops the node, until a person has put it right', () => {
    const host = new Host(fromFile).start().run()
    host.verify()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.list_refused block']])
    host.lists.set('m', ['x'])
    host.send({ type: 'unblocked', node_id: 'm/begin', principal: 'human:ann@local' })
    host.run().verify()
    expect(host.status).toBe('DONE')
  })

  it('that is skipped passes the node with it', () => {
    const host = new Host(fromFile).start().run()
    const skipped = { type: 'skipped' as const, node_id: 'm/begin', comment: 'none' }
    expect(host.send({ ...skipped, principal: 'human:ann@local' })).toBe(true)
    host.run().verify()
    expect([host.status, host.entered.at(-1)]).toEqual(['DONE', 'g'])
  })

  it('begins no further item when another branch has reached the goal', () => {
    const join = { class: 'Sync' as const, join: 'OR' as const }
    const nodes = [mapped({ items: [1, 2, 3], at_once: 1 }), work('b'), node('g', { kind: 'GOAL' })]
    const host = new Host({ nodes, edges: [edge('m', 'g', join), edge('b', 'g', join)] }).start()
    const begin = host.open.splice(
      host.open.findIndex(({ type }) => type === 'pass'),
      1,
    )
    for (const command of begin) host.answer(command)
    const other = host.open.splice(
      host.open.findIndex((one) => 'node_id' in one && one.node_id === 'b'),
      1,
    )
    for (const command of other) host.answer(command)
    host.run().verify()
    expect(host.status).toBe('DONE')
    expect(host.entered.filter((id) => /^m\/\d/.test(id))).toEqual(['m/1', 'm/2'])
  })

  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
  it.each([
    ['too many', Array.from({ length: 1_001 }, (_, index) => index)],
    ['nested', [deep(20)]],
    ['twice', ['x', 'x']],
    ['a strange key', [JSON.parse('{"__proto__": 1}')]],
    ['another strange key', [{ 'a\n': 1 }]],
    ['large', ['x'.repeat(20_000)]],
    ['a way up', [{ name: '../../etc' }]],
    ['a folder', [{ name: 'a/b' }]],
    ['a hidden file', [{ name: '.git' }]],
    ['no name', [{ other: 'x' }]],
  ])('is refused: %s', (_, list) => {
    const host = new Host(judged({ from: 'l.json:.' }, { writes: ['out/{item.name}/**'] }))
    host.lists.set('m', list as readonly unknown[])
    host.start().run().verify()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.list_refused block']])
    expect(host.flow.nodeIndex.has('m/1')).toBe(false)
  })

  describe('with two items of one output path', () => {
    const twice = [{ name: 'x' }, { name: 'y' }, { name: 'x', n: 2 }]
    const parts = judged({ from: 'l.json:.' }, { required_files: ['out/{item.name}.md'] })
    const walked = (more = {}) => {
      const host = new Host(parts)
      host.lists.set('m', twice)
      host.startWith(more).run()
      return host
    }

    it('is refused with both items and the path', () => {
      const host = walked()
      host.verify()
      expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.list_refused block']])
      expect(JSON.stringify(host.facts)).toContain(
        'items 1 (x) and 3 (x) have the same path `out/x.md`',
      )
      const items = { items: twice }
      const written = judged(items, { writes: ['out/{item.name}.md', 'out'] })
      const flow = { type: 'flow_v1', flow_id: 'f', title: '', ...written } as unknown as Flow // Whole.
      expect(checkFlow(flow).violations).toMatchObject([{ code: 'flow.map' }])
    })

    it('is walked on by the rules that a run of before began with', () => {
      const host = walked({ evaluator: { name: 'flow', version: '3' } })
      expect(host.flow.nodeIndex.has('m/3')).toBe(true)
    })

    it('is no list that shares an area, or a file which every item reads', () => {
      const writes = ['{item.name}/**', 'log.md']
      const host = new Host(judged({ items: twice }, { writes, required_files: ['README.md'] }))
      host.start().run().verify()
      expect(host.status).toBe('DONE')
    })
  })

  it('is read again when the run comes back, and a shorter one runs fewer items', () => {
    const parts = judged({ from: 'l.json:.' })
    const edges = [
      ...(parts.edges ?? []),
      edge('g', 'm', { class: 'Rollback', edge_id: 'back', guard_expr: 'state.attempt_count < 2' }),
    ]
    const host = new Host({ ...parts, edges }, (id, attempt) => ({
      stage: `${id} ${attempt}`,
      content: `${id} ${attempt}`,
    }))
    host.lists.set('m', ['x', 'y', 'z'])
    host.start().run(({ type }) => type === 'roll_back')
    // One act after another, the newest first.
    expect(open(host)).toEqual(['m/3'])
    host.lists.set('m', ['w'])
    host.run().verify()
    expect(host.status).toBe('DONE')
    expect(host.entered.filter((id) => id.startsWith('m/'))).toEqual([
      'm/begin',
      'm/1',
      'm/2',
      'm/3',
      'm/begin',
      'm/1',
    ])
  })
})

describe('a sub-flow that is mapped', () => {
  const inner: Flow = {
    type: 'flow_v1',
    flow_id: 'i',
    title: 'i',
    nodes: [
      work('draft', { instructions: 'about {item}', phase_id: 'D' }),
      check('look', 'draft', { phase_id: 'D' }),
      node('end', { kind: 'GOAL', phase_id: 'E' }),
    ],
    edges: [edge('draft', 'look'), edge('look', 'end')],
  }
  const outer = (map: FlowNode['map']): Flow => ({
    type: 'flow_v1',
    flow_id: 'o',
    title: 'o',
    nodes: [
      node('a'),
      node('m', { flow: 'inner.yaml', ...(map === undefined ? {} : { map }) }),
      node('g', { kind: 'GOAL' }),
    ],
    edges: [edge('a', 'm'), edge('m', 'g')],
  })

  it('is walked once for each item, with phases of its own', () => {
    const { flow, violations } = inlineFlows(
      outer({ items: ['x', 'y'], at_once: 1 }),
      new Map([['m', inner]]),
    )
    expect([violations, checkFlow(flow).violations]).toEqual([[], []])
    const host = new Host(flow).start().run()
    host.verify()
    const once = (index: number) =>
      ['begin', 'draft', 'look', 'end'].map((id) => `m/${index}/${id}`)
    expect(host.entered).toEqual(['a', 'm/begin', ...once(1), 'm/1', ...once(2), 'm/2', 'm', 'g'])
    expect(host.status).toBe('DONE')
    const second = host.flow.nodes[host.flow.nodeIndex.get('m/2/draft') ?? -1]?.document
    expect([second?.instructions, second?.phase_id]).toEqual(['about y', 'm/2/D'])
  })

  it('may hold a map of its own, whose items know the outer one', () => {
    const nodes = inner.nodes.map((one) =>
      one.node_id === 'draft' ? { ...one, map: { from: 'l/{item}.json:.' } } : one,
    )
    const { flow } = inlineFlows(
      outer({ items: ['x', 'y'] }),
      new Map([['m', { ...inner, nodes }]]),
    )
    const host = new Host(flow)
    host.lists.set('m/1/draft', ['p'])
    host.lists.set('m/2/draft', ['q', 'r'])
    host.start().run().verify()
    expect(host.status).toBe('DONE')
    const at = host.flow.nodeIndex.get('m/2/draft/2') ?? -1
    expect(host.flow.items.get(at)).toEqual({
      index: 2,
      count: 2,
      item: 'r',
      outer: { index: 2, count: 2, item: 'y' },
    })
    const reads = host.facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'list_read'
        ? [payload.event.path]
        : [],
    )
    expect(reads.sort()).toEqual(['l/x.json', 'l/y.json'])
  })
})

it('maps of sub-flows inside one another are laid out, and an item that is given up begins again', () => {
  const flow = (id: string, parts: Partial<Flow>): Flow => ({
    type: 'flow_v1',
    flow_id: id,
    title: id,
    nodes: [],
    edges: [],
    ...parts,
  })
  const low = flow('low', {
    nodes: [work('w'), check('v', 'w'), node('e', { kind: 'GOAL' })],
    edges: [edge('w', 'v'), edge('v', 'e')],
  })
  const mid = flow('mid', {
    nodes: [
      node('n', { flow: 'low.yaml', map: { items: ['p', 'q'], minimum: 2 } }),
      node('f', { kind: 'GOAL' }),
    ],
    edges: [edge('n', 'f')],
  })
  const top = flow('top', {
    nodes: [
      node('m', { flow: 'mid.yaml', map: { items: ['x', 'y'] } }),
      node('g', { kind: 'GOAL' }),
    ],
    edges: [edge('m', 'g')],
  })
  const inside = inlineFlows(mid, new Map([['n', low]])).flow
  const { flow: whole, violations } = inlineFlows(top, new Map([['m', inside]]))
  expect([violations, checkFlow(whole).violations]).toEqual([[], []])
  const sharing = structuredClone(whole)
  for (const one of sharing.nodes) if (one.node_id === 'm/n/w') one.writes = ['out/{item}.md']
  expect(checkFlow(sharing).violations.map(({ message }) => message)).toEqual([
    'items 1 (x) and 2 (y) have the same path `out/p.md`',
  ])
  let isMended = false
  const host = new Host(whole, (id) =>
    id === 'm/2/n/1/w' && !isMended ? { outcome: 'failed' } : {},
  )
  host.start().run().verify()
  expect([host.status, statuses(host)['m/2/n']]).toEqual(['BLOCKED', 'blocked'])
  isMended = true
  host.send({ type: 'unblocked', node_id: 'm/2/n/1', principal: 'human:ann@local' })
  host.run().verify()
  expect(host.status).toBe('DONE')
})

describe('any order of ends', () => {
  it('leaves the same items, and the facts fold and walk again', () => {
    const outcome = fc.constantFrom('good', 'bad', 'again')
    const world = fc.record({
      outcomes: fc.array(outcome, { minLength: 1, maxLength: 7 }),
      atOnce: fc.integer({ min: 1, max: 7 }),
      isWritten: fc.boolean(),
      picks: fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
    })
    fc.assert(
      fc.property(world, ({ outcomes, atOnce, isWritten, picks }) => {
        const items = outcomes.map((_, index) => `item ${index}`)
        const map = {
          ...(isWritten ? { items } : { from: 'l.json:.' }),
          at_once: atOnce,
          minimum: 0,
        }
        const script: Script = (id, attempt) => {
          const of = outcomes[Number(id.slice(2)) - 1]
          if (id.startsWith('c/')) return of === 'again' && attempt === 1 ? { score: 10 } : {}
          return of === 'bad' ? { outcome: 'failed' } : { stage: `${id} ${attempt}` }
        }
        const host = new Host(judged(map), script)
        host.lists.set('m', items)
        host.start()
        for (let turn = 0; host.open.length > 0; turn++) {
          const pick = (picks[turn % picks.length] ?? 0) % host.open.length
          const [command] = host.open.splice(pick, 1)
          if (command !== undefined) host.answer(command)
        }
        host.verify()
        const ended = outcomes.map((of, index) => {
          const { status, work } = host.node(`m/${index + 1}`)
          return [status, work.verdict, work.artifact?.path ?? null, of]
        })
        expect(host.status).toBe('DONE')
        expect(ended).toEqual(
          outcomes.map((of, index) => [
            of === 'bad' ? 'abandoned' : 'done',
            of === 'bad' ? 'PENDING' : 'APPROVE',
            of === 'bad' ? null : `artifacts/m/${index + 1}/${of === 'again' ? 2 : 1}/out.md`,
            of,
          ]),
        )
      }),
      { numRuns: 25 },
    )
  })
})
