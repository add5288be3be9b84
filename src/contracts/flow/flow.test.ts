/** Laws of flow documents: order, references, conflicts against a naive judge, and large graphs. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs, sizeOf } from '../../../tests/arbitrary/runs.ts'
import { checkDocument, checkText } from '../check.ts'
import { validate } from '../kernel/validate.ts'
import { type Flow, type FlowNode, flowContract } from './flow.ts'
import type { Participant } from './shapes.ts'
import { flowSideContract } from './side.ts'
import { BUILT_IN_INVARIANTS, EDGE_CLASSES, HOST_FIELDS } from './vocabulary.ts'

function node(node_id: string, kind: FlowNode['kind'], target?: string): FlowNode {
  const made = { node_id, kind, title: node_id, phase_id: 'P', actor: 'x', max_attempts: 1 }
  return target === undefined ? made : { ...made, target }
}

function flow(parts: Partial<Flow>): Flow {
  return { type: 'flow_v1', flow_id: 'f', title: 't', nodes: [], edges: [], ...parts }
}

function places(document: unknown, contract = flowContract): readonly string[] {
  return validate(contract, document).violations.map(({ code, path }) => `${code} at ${path}`)
}

/** Flows whose references all lead somewhere. */
const id = fc.oneof(
  fc.stringMatching(/^[a-z]{1,4}$/),
  fc.constantFrom('__proto__', 'constructor', 'toString', '节点', '0'),
)
const validFlow = fc
  .record({
    work: fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
    checks: fc.array(fc.nat(), { maxLength: 3 }),
    edges: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(...EDGE_CLASSES), fc.nat()), {
      maxLength: 8,
    }),
    policies: fc.uniqueArray(id, { maxLength: 4 }),
    conflicts: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 6 }),
  })
  .map(({ work, checks, edges, policies, conflicts }) => {
    const pick = (list: readonly string[], index: number): string =>
      list[index % list.length] as string
    const nodes = [
      ...work.map((name) => node(name, 'WORK')),
      ...checks.map((target, index) => node(`check ${index}`, 'CHECK', pick(work, target))),
    ]
    const names = nodes.map(({ node_id }) => node_id)
    return flow({
      nodes,
      edges: edges.map(([source, target, kind, policy], index) => ({
        edge_id: `E${index}`,
        source: pick(names, source),
        target: pick(names, target),
        class: kind,
        policy_refs: [pick([...policies, ...BUILT_IN_INVARIANTS], policy)],
      })),
      policies: policies.map((policy_id, index) => ({
        policy_id,
        policy_expr: 'true',
        // Distinct priorities settle every conflict.
        priority: index,
        conflicts_with: conflicts
          .filter(
            ([from, to]) => from % policies.length === index && to % policies.length !== index,
          )
          .map(([, to]) => pick(policies, to)),
        override_mode: 'merge',
        violation_action: 'alert',
      })),
    })
  })

describe('flows', () => {
  it('are valid in any order of their lists', () => {
    fc.assert(
      fc.property(validFlow, (made) => {
        expect(places(made)).toEqual([])
        const turned = {
          ...made,
          nodes: made.nodes.toReversed(),
          edges: made.edges.toReversed(),
          policies: made.policies?.toReversed(),
        }
        expect(places(turned)).toEqual([])
      }),
      { numRuns: runs(150) },
    )
  })

  it('lose their validity with a node that something refers to, and tell each reference', () => {
    fc.assert(
      fc.property(validFlow, fc.nat(), (made, which) => {
        const gone = made.nodes[which % made.nodes.length]?.node_id
        const broken = { ...made, nodes: made.nodes.filter(({ node_id }) => node_id !== gone) }
        const refs = [
          ...made.edges.flatMap(({ source, target }, index) => [
            ...(source === gone ? [`/edges/${index}/source`] : []),
            ...(target === gone ? [`/edges/${index}/target`] : []),
          ]),
          ...broken.nodes.flatMap(({ target }, index) =>
            target === gone ? [`/nodes/${index}/target`] : [],
          ),
        ]
        expect(new Set(places(broken))).toEqual(
          new Set(refs.map((path) => `flow.unknown_ref at ${path}`)),
        )
      }),
      { numRuns: runs(150) },
    )
  })

  it('have types that tell participants apart', () => {
    const toolOf = (participant: Participant): string | null =>
      'mcp' in participant ? participant.tool : null
    expect(toolOf({ mcp: 'server', tool: 'write', secrets: ['API_KEY'] })).toBe('write')
    expect(toolOf({ human: true })).toBeNull()
  })

  it('never show what was pasted where the name of a secret belongs', () => {
    const executor = { command: ['agent'], secrets: ['sk-live-hunter2'] }
    const answer = checkDocument(flow({ nodes: [{ ...node('a', 'WORK'), executor }] }))
    expect(answer.violations).toHaveLength(1)
    expect(JSON.stringify(answer)).not.toContain('hunter2')
  })
})

describe('conflicts', () => {
  const rows = fc.array(fc.tuple(fc.nat(2), fc.array(fc.nat(5), { maxLength: 3 })), {
    minLength: 1,
    maxLength: 6,
  })

  it('are refused exactly where a naive judge finds a tie, and circles where it finds one', () => {
    let circles = 0
    fc.assert(
      fc.property(rows, (made) => {
        const policies = made.map(([priority, others], index) => ({
          policy_id: `p${index}`,
          policy_expr: 'true',
          priority,
          conflicts_with: others.filter((other) => other < made.length).map((other) => `p${other}`),
          override_mode: 'merge',
          violation_action: 'alert',
        }))
        const found = places({ ...flow({}), policies })
        const { ties, hasCircle } = naiveConflicts(policies)
        expect(found.filter((place) => place.startsWith('flow.policy_tie'))).toEqual(ties.sort())
        expect(found.some((place) => place.startsWith('flow.policy_cycle'))).toBe(hasCircle)
        expect(places({ policies }, flowSideContract)).toEqual(found)
        if (hasCircle) circles++
      }),
      { numRuns: runs(500) },
    )
    expect(circles).toBeGreaterThan(10)
  })
})

interface NaivePolicy {
  readonly policy_id: string
  readonly priority: number
  readonly conflicts_with: readonly string[]
}

/** Ties by looking at every pair; a circle when some component has as many pairs as members. */
function naiveConflicts(policies: readonly NaivePolicy[]): { ties: string[]; hasCircle: boolean } {
  const ties: string[] = []
  const pairs = new Set<string>()
  for (const [index, { policy_id, priority, conflicts_with }] of policies.entries()) {
    for (const [place, other] of conflicts_with.entries()) {
      if (policies.find((one) => one.policy_id === other)?.priority !== priority) continue
      ties.push(`flow.policy_tie at /policies/${index}/conflicts_with/${place}`)
      if (other !== policy_id) pairs.add([policy_id, other].sort().join(' '))
    }
  }
  const groups = policies.map(({ policy_id }) => component(policy_id, pairs))
  const hasCircle = groups.some((group) => {
    const inside = [...pairs].filter((pair) => pair.split(' ').every((one) => group.has(one)))
    return inside.length >= group.size
  })
  return { ties, hasCircle }
}

function component(start: string, pairs: ReadonlySet<string>): ReadonlySet<string> {
  const group = new Set([start])
  for (let size = 0; size !== group.size; ) {
    size = group.size
    for (const pair of pairs) {
      const ends = pair.split(' ')
      if (ends.some((end) => group.has(end))) for (const end of ends) group.add(end)
    }
  }
  return group
}

describe('state', () => {
  it('keeps the host its fifteen fields', () => {
    expect(HOST_FIELDS).toHaveLength(15)
    for (const name of HOST_FIELDS) {
      const state = { fields: { [name]: { type: 'int', initial: 0 } } }
      expect(places({ ...flow({}), state })).toEqual([
        `flow.reserved_field at /state/fields/${name}`,
      ])
    }
  })
})

describe('large graphs', () => {
  const NODES = 90_000
  const nodes = Array.from({ length: NODES }, (_, index) => node(`n${index}`, 'WORK'))
  const edges = Array.from({ length: 2 * NODES }, (_, index) => ({
    edge_id: `E${index}`,
    source: `n${index % NODES}`,
    target: `n${(index * 7 + 1) % NODES}`,
    class: 'Progress' as const,
  }))
  it('are judged within the limits of graphs, not of other documents', () => {
    expect(checkDocument(flow({ nodes, edges })).valid).toBe(true)
    const many = Array.from({ length: 350_000 }, (_, index) => node(`n${index}`, 'WORK'))
    expect(places(flow({ nodes: many }))).toEqual([
      expect.stringContaining('document.too_large at /nodes/285'),
    ])
  })

  it('are judged in linear time when nothing leads anywhere', () => {
    const lost = edges
      .slice(0, sizeOf(NODES / 6, NODES / 2))
      .map((edge) => ({ ...edge, source: `x${edge.source}`, policy_refs: ['?'] }))
    const { violations } = checkDocument(flow({ nodes, edges: lost }))
    expect(violations).toHaveLength(2 * lost.length)
  })

  it('are judged in linear time when every policy is in conflict with every neighbour', () => {
    const length = sizeOf(15_000, 40_000)
    const policies = Array.from({ length }, (_, index) => ({
      policy_id: `p${index}`,
      policy_expr: 'true',
      priority: 1,
      conflicts_with: [1, 2, 3].map((step) => `p${(index + step) % length}`),
      override_mode: 'merge' as const,
      violation_action: 'alert' as const,
    }))
    const found = places(flow({ policies }))
    expect(found.filter((place) => place.startsWith('flow.policy_tie'))).toHaveLength(3 * length)
    expect(found.filter((place) => place.startsWith('flow.policy_cycle'))).toHaveLength(
      2 * length + 1,
    )
  })

  it('are read from text within 64 MiB', () => {
    expect(flowContract.limits).toEqual({ depthMax: 64, valuesMax: 2e6, bytesMax: 64 * 1024 ** 2 })
    expect(flowSideContract.limits).toEqual(flowContract.limits)
    const text = JSON.stringify(flow({ title: 'x'.repeat(9 * 1024 * 1024) }))
    expect(checkText(text).valid).toBe(true)
    expect(checkText(text, { as: 'flow_v1' }).valid).toBe(true)
    expect(checkText(text, { as: 'ao_act_task_v0' }).violations).toMatchObject([
      { code: 'document.too_large' },
    ])
  })
})
