/** Laws of normalisation (C-6) and of the three agent contracts, on generated documents. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  drawnPlan,
  looseAction,
  loosePlan,
  looseReview,
  spread,
} from '../../../tests/arbitrary/agent.ts'
import { anyJson } from '../../../tests/arbitrary/from-schema.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { checkDocument } from '../check.ts'
import type { Normalise, Sources } from '../kernel/contract.ts'
import { field, isObject } from '../kernel/contract.ts'
import { normaliseAndValidate } from '../normalise.ts'
import { normaliseAction } from './action-normalise.ts'
import { normalisePlan } from './plan-normalise.ts'
import { normaliseReview } from './review-normalise.ts'
import { SCOPES } from './scope.ts'

/** Ids that no generator draws, different from call to call. */
function sources(prefix = 'f0000000'): Sources {
  let count = 0
  return {
    nowMs: Date.UTC(2026, 0, 1),
    newId: () => `${prefix}-0000-4000-8000-${String(++count).padStart(12, '0')}`,
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}

const NORMALISERS: readonly (readonly [string, Normalise, fc.Arbitrary<unknown>])[] = [
  ['action', normaliseAction, looseAction],
  ['review', normaliseReview, looseReview],
  ['plan', normalisePlan, loosePlan],
]

const CONTEXTS = fc.constantFrom(
  {},
  { task_id: 't', plan_id: 'p', top_task: '\n Do it \n now', scope: 'PLAN_REVIEW' },
  { task_id: 5, top_task: ' ', scope: 'TASK_CHECK', owners: ['ann'] },
)

describe.each(NORMALISERS)('normalisation of %s', (_, normalise, documents) => {
  const inputs = fc.oneof({ weight: 4, arbitrary: documents }, { weight: 1, arbitrary: anyJson })

  it('is idempotent: a second pass repairs nothing', () => {
    fc.assert(
      fc.property(inputs, CONTEXTS, (raw, context) => {
        const once = normalise(raw, context, sources())
        const twice = normalise(once.document, context, sources('e0000000'))
        expect(twice.repairs).toEqual([])
        expect(twice.document).toEqual(once.document)
      }),
      { numRuns: runs(200) },
    )
  })

  it('never touches its input, and is a function of what it is given', () => {
    fc.assert(
      fc.property(inputs, CONTEXTS, (raw, context) => {
        const copy = structuredClone(raw)
        const first = normalise(deepFreeze(raw), deepFreeze(context), sources())
        expect(raw).toEqual(copy)
        expect(normalise(copy, context, sources())).toEqual(first)
      }),
    )
  })

  it('repairs nothing silently, and lists nothing that it did not do', () => {
    fc.assert(
      fc.property(inputs, CONTEXTS, (raw, context) => {
        const { document, repairs } = normalise(raw, context, sources())
        if (!isObject(raw)) {
          expect(document).toBeNull()
          expect(repairs).toEqual([])
        } else {
          expect(repairs.length === 0).toBe(equal(document, raw))
        }
        for (const repair of repairs) {
          expect(Object.keys(repair).sort()).toEqual(['from', 'path', 'rule', 'to'])
          expect(repair.from === undefined || repair.to === undefined).toBe(false)
        }
      }),
    )
  })
})

function equal(left: unknown, right: unknown): boolean {
  try {
    expect(left).toEqual(right)
    return true
  } catch {
    return false
  }
}

describe('normaliseAndValidate', () => {
  const scopes = fc.constantFrom(...SCOPES.map(({ name }) => name), 'record', 'nothing', '')

  it('never throws, and answers every no with seven strings', () => {
    const documents = fc.oneof(looseAction, looseReview, loosePlan, anyJson)
    fc.assert(
      fc.property(scopes, documents, CONTEXTS, (scope, raw, context) => {
        const { valid, error, normalized } = normaliseAndValidate(scope, raw, context, sources())
        expect(error === null).toBe(valid)
        expect(normalized === null).toBe(!isObject(raw) || holdsHugeNumber(raw))
        if (error === null) return
        expect(Object.keys(error)).toHaveLength(7)
        for (const text of Object.values(error)) expect(typeof text).toBe('string')
        expect(error.json_path.startsWith('$')).toBe(true)
        expect(() => JSON.parse(error.example_fix)).not.toThrow()
      }),
      { numRuns: runs(150) },
    )
  })

  it('says yes exactly to what a check of the normalised document says yes to', () => {
    const pairs = fc.oneof(
      fc.tuple(fc.constant('TASK_ACTION'), looseAction),
      fc.tuple(fc.constantFrom('PLAN_REVIEW', 'TASK_CHECK'), looseReview),
      fc.tuple(fc.constant('PLAN_GEN'), loosePlan),
    )
    fc.assert(
      fc.property(pairs, CONTEXTS, ([scope, raw], context) => {
        const { valid, normalized } = normaliseAndValidate(scope, raw, context, sources())
        if (normalized === null) return
        expect(checkDocument(normalized, { as: scope, context }).valid).toBe(valid)
      }),
    )
  })
})

/** Refused by the guard before anybody normalises. */
function holdsHugeNumber(raw: unknown): boolean {
  return JSON.stringify(raw).includes('1e+300')
}

describe('the score gate', () => {
  it('holds for every result, and REQUEST_EXTERNAL_INPUT survives below it', () => {
    fc.assert(
      fc.property(looseReview, (raw) => {
        const { document } = normaliseReview(raw, { scope: 'TASK_CHECK' }, sources())
        if (document?.['schema_version'] !== 'xiaojing_review_v1') return
        const score = document['total_score']
        const approves = typeof score === 'number' && score >= 90
        expect(document['action_required'] === 'APPROVE').toBe(approves)
        const asked = field(raw, 'action_required') === 'REQUEST_EXTERNAL_INPUT'
        if (asked && !approves) {
          expect(document['action_required']).toBe('REQUEST_EXTERNAL_INPUT')
        }
      }),
      { numRuns: runs(150) },
    )
  })
})

describe('repaired plans', () => {
  it('fail only for what cannot be put right without guessing', () => {
    const left = new Set(['duplicate_id', 'cycle', 'and_or', 'root', 'unknown_ref'])
    fc.assert(
      fc.property(loosePlan, (raw) => {
        const { normalized } = normaliseAndValidate('PLAN_GEN', raw, {}, sources())
        if (normalized === null) return
        const { violations } = checkDocument(normalized, { as: 'PLAN_GEN' })
        for (const { code, path } of violations) {
          expect(left.has(code.replace('plan.', ''))).toBe(true)
          // The one reference that no placeholder answers.
          if (code === 'plan.unknown_ref') expect(path).toContain('/review_target_task_id')
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('are valid when their ids are distinct and their edges were acyclic', () => {
    fc.assert(
      fc.property(drawnPlan, ({ document }) => {
        const { valid, error } = normaliseAndValidate('PLAN_GEN', document, {}, sources())
        expect(error).toBeNull()
        expect(valid).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })

  it('say no decomposition twice that was not said twice before', () => {
    fc.assert(
      fc.property(drawnPlan, ({ document }) => {
        const { normalized, repairs } = normaliseAndValidate('PLAN_GEN', document, {}, sources())
        const added = repairs.filter(({ rule }) => rule === 'plan.root_child')
        const pairs = decompositions(normalized).map(({ from, to }) => `${from} ${to}`)
        for (const { to } of added) {
          const pair = `${field(to, 'from_task_id')} ${field(to, 'to_task_id')}`
          expect(pairs.filter((other) => other === pair)).toHaveLength(1)
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('leave no member of a chain that the root could be done without', () => {
    fc.assert(
      fc.property(drawnPlan, ({ document, members }) => {
        const { normalized } = normaliseAndValidate('PLAN_GEN', document, {}, sources())
        const idOf = namesToIds(document, normalized)
        const rootId = field(field(normalized, 'plan'), 'root_task_id') as string
        const needed = new Set(spread([rootId], decompositions(normalized)))
        const above = new Set(spread([rootId], arcs(normalized).map(turn)))
        for (const member of members) {
          const id = idOf.get(member) as string
          expect(needed.has(id) || above.has(id)).toBe(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })
})

const turn = ({ from, to }: { from: string; to: string }) => ({ from: to, to: from })

function arcs(plan: unknown): { from: string; to: string; edge: unknown }[] {
  return (field(plan, 'edges') as unknown[]).map((edge) => ({
    from: field(edge, 'from_task_id') as string,
    to: field(edge, 'to_task_id') as string,
    edge,
  }))
}

/** The edges by which a parent cannot be done without a child. */
function decompositions(plan: unknown): { from: string; to: string }[] {
  return arcs(plan).filter(
    ({ edge }) =>
      field(edge, 'edge_type') === 'DECOMPOSE' &&
      field(field(edge, 'metadata'), 'and_or') === 'AND',
  )
}

/** Nodes keep their order, so the names of the drawing lead to the ids of the plan. */
function namesToIds(before: unknown, after: unknown): ReadonlyMap<string, string> {
  const nodes = field(after, 'nodes') as unknown[]
  return new Map(
    (field(before, 'nodes') as unknown[]).map((node, index) => [
      field(node, 'id') as string,
      field(nodes[index], 'task_id') as string,
    ]),
  )
}

describe('valid documents', () => {
  it('stay valid and as they are when their keys are in another order', () => {
    fc.assert(
      fc.property(drawnPlan, fc.integer(), ({ document }, seed) => {
        const { normalized } = normaliseAndValidate('PLAN_GEN', document, {}, sources())
        const shuffled = shuffleKeys(normalized, seed)
        expect(checkDocument(shuffled, { as: 'PLAN_GEN' }).valid).toBe(true)
        const again = normaliseAndValidate('PLAN_GEN', shuffled, {}, sources())
        expect(again.repairs).toEqual([])
        expect(again.normalized).toEqual(normalized)
      }),
    )
  })
})

function shuffleKeys(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffleKeys(item, seed))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [key, shuffleKeys(member, seed)])
  const turnBy = Math.abs(seed) % Math.max(1, entries.length)
  return Object.fromEntries([...entries.slice(turnBy), ...entries.slice(0, turnBy).reverse()])
}
