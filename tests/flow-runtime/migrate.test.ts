/** Migrations: a run moves to another version of its flow as one fact, and only if nothing of it is lost. */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import { elementAt, planMigration } from '../../src/flow/index.ts'
import { check, compiled, edge, Host, node, work } from './host.ts'

const PRINCIPAL = 'human:ann@local'

function migrate(host: Host, parts: Partial<Flow>): boolean {
  const flow = compiled(parts)
  const { from, to } = planMigration(host.state, flow.base)
  const moved = { type: 'migrated' as const, from, to, flow: flow.base, principal: PRINCIPAL }
  return host.send({ ...moved, comment: null })
}

const obstacles = (host: Host, parts: Partial<Flow>): readonly string[] =>
  planMigration(host.state, compiled(parts).base).obstacles.map(
    ({ part, message }) => `${part}: ${message}`,
  )

const LINE: Partial<Flow> = {
  nodes: [
    work('a'),
    check('c', 'a'),
    work('b', { phase_id: 'Q' }),
    node('g', { kind: 'GOAL', phase_id: 'Q' }),
  ],
  edges: [edge('a', 'c'), edge('c', 'b'), edge('b', 'g')],
  state: { fields: { pages: { type: 'int', initial: 0 } } },
}
const withNodes = (change: (id: string) => object): Partial<Flow> => ({
  ...LINE,
  nodes: (LINE.nodes ?? []).map((one) => ({ ...one, ...change(one.node_id) })),
})

/** At the review of `a`, whose work is staged. */
const atReview = (): Host =>
  new Host(LINE, (id, attempt) => ({ stage: `${id} ${attempt}` }))
    .start()
    .run((command) => command.type === 'run_participant' && command.review !== null)

describe('a migration', () => {
  it('changes what the run has not come to, and the run goes on by it', () => {
    const host = atReview()
    const next = withNodes((id) =>
      id === 'b' ? { instructions: 'otherwise', executor: { command: ['new'] } } : {},
    )
    const longer = {
      ...next,
      nodes: [...(next.nodes ?? []), work('d', { phase_id: 'Q' })],
      edges: [edge('a', 'c'), edge('c', 'b'), edge('b', 'd'), edge('d', 'g')],
    }
    expect(obstacles(host, longer)).toEqual([])
    expect(migrate(host, longer)).toBe(true)
    host.verify()
    host.run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'b', 'd', 'g']])
    const ran = host.facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' &&
      payload.kind === 'commanded' &&
      payload.command.type === 'run_participant'
        ? [payload.command.participant]
        : [],
    )
    expect(ran).toContainEqual({ command: ['new'] })
  })

  it('counts once: a second one from the same version is stale', () => {
    const host = atReview()
    const next = withNodes((id) => (id === 'b' ? { title: 'other' } : {}))
    expect([migrate(host, next), migrate(host, next)]).toEqual([true, true])
    const first = {
      type: 'migrated' as const,
      from: host.begun.digest,
      to: 'sha256:x',
      flow: host.begun.base,
    }
    expect(host.send({ ...first, principal: PRINCIPAL, comment: null })).toBe(false)
  })

  it('opens a way that was closed, by its new guard', () => {
    const guarded = (guard_expr: string) => ({
      ...LINE,
      edges: [edge('a', 'c'), edge('c', 'b', { guard_expr }), edge('b', 'g')],
    })
    const host = new Host(guarded('state.score > 99')).start().run()
    expect(host.status).toBe('BLOCKED')
    expect(migrate(host, guarded('state.score > 90'))).toBe(true)
    host.run().verify()
    expect(host.status).toBe('DONE')
  })

  it('enters what waited for a node that is gone', () => {
    const human = { executor: { human: true as const } }
    const joined = (ids: readonly string[]): Partial<Flow> => ({
      nodes: [work('a'), work('h', human), ...ids.map((id) => work(id)), node('g')],
      edges: [
        ...ids.map((id) => edge('h', id)),
        ...['a', ...ids].map((id) => edge(id, 'g', { class: 'Sync', join: 'AND' })),
      ],
    })
    const host = new Host(joined(['p'])).start()
    host.run((command) => 'node_id' in command && command.node_id === 'h')
    expect(host.entered).not.toContain('g')
    expect(obstacles(host, joined([]))).toEqual([])
    migrate(host, joined([]))
    expect(host.entered).toContain('g')
    host.verify()
  })

  it('adds a node behind one that is done', () => {
    const two = { nodes: [work('a'), work('p', { executor: { human: true } })], edges: [] }
    const host = new Host(two).start()
    host.run((command) => 'node_id' in command && command.node_id === 'p')
    const three = { nodes: [...two.nodes, work('z')], edges: [edge('a', 'z')] }
    expect(obstacles(host, three)).toEqual([])
    migrate(host, three)
    host.run((command) => 'node_id' in command && command.node_id === 'p').verify()
    expect(host.entered).toContain('z')
  })

  it('keeps the items of a map, and what they are at', () => {
    const map = (at_once: number): Partial<Flow> => ({
      nodes: [
        work('m', { map: { from: 'l.json:.', at_once } }),
        check('c', 'm'),
        node('g', { kind: 'GOAL' }),
      ],
      edges: [edge('m', 'c'), edge('c', 'g')],
    })
    const host = new Host(map(1), (id, attempt) => ({ stage: `${id} ${attempt}` }))
    host.lists.set('m', ['x', 'y', 'z'])
    host.start().run((command) => 'node_id' in command && command.node_id === 'c/1')
    expect(obstacles(host, map(2))).toEqual([])
    migrate(host, map(2))
    host.verify()
    const open = host.open.flatMap((command) => ('node_id' in command ? [command.node_id] : []))
    expect(open).toEqual(['c/1', 'm/2'])
    host.run().verify()
    expect(host.status).toBe('DONE')
    expect(obstacles(atReview(), map(1))).not.toEqual([])
  })
})

describe('a migration is refused', () => {
  const without = (id: string): Partial<Flow> => ({
    ...LINE,
    nodes: (LINE.nodes ?? []).filter(({ node_id }) => node_id !== id),
    edges: (LINE.edges ?? []).filter(({ source, target }) => source !== id && target !== id),
  })

  it.each([
    [
      'a node with staged work',
      without('a'),
      'node a: it is submitted, its work is staged, and the new version has no such node',
    ],
    [
      'a node that runs',
      without('c'),
      'node c: it is running, and the new version has no such node',
    ],
    [
      'its reviewer',
      withNodes((id) => (id === 'c' ? { reviewer: { command: ['other'] } } : {})),
      'node c: it is running, and its `reviewer` is another one in the new version',
    ],
    [
      'its phase',
      withNodes((id) => (id === 'a' ? { phase_id: 'Z' } : {})),
      'node a: it is submitted, its work is staged, and its `phase_id` is another one in the new version',
    ],
    [
      'another CHECK',
      { ...LINE, nodes: [...(LINE.nodes ?? []), check('d', 'a')] },
      'node a: it is being judged, and other CHECK nodes judge it in the new version',
    ],
    [
      'a field of another type',
      { ...LINE, state: { fields: { pages: { type: 'string' as const, initial: '' } } } },
      'state field pages: it is int, and string in the new version',
    ],
    [
      'access rules',
      {
        ...LINE,
        access_rules: [
          {
            actor: 'validator',
            resource_path: 'x',
            access_mode: 'read' as const,
            access_allowed: false,
          },
        ],
      },
      'node c: an attempt is open, and the access rules of `validator` are others',
    ],
    [
      'an edge that was taken',
      { ...LINE, edges: [edge('a', 'b', { edge_id: 'a>c' }), edge('c', 'b'), edge('b', 'g')] },
      'edge a>c: the run has taken it, and its `target` is another one in the new version',
    ],
    ['another flow', { ...LINE, flow_id: 'other' }, 'flow_id: it is a run of `f`, not of `other`'],
  ])('for %s', (_, parts, says) => {
    expect(obstacles(atReview(), parts)).toContain(says)
  })

  it('for the `writes` of a node with an output, and not where all attempts failed', () => {
    const parts = (more: Partial<FlowNode>): Partial<Flow> => ({
      nodes: [work('a', { writes: ['a.md'], max_attempts: 1, ...more }), check('c', 'a')],
      edges: [edge('a', 'c')],
    })
    const mended = parts({ writes: ['b.md'] })
    const blocked = { blocked: true }
    const host = new Host(parts({}), (id, attempt) => (id === 'a' && attempt === 1 ? blocked : {}))
    expect(host.start().run().status).toBe('WAITING')
    expect(obstacles(host, parts({ writes: ['b.md'], phase_id: 'Q' }))).toEqual([
      'node a: it is waiting, and its `phase_id` is another one in the new version',
    ])
    expect(obstacles(host, mended)).toEqual([])
    expect(migrate(host, mended)).toBe(true)
    const asked = host.open.shift()?.command ?? -1
    const principal = PRINCIPAL
    host.send({ type: 'human_answer', node_id: 'a', command: asked, answer: 'retry', principal })
    expect([host.run().status, host.entered]).toEqual(['DONE', ['a', 'a', 'c']])
    host.verify()
    const made = new Host(parts({})).start()
    made.run((command) => 'node_id' in command && command.node_id === 'c')
    expect(obstacles(made, mended)).toEqual([
      'node a: it is submitted, and its `writes` is another one in the new version',
    ])
  })

  it('for a field that was set, a signal that is waited for, and a sub-phase with its manifest', () => {
    const waiting = new Host({ nodes: [work('a', { signal: 'go' })], edges: [] }).start().run()
    expect(obstacles(waiting, { nodes: [work('a')], edges: [] })).toEqual([
      'node a: it waits for the signal `go`, which the new version does not know',
    ])
    const phased = {
      nodes: [
        work('a', { subphase_id: 'S' }),
        work('b', { phase_id: 'Q', executor: { human: true } }),
      ],
      edges: [edge('a', 'b')],
    }
    const host = new Host(phased)
      .start()
      .run((command) => 'node_id' in command && command.node_id === 'b')
    expect(
      obstacles(host, { ...phased, nodes: [work('a'), phased.nodes[1] ?? node('b')] }),
    ).toEqual(['sub-phase S: its manifest is written, and the new version has no such sub-phase'])
    const done = new Host({ nodes: [node('a')], edges: [] }).start().run()
    expect(obstacles(done, { nodes: [node('a'), node('b')], edges: [] })).toEqual([
      'run: it has ended: DONE',
    ])
  })
})

it('a moved run is walked again from its facts by every version that it had', () => {
  const host = atReview()
  for (const title of ['one', 'two', 'three'])
    migrate(
      host,
      withNodes((id) => (id === 'b' ? { title } : {})),
    )
  host.run().verify()
  const { flow, nodes } = host.state
  expect(flow.nodes.map(({ document }) => document.title)).toContain('three')
  expect(elementAt(nodes, flow.nodeIndex.get('b') ?? -1).status).toBe('done')
})
