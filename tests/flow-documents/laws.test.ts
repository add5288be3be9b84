/** Laws of the checks: total, linear, in one order, and true against naive judges. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EDGE_CLASSES, type EdgeClass, type Flow } from '../../src/contracts/index.ts'
import { checkFlow, compileFlow } from '../../src/flow/index.ts'
import { runs } from '../arbitrary/runs.ts'

function flowOf(count: number, arcs: readonly (readonly [number, number, EdgeClass])[]): Flow {
  const nodes = Array.from({ length: count }, (_, index) => ({
    node_id: `n${index}`,
    kind: index === count - 1 ? ('GOAL' as const) : ('WORK' as const),
    title: '',
    phase_id: 'P',
    actor: 'a',
    max_attempts: 1,
  }))
  const edges = arcs.map(([source, target, kind], index) => ({
    edge_id: `e${index}`,
    source: `n${source}`,
    target: `n${target}`,
    class: kind,
  }))
  return { type: 'flow_v1', flow_id: 'f', title: '', nodes, edges }
}

const COUNT = 6
const graphs = fc
  .array(fc.tuple(fc.nat(COUNT - 1), fc.nat(COUNT - 1), fc.constantFrom(...EDGE_CLASSES)), {
    maxLength: 12,
  })
  .map((arcs) => flowOf(COUNT, arcs))

const FORWARD: readonly string[] = ['Progress', 'Gate', 'Decision', 'Sync']
const told = (flow: Flow, code: string): readonly string[] => {
  const { violations, warnings } = checkFlow(flow)
  return [...violations, ...warnings].filter((one) => one.code === code).map(({ path }) => path)
}

/** By walking every way there is, node by node. */
function canReach(flow: Flow, from: string, to: string, classes: readonly string[]): boolean {
  const seen = new Set<string>()
  const open = [from]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of flow.edges) {
      if (edge.source !== node || !classes.includes(edge.class) || seen.has(edge.target)) continue
      seen.add(edge.target)
      open.push(edge.target)
    }
  }
  return seen.has(to)
}

describe('against naive judges', () => {
  it('what is unreachable is what no start leads to', () => {
    fc.assert(
      fc.property(graphs, (flow) => {
        const compilation = compileFlow(flow)
        if (!compilation.ok) throw new Error('not compiled')
        const starts = compilation.flow.starts.map((index) => `n${index}`)
        const ways = [...FORWARD, 'Exception', 'Loop', 'Rollback']
        const want = flow.nodes.flatMap(({ node_id }, index) =>
          starts.includes(node_id) || starts.some((start) => canReach(flow, start, node_id, ways))
            ? []
            : [`/nodes/${index}/node_id`],
        )
        expect(told(flow, 'flow.unreachable')).toEqual(want)
      }),
      { numRuns: runs(150) },
    )
  })

  it('a circle of ways on is reported if and only if there is one', () => {
    fc.assert(
      fc.property(graphs, (flow) => {
        const hasCircle = flow.nodes.some(({ node_id }) =>
          canReach(flow, node_id, node_id, FORWARD),
        )
        const closing = told(flow, 'flow.cycle')
        expect(closing.length > 0).toBe(hasCircle)
        // Without the reported edges, no circle is left.
        const kept = flow.edges.filter((_, index) => !closing.includes(`/edges/${index}`))
        const rest = { ...flow, edges: kept }
        expect(rest.nodes.some(({ node_id }) => canReach(rest, node_id, node_id, FORWARD))).toBe(
          false,
        )
      }),
      { numRuns: runs(150) },
    )
  })

  it('a way back is reported only if nothing leads from its target to its source', () => {
    fc.assert(
      fc.property(graphs, (flow) => {
        const ways = [...FORWARD, 'Exception']
        for (const path of told(flow, 'flow.way_back')) {
          const edge = flow.edges[Number(path.split('/')[2])]
          if (edge === undefined) throw new Error('no edge')
          expect(canReach(flow, edge.target, edge.source, ways)).toBe(false)
          expect(edge.source).not.toBe(edge.target)
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('guards on one field overlap, and leave gaps, as trying values shows', () => {
    const operators = ['<', '<=', '>', '>=', '=='] as const
    const guard = fc.tuple(fc.constantFrom(...operators), fc.integer({ min: 0, max: 4 }))
    const holds = ([operator, bound]: readonly [string, number], value: number): boolean => {
      if (operator === '<') return value < bound
      if (operator === '<=') return value <= bound
      if (operator === '>') return value > bound
      return operator === '>=' ? value >= bound : value === bound
    }
    const values = Array.from({ length: 31 }, (_, index) => index / 2 - 5)
    fc.assert(
      fc.property(guard, guard, (one, other) => {
        const flow = flowOf(3, [
          [0, 1, 'Decision'],
          [0, 2, 'Decision'],
          [1, 2, 'Progress'],
        ])
        const say = ([operator, bound]: readonly [string, number]): string =>
          `state.cumulative_duration ${operator} ${bound}.0`
        const [first, second, ...rest] = flow.edges
        const edges = [
          { ...first, guard_expr: say(one) },
          { ...second, guard_expr: say(other) },
          ...rest,
        ]
        const whole = { ...flow, edges } as Flow
        const isEqual = say(one) === say(other)
        const overlaps = values.some((value) => holds(one, value) && holds(other, value))
        const gap = values.some((value) => !holds(one, value) && !holds(other, value))
        expect(told(whole, 'flow.decision_ambiguous')).toHaveLength(isEqual ? 1 : 0)
        expect(told(whole, 'flow.decision_overlap')).toHaveLength(overlaps && !isEqual ? 1 : 0)
        expect(told(whole, 'flow.decision_none')).toHaveLength(gap ? 1 : 0)
      }),
      { numRuns: runs(150) },
    )
  })
})

describe('totality', () => {
  it('any value is answered, in one order, without being changed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value)
        const { valid, violations } = checkFlow(value)
        expect(valid).toBe(violations.length === 0)
        expect(checkFlow(value)).toEqual(checkFlow(JSON.parse(before)))
        expect(JSON.stringify(value)).toBe(before)
      }),
    )
  })

  it('a flow with any one part replaced is answered', () => {
    const base = flowOf(3, [
      [0, 1, 'Decision'],
      [1, 2, 'Loop'],
      [0, 2, 'Sync'],
    ])
    const places = [
      '/nodes',
      '/edges',
      '/state',
      '/policies',
      '/invariants',
      '/access_rules',
      '/budgets',
      '/table',
      '/text_policies',
      '/claims',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        const { valid, violations } = checkFlow({ ...base, [place.slice(1)]: value })
        expect(valid).toBe(violations.length === 0)
      }),
    )
  })
})

describe('cost', () => {
  const chain = (count: number): Flow =>
    flowOf(
      count,
      Array.from({ length: count - 1 }, (_, index) => [index, index + 1, 'Progress']),
    )
  /** Everything leads to one node, is joined there, and leads back. */
  const star = (count: number): Flow => {
    const out = Array.from({ length: count - 2 }, (_, index) => [0, index + 1, 'Decision'] as const)
    const back = Array.from(
      { length: count - 2 },
      (_, index) => [index + 1, count - 1, 'Sync'] as const,
    )
    const loops = Array.from({ length: count - 2 }, (_, index) => [index + 1, 0, 'Loop'] as const)
    return flowOf(count, [...out, ...back, ...loops])
  }

  it.each([
    ['a chain', chain, []],
    ['a star', star, ['flow.decision_ambiguous']],
  ])('%s of many nodes is judged', (_, make, codes) => {
    const { violations } = checkFlow(make(60_000))
    expect([...new Set(violations.map(({ code }) => code))]).toEqual(codes)
  })
})
