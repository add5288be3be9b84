/** Plans as flows: what becomes of their parts, and that they are walked as the plan means it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow, PlanJson } from '../../src/contracts/index.ts'
import { loadPlan, planToFlow, readParticipants } from '../../src/flow/index.ts'
import { runs } from '../arbitrary/runs.ts'
import {
  type Attempt,
  check,
  node as flowNode,
  Host,
  edge as way,
  work,
} from '../flow-runtime/host.ts'

const goal = (name: string) => flowNode(name, { kind: 'GOAL' })
const id = (name: string): string =>
  `00000000-0000-4000-8000-${Buffer.from(name.padEnd(6, '.')).toString('hex')}`
const PLAN = id('plan')

function node(name: string, node_type: 'GOAL' | 'ACTION' | 'CHECK', more: object = {}) {
  const made = { task_id: id(name), plan_id: PLAN, node_type, title: name, tags: [], priority: 0 }
  const owner_agent_id = node_type === 'CHECK' ? 'xiaojing' : 'xiaobo'
  return { ...made, owner_agent_id, ...more }
}

function edge(
  from: string,
  edge_type: 'DECOMPOSE' | 'DEPENDS_ON' | 'ALTERNATIVE',
  to: string,
  metadata: object = {},
) {
  const edge_id = id(`${from}${edge_type[2]}${to}`.slice(0, 6))
  return { edge_id, plan_id: PLAN, from_task_id: id(from), to_task_id: id(to), edge_type, metadata }
}

function plan(nodes: readonly object[], edges: readonly object[], more: object = {}): PlanJson {
  const head = {
    plan_id: PLAN,
    title: 'A plan',
    root_task_id: id('r'),
    created_at: '2026-01-01T00:00:00Z',
    owner_agent_id: 'xiaobo',
    constraints: {},
  }
  return { plan: head, nodes, edges, ...more } as unknown as PlanJson
}

const MAP = { xiaobo: { command: ['work'] }, xiaojing: { command: ['review'] } }

function participants(document: unknown = MAP) {
  const reading = readParticipants(document)
  if (!reading.ok) throw new Error(JSON.stringify(reading.violations))
  return reading.participants
}

const names = new Map<string, string>()
const nameOf = (task: string): string => {
  const [uuid = '', ...rest] = task.split(/(?<=^.{36})/)
  const hex = /^00000000-0000-4000-8000-([0-9a-f]{12})$/.exec(uuid)?.[1]
  const name = hex === undefined ? uuid : Buffer.from(hex, 'hex').toString().replaceAll('.', '')
  return `${names.get(uuid) ?? name}${rest.join('')}`
}

function flowOf(document: PlanJson): Flow {
  const { flow, valid, violations } = loadPlan(document, participants())
  if (flow === null || !valid) throw new Error(JSON.stringify(violations))
  return flow
}

const edgesOf = ({ edges }: Flow) =>
  edges.map(
    (one) =>
      `${nameOf(one.source)} ${one.class}${one.join === undefined ? '' : ` ${one.join}`}${one.group_id === undefined ? '' : ` (${one.group_id})`} ${nameOf(one.target)}`,
  )

const walk = (
  document: PlanJson,
  script: (name: string, attempt: number) => Attempt = () => ({}),
) => {
  const host = new Host(flowOf(document), (task, attempt) => script(nameOf(task), attempt))
    .start()
    .run()
  host.verify()
  return host
}
const entered = (host: Host): readonly string[] => host.entered.map(nameOf)

describe('parts of a plan', () => {
  const simple = plan(
    [node('r', 'GOAL'), node('a', 'ACTION'), node('b', 'ACTION'), node('c', 'CHECK')],
    [
      edge('r', 'DECOMPOSE', 'a'),
      edge('r', 'DECOMPOSE', 'b', { and_or: 'AND' }),
      edge('a', 'DEPENDS_ON', 'b'),
      edge('a', 'DEPENDS_ON', 'c'),
    ],
  )

  it('are nodes and edges of a flow', () => {
    const flow = flowOf(simple)
    expect(flow).toMatchObject({ type: 'flow_v1', flow_id: PLAN, title: 'A plan' })
    expect(edgesOf(flow)).toEqual([
      'b Progress b:check',
      'a Sync AND r',
      'b Sync AND r',
      'a Progress AND b',
      'a Progress AND c',
    ])
    expect(
      flow.nodes.map((one) => [
        nameOf(one.node_id),
        one.kind,
        one.actor,
        one.target && nameOf(one.target),
      ]),
    ).toEqual([
      ['r', 'GOAL', 'xiaobo', undefined],
      ['a', 'WORK', 'xiaobo', undefined],
      ['b', 'WORK', 'xiaobo', undefined],
      ['c', 'CHECK', 'xiaojing', 'a'],
      ['b:check', 'CHECK', 'xiaojing', 'b'],
    ])
    expect(flow.nodes[1]?.executor).toEqual({ command: ['work'] })
    expect(flow.nodes[3]?.reviewer).toEqual({ command: ['review'] })
    expect(flow.nodes[4]?.reviewer).toEqual({ command: ['review'] })
  })

  it('are walked: nothing before what it depends on is approved', () => {
    const host = walk(simple)
    expect(host.status).toBe('DONE')
    expect(entered(host)).toEqual(['a', 'c', 'b', 'b:check', 'r'])
  })

  it('a CHECK judges what it says it reviews', () => {
    const said = plan(
      [
        node('r', 'GOAL'),
        node('a', 'ACTION'),
        node('b', 'ACTION'),
        node('c', 'CHECK', { review_target_task_id: id('b') }),
      ],
      [
        edge('r', 'DECOMPOSE', 'a'),
        edge('r', 'DECOMPOSE', 'b'),
        edge('a', 'DEPENDS_ON', 'c'),
        edge('b', 'DEPENDS_ON', 'c'),
      ],
    )
    expect(
      flowOf(said).nodes.flatMap(({ target }) => (target === undefined ? [] : [nameOf(target)])),
    ).toEqual(['b', 'a'])
  })

  it('a CHECK of nothing, or of several, is reported', () => {
    const several = plan(
      [node('r', 'GOAL'), node('a', 'ACTION'), node('b', 'ACTION'), node('c', 'CHECK')],
      [
        edge('r', 'DECOMPOSE', 'a'),
        edge('r', 'DECOMPOSE', 'b'),
        edge('a', 'DEPENDS_ON', 'c'),
        edge('b', 'DEPENDS_ON', 'c'),
      ],
    )
    const { warnings } = loadPlan(several, participants())
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'flow.check_untargeted /nodes/3',
      'flow.dead_end /nodes/3',
    ])
  })

  it('a goal of OR needs one of its parts', () => {
    const either = plan(
      [node('r', 'GOAL'), node('a', 'ACTION'), node('b', 'ACTION')],
      [
        edge('r', 'DECOMPOSE', 'a', { and_or: 'OR' }),
        edge('r', 'DECOMPOSE', 'b', { and_or: 'OR' }),
      ],
    )
    const host = walk(either, (name) => (name === 'a' ? { outcome: 'failed' } : {}))
    expect(entered(host)).toContain('r')
  })

  it('requirements stay with their tasks', () => {
    const asking = plan([node('r', 'GOAL'), node('a', 'ACTION')], [edge('r', 'DECOMPOSE', 'a')], {
      requirements: [
        {
          task_id: id('a'),
          name: 'spec',
          kind: 'FILE',
          source: 'USER',
          required: 1,
          min_count: 1,
          allowed_types: ['md'],
        },
        { name: '', required: 0 },
      ],
    })
    const [root, action] = flowOf(asking).nodes
    expect(action?.requirements).toEqual([
      {
        name: 'spec',
        kind: 'FILE',
        source: 'USER',
        required: true,
        min_count: 1,
        allowed_types: ['md'],
      },
    ])
    expect(root?.requirements).toMatchObject([{ name: 'requirement_2', required: false }])
  })
})

describe('alternatives', () => {
  const parts = (more: readonly object[] = [], edges: readonly object[] = []) =>
    plan(
      [node('r', 'GOAL'), node('x', 'ACTION'), node('y', 'ACTION', { priority: 5 }), ...more],
      [
        edge('r', 'ALTERNATIVE', 'x', { group_id: 'G' }),
        edge('r', 'ALTERNATIVE', 'y', { group_id: 'G' }),
        ...edges,
      ],
    )

  it('of a goal are tried one at a time, the highest priority first', () => {
    expect(edgesOf(flowOf(parts())).slice(2)).toEqual([
      'r Decision (G) y',
      'y Sync OR r',
      'r Decision (G) x',
      'x Sync OR r',
    ])
    expect(entered(walk(parts()))).toEqual(['y', 'y:check', 'r'])
    const failing = walk(parts(), (name) => (name === 'y' ? { outcome: 'failed' } : {}))
    expect(entered(failing)).toEqual(['y', 'y', 'y', 'x', 'x:check', 'r'])
    expect(failing.status).toBe('DONE')
  })

  it('next to other parts have a goal of their own', () => {
    const both = parts(
      [node('z', 'ACTION')],
      [edge('r', 'DECOMPOSE', 'z'), edge('r', 'DECOMPOSE', 'x'), edge('r', 'DECOMPOSE', 'y')],
    )
    expect(edgesOf(flowOf(both)).slice(3)).toEqual([
      'z Sync AND r',
      'r:G Decision (G) y',
      'y Sync OR r:G',
      'r:G Decision (G) x',
      'x Sync OR r:G',
      'r:G Sync AND r',
    ])
    const host = walk(both)
    expect(host.status).toBe('DONE')
    expect(entered(host)).not.toContain('x')
    expect(entered(host).at(-1)).toBe('r')
  })

  it('wait for what any of them depends on', () => {
    const waiting = parts(
      [node('p', 'ACTION')],
      [edge('r', 'DECOMPOSE', 'p'), edge('p', 'DEPENDS_ON', 'x')],
    )
    const host = walk(waiting)
    expect(host.status).toBe('DONE')
    expect(entered(host).slice(0, 4)).toEqual(['p', 'p:check', 'r:G:choice', 'y'])
    expect(entered(host)).not.toContain('x')
  })

  it('between siblings belong to their parent', () => {
    const siblings = plan(
      [node('r', 'GOAL'), node('x', 'ACTION'), node('y', 'ACTION')],
      [
        edge('r', 'DECOMPOSE', 'x'),
        edge('r', 'DECOMPOSE', 'y'),
        edge('x', 'ALTERNATIVE', 'y', { group_id: 'G' }),
      ],
    )
    const host = walk(siblings)
    expect([host.status, entered(host)]).toEqual(['DONE', ['x', 'x:check', 'r']])
  })

  it('that are goals are refused', () => {
    const goals = plan(
      [node('r', 'GOAL'), node('x', 'GOAL')],
      [edge('r', 'ALTERNATIVE', 'x', { group_id: 'G' })],
    )
    expect(
      loadPlan(goals, participants()).violations.map(({ code, path }) => `${code} ${path}`),
    ).toEqual(['flow.plan_alternative /edges/0'])
  })
})

describe('participants', () => {
  const one = plan([node('r', 'GOAL'), node('a', 'ACTION')], [edge('r', 'DECOMPOSE', 'a')])

  it('are a plain map, or the document of the contract; the digest is the same', () => {
    const [plain, whole] = [MAP, { type: 'participants_v1', participants: MAP }].map(
      readParticipants,
    )
    expect(plain).toEqual(whole)
    expect(readParticipants({ participants: MAP, reviewer: 'xiaobo' })).toMatchObject({ ok: true })
  })

  it('are judged, with places in the file as it was written', () => {
    const wrong = readParticipants({ xiaobo: { comand: ['x'] } })
    expect(wrong.ok ? [] : wrong.violations.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'flow.participant /xiaobo',
    ])
    const unknown = readParticipants({ participants: MAP, reviewer: 'xiaojin' })
    expect(unknown).toMatchObject({
      violations: [
        { code: 'flow.unknown_ref', path: '/reviewer', hint: 'did you mean `xiaojing`?' },
      ],
    })
  })

  it('without a name are reported by their agent', () => {
    const { valid, violations } = loadPlan(
      one,
      participants({ xiaoxie: { human: true }, xiaojing: { human: true } }),
    )
    expect([valid, violations]).toMatchObject([
      false,
      [{ code: 'flow.plan_participant', path: '/nodes/1/owner_agent_id' }],
    ])
  })

  it('without a reviewer leave work without approval, which is refused', () => {
    const { violations } = loadPlan(one, participants({ xiaobo: { command: ['x'] } }))
    expect(violations).toMatchObject([{ code: 'flow.plan_participant', path: '/nodes/1' }])
  })

  it('may own what the contract does not know by name', () => {
    const other = plan(
      [
        node('r', 'GOAL', { owner_agent_id: 'ann' }),
        node('a', 'ACTION', { owner_agent_id: 'bob' }),
      ],
      [edge('r', 'DECOMPOSE', 'a')],
    )
    expect(
      loadPlan(other, participants({ bob: { human: true }, reviewer: { human: true } })).valid,
    ).toBe(true)
    expect(loadPlan(other, null).valid).toBe(true)
  })

  it('that are not given are people, so that a plan can be drawn', () => {
    const { flow } = planToFlow(one, null)
    expect(flow.nodes.map(({ executor, reviewer }) => executor ?? reviewer)).toEqual([
      undefined,
      { human: 'xiaobo' },
      { human: 'reviewer' },
    ])
  })
})

describe('work with a way to its CHECK and a way on', () => {
  const nodes = [work('a', { max_attempts: 1 }), check('c', 'a'), goal('b')]

  it('goes on when it is approved', () => {
    const host = new Host({ nodes, edges: [way('a', 'c'), way('a', 'b')] }).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'b']])
    host.verify()
  })

  it('does not end quietly when its own guard is closed', () => {
    const guard = { class: 'Gate' as const, guard_expr: 'state.tool_calls > 99' }
    const host = new Host({ nodes, edges: [way('a', 'c'), way('a', 'b', guard)] }).start().run()
    expect(host.status).toBe('BLOCKED')
    expect(host.findings).toContain('flow.guard_false block')
    host.verify()
  })
})

describe('laws', () => {
  it('any value is answered', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (document, map) => {
        const reading = readParticipants(map)
        const { flow } = loadPlan(document, reading.ok ? reading.participants : null)
        expect(flow).toBeNull()
      }),
    )
  })

  it('every plan of tasks that depend on earlier ones is walked to its end', () => {
    const arcs = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 8 })
    fc.assert(
      fc.property(arcs, (pairs) => {
        const names_ = ['a', 'b', 'c', 'd', 'e', 'f']
        const forward = new Set(
          pairs.filter(([from, to]) => from < to).map(([from, to]) => `${from} ${to}`),
        )
        const edges = [...forward].map((pair) => {
          const [from = 0, to = 0] = pair.split(' ').map(Number)
          return edge(names_[from] ?? '', 'DEPENDS_ON', names_[to] ?? '')
        })
        const nodes = [node('r', 'GOAL'), ...names_.map((name) => node(name, 'ACTION'))]
        const whole = plan(nodes, [...names_.map((name) => edge('r', 'DECOMPOSE', name)), ...edges])
        const host = walk(whole)
        expect(host.status).toBe('DONE')
        expect(new Set(entered(host))).toEqual(
          new Set(['r', ...names_, ...names_.map((name) => `${name}:check`)]),
        )
        for (const pair of forward) {
          const [from = 0, to = 0] = pair.split(' ').map(Number)
          expect(entered(host).indexOf(`${names_[from]}:check`)).toBeLessThan(
            entered(host).indexOf(names_[to] ?? ''),
          )
        }
      }),
      { numRuns: runs(40) },
    )
  })
})
