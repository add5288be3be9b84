/**
 * Agent documents as agents write them: mostly the right keys, their aliases and words, and junk in
 * between; and plans over a known acyclic graph, for laws about what repairs may and may not do.
 */
import fc from 'fast-check'
import { anyJson } from './from-schema.ts'

type Json = fc.JsonValue
type Fields = Readonly<Record<string, fc.Arbitrary<Json>>>

const often = (...likely: readonly Json[]): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...likely) }, { weight: 1, arbitrary: anyJson })

/** An object with any part of the fields. */
function loose(fields: Fields): fc.Arbitrary<Record<string, Json>> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Record<string, Json>>
}

const list = (item: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.array(item, { maxLength: 4 }) },
    { weight: 1, arbitrary: anyJson },
  )

const part = (fields: Fields): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 5, arbitrary: loose(fields) }, { weight: 1, arbitrary: anyJson })

const text = often('a', ' b ', '', ' ')
const score = often(0, 89, 90, 95, 101, -1, '90', ' 7 ', 72.5, '99999999999999999999')

const ANSWER: Fields = {
  schema_version: often('xiaobo_action_v1', ' ACTION_V1', 'v2', ''),
  version: often('xiaobo_action', 'v3'),
  task_id: text,
  id: text,
  result_type: often('ARTIFACT', 'artifact ', 'NEEDS_INPUT', 'NOOP', 'ERROR', 'DONE'),
  artifact: part({
    name: text,
    format: often('md', '.HTML', 'text/plain', '. .js'),
    content: text,
  }),
  needs_input: part({
    required_docs: list(part({ name: text, description: text })),
    required_context: list(text),
    reason: text,
  }),
  missing_inputs: list(part({ name: text, reason: text, type: often('md', ['md']) })),
  error: part({ code: text, message: text }),
}

export const looseAction: fc.Arbitrary<Json> = fc.oneof(
  loose(ANSWER),
  loose({ ...ANSWER, data: loose(ANSWER), output: part({ result: loose(ANSWER) }) }),
)

const suggestion = part({
  priority: often('HIGH', 'm', ' low ', 'soon'),
  change: text,
  problem: text,
  dimension: text,
  steps: list(text),
  acceptance_criteria: text,
  extra: text,
})

export const looseReview: fc.Arbitrary<Json> = loose({
  schema_version: often('xiaojing_review_v1', ' xiaojing_review_v1 ', '', 'v1', null),
  schema: often('v1', 'review_v01', 'v9'),
  task_id: text,
  review_target: often('PLAN', 'node', 'TOP_TASK', 'x'),
  total_score: score,
  action_required: often('APPROVE', 'modify', 'REQUEST_EXTERNAL_INPUT', 'x', ''),
  summary: text,
  feedback: text,
  breakdown: list(part({ dimension: text, score, max_score: score, issues: list(anyJson) })),
  suggestions: list(suggestion),
  review_result: part({
    score,
    action: often('approve', 'MODIFY'),
    dimension_scores: list(part({ dimension: text, score, comment: text })),
    scores: list(part({ score })),
    suggestions: list(suggestion),
    recommendations: list(suggestion),
  }),
})

const ids = [
  'a',
  'b',
  'c',
  'd',
  'START',
  'end',
  7,
  '',
  null,
  '11111111-1111-4111-8111-111111111111',
]
const id = often(...ids)
const word = often('DEPENDS_ON', 'decompose', 'CHILD_OF', 'alt', 'requires', 'next')

const planNode = part({
  task_id: id,
  id,
  name: text,
  type: often('GOAL', 'action', 'x'),
  owner: often('xiaobo', 'ann'),
  prio: often(1, '2', 'x'),
  labels: list(text),
  goal: text,
  review_target_task_id: id,
})

const planEdge = part({
  edge_id: often('e1', 'e2', null),
  id,
  from: id,
  parent_id: id,
  to: id,
  child_id: id,
  edge_type: word,
  kind: word,
  meta: part({ and_or: often('AND', 'or', 'x'), group_id: text }),
})

export const loosePlan: fc.Arbitrary<Json> = loose({
  plan: part({ plan_id: id, title: text, root_task_id: id, created_at: often('2026-01-01', 'x') }),
  nodes: list(planNode),
  tasks: list(planNode),
  edges: list(planEdge),
  links: list(planEdge),
  inputs: list(
    part({ task_id: id, name: text, kind: often('doc', 'x'), required: often('no', 1) }),
  ),
})

export interface Drawing {
  readonly document: Record<string, Json>
  /** The foreign ids that a chain passes: after START or before END along DEPENDS_ON edges. */
  readonly members: readonly string[]
  readonly rootId: string
}

/**
 * A plan with distinct ids whose edges run from earlier nodes to later ones, the root anywhere among
 * them, with or without START and END. Decompositions are by AND, so that nothing contradicts.
 */
export const drawnPlan: fc.Arbitrary<Drawing> = fc
  .record({
    count: fc.integer({ min: 1, max: 7 }),
    root: fc.nat({ max: 6 }),
    pairs: fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 }), fc.nat({ max: 3 })), {
      maxLength: 10,
    }),
    starts: fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
    ends: fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
  })
  .map(({ count, root, pairs, starts, ends }) => {
    const name = (index: number): string => `n${index % count}`
    const edges = pairs
      .map(([left, right, type]) => [left % count, right % count, type] as const)
      .filter(([left, right]) => left !== right)
      .map(([left, right, type]) => drawEdge(Math.min(left, right), Math.max(left, right), type))
    const rootId = name(root)
    const flow = edges.filter(({ type }) => type === 'DEPENDS_ON')
    const after = spread(starts.map(name), flow)
    const before = spread(
      ends.map(name),
      flow.map(({ from, to }) => ({ from: to, to: from })),
    )
    return {
      rootId,
      members: [...new Set([...after, ...before])].filter((member) => member !== rootId),
      document: {
        plan: { root_task_id: rootId },
        nodes: Array.from({ length: count }, (_, index) => ({ id: name(index), name: 'x' })),
        edges: [
          ...starts.map((index) => ({ from: 'START', to: name(index) })),
          ...edges,
          ...ends.map((index) => ({ from: name(index), to: 'END' })),
        ],
      },
    }
  })

function drawEdge(low: number, high: number, type: number) {
  const [from, to] = [`n${low}`, `n${high}`]
  if (type === 0) return { from, to, type: 'DECOMPOSE' }
  if (type === 1) return { from: to, to: from, type: 'CHILD_OF' }
  return { from, to, type: 'DEPENDS_ON' }
}

/** Reachability as one would say it, without regard to cost. */
export function spread(
  starts: readonly string[],
  arcs: readonly { from: string; to: string }[],
): readonly string[] {
  const met = new Set(starts)
  for (let size = -1; size !== met.size; ) {
    size = met.size
    for (const { from, to } of arcs) if (met.has(from)) met.add(to)
  }
  return [...met]
}
