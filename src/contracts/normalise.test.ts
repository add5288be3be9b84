/** The answer of `writ normalize`: names, refusals, and the error object (C-6a). */
import { describe, expect, it } from 'vitest'
import { normaliseAndValidate, normaliseRefused } from './normalise.ts'
import { CONTRACTS } from './registry.ts'

const SOURCES = { nowMs: 0, newId: () => 'f0000000-0000-4000-8000-000000000001' }
const ask = (scope: string, raw: unknown, context = {}) =>
  normaliseAndValidate(scope, raw, context, SOURCES)

const REVIEW = {
  schema_version: 'xiaojing_review_v1',
  task_id: 't',
  review_target: 'NODE',
  total_score: 50,
  action_required: 'MODIFY',
  summary: 's',
  breakdown: [{ dimension: 'd', score: 1, max_score: 2, issues: [] }],
  suggestions: [],
}

describe('names', () => {
  it('takes scopes in any case, and names the scope as it was given', () => {
    for (const scope of ['TASK_CHECK', ' task_check\n', 'Task_Check']) {
      expect(ask(scope, REVIEW).valid).toBe(true)
      expect(ask(scope, {}).error?.schema).toBe(scope)
    }
  })

  it.each(CONTRACTS.map(({ name }) => name))('takes the contract name %s', (name) => {
    for (const raw of [{}, [], null, 'x', { nodes: [{}], plan: 5, type: name }]) {
      const { error, normalized } = ask(name, raw)
      if (error === null) continue
      expect(error).toMatchObject({ error_code: 'SCHEMA_MISMATCH', schema: name })
      expect(error.schema_version).toBe(name)
      for (const text of Object.values(error)) expect(typeof text).toBe('string')
      expect(error.expected).not.toBe('')
      expect(error.actual).not.toBe('')
      expect(() => JSON.parse(error.example_fix)).not.toThrow()
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
        expect(normalized).toBeNull()
      }
    }
  })

  it('hands contracts without repairs through', () => {
    const raw = { type: 'ao_act_task_v0', payload: {} }
    expect(ask('record', raw).normalized).toBe(raw)
    expect(ask('record', raw).repairs).toEqual([])
  })

  it('answers an unknown name with what it was given, if that is an object', () => {
    const raw = { a: 1 }
    expect(ask('PLAN_GENS', raw)).toMatchObject({ valid: false, normalized: raw, repairs: [] })
    expect(ask('PLAN_GENS', raw).error).toMatchObject({
      error_code: 'UNKNOWN_CONTRACT',
      schema: 'PLAN_GENS',
      json_path: '$',
      example_fix: '{"as":"PLAN_GEN"}',
    })
    expect(ask('', 5).normalized).toBeNull()
    // Contract names are exact; only scopes are trimmed and upper-cased.
    expect(ask('PLAN_JSON_V1', raw).error?.error_code).toBe('UNKNOWN_CONTRACT')
  })
})

describe('refusals', () => {
  const ring: Record<string, unknown> = {}
  ring['self'] = ring
  const deep = JSON.parse('['.repeat(65) + ']'.repeat(65))

  it.each([
    ['a ring', ring],
    ['a depth of 65', { deep }],
    ['an infinite number', { total_score: Number.POSITIVE_INFINITY }],
    ['a function', { total_score: () => 0 }],
    ['a bigint', { total_score: 5n }],
    ['half a surrogate pair', { summary: '\ud800' }],
    ['a class of its own', new Map()],
    ['too many values', { list: Array.from({ length: 100_001 }, () => 0) }],
  ])('%s is refused, not thrown', (_, raw) => {
    const answer = ask('TASK_CHECK', raw)
    expect(answer).toMatchObject({ valid: false, normalized: null, repairs: [] })
    expect(answer.error?.error_code).toBe('SCHEMA_MISMATCH')
    expect(ask('nothing', raw).valid).toBe(false)
  })

  it('tells the place of a refused text', () => {
    const refusal = {
      code: 'document.duplicate_key',
      path: '/nodes/3/a b',
      message: 'the key `a b` occurs twice in one object',
    } as const
    expect(normaliseRefused('PLAN_GEN', refusal).error).toMatchObject({
      json_path: '$.nodes[3]["a b"]',
      actual: 'the key `a b` occurs twice in one object',
    })
    expect(normaliseRefused('x', refusal).error?.error_code).toBe('UNKNOWN_CONTRACT')
    expect(normaliseRefused('', refusal).error).toMatchObject({
      error_code: 'SCHEMA_MISMATCH',
      schema_version: '',
      actual: 'the key `a b` occurs twice in one object',
    })
  })
})

describe('the error', () => {
  it('is that of the first violation, by path', () => {
    const { error } = ask('TASK_CHECK', { ...REVIEW, total_score: 101, breakdown: [5] })
    expect(error?.json_path).toBe('$.breakdown[0]')
  })

  it('shows no value that must not be shown', () => {
    const artifact = { name: 'a', format: 'md', content: { token: 's3cret' } }
    const raw = { result_type: 'ARTIFACT', task_id: 't', artifact }
    expect(JSON.stringify(ask('TASK_ACTION', raw).error)).not.toContain('s3cret')
    expect(ask('TASK_ACTION', raw).error?.actual).toBe('a value that is not shown')
  })

  it('cuts what it shows', () => {
    const { error } = ask('TASK_CHECK', { ...REVIEW, review_target: 'x'.repeat(1000) })
    expect(error?.actual.length).toBeLessThanOrEqual(80)
  })

  it.each([
    [{ review_target: 'PLAN' }, '$.review_target', '{"review_target":"NODE"}'],
    [{ total_score: 101 }, '$.total_score', '{"total_score":0}'],
    [{ breakdown: [5] }, '$.breakdown[0]', undefined],
    [
      { breakdown: [{ ...REVIEW.breakdown[0], issues: 5 }] },
      '$.breakdown[0].issues',
      '{"issues":[]}',
    ],
  ])('of %j is at %s', (change, path, fix) => {
    const { error } = ask('TASK_CHECK', { ...REVIEW, ...change })
    expect(error?.json_path).toBe(path)
    if (fix !== undefined) expect(error?.example_fix).toBe(fix)
  })

  it('has an example that holds where the element of a list is wrong', () => {
    const { error } = ask('TASK_CHECK', { ...REVIEW, breakdown: [5] })
    const example = JSON.parse(error?.example_fix ?? '')
    expect(ask('TASK_CHECK', { ...REVIEW, ...example }).valid).toBe(true)
  })
})

describe('examples for plans', () => {
  const id = (index: number) => `a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const node = (index: number, type: string) => ({
    task_id: id(index),
    plan_id: id(0),
    node_type: type,
    title: 't',
    owner_agent_id: 'xiaobo',
    priority: 0,
    tags: [],
  })
  const edge = (index: number, from: number, to: number, type: string, metadata: object) => ({
    edge_id: id(index),
    plan_id: id(0),
    from_task_id: id(from),
    to_task_id: id(to),
    edge_type: type,
    metadata,
  })
  const plan = (nodes: object[], edges: object[]) => ({
    plan: {
      plan_id: id(0),
      title: 't',
      root_task_id: id(1),
      created_at: '2026-01-01',
      owner_agent_id: 'xiaobo',
      constraints: {},
    },
    nodes,
    edges,
  })
  const two = [node(1, 'GOAL'), node(2, 'ACTION')]

  it.each([
    [
      'a root that is no GOAL',
      plan([node(1, 'CHECK')], []),
      '$.nodes[0].node_type',
      { node_type: 'GOAL' },
    ],
    [
      'AND next to OR',
      plan(
        [...two, node(3, 'ACTION')],
        [
          edge(8, 1, 2, 'DECOMPOSE', { and_or: 'OR' }),
          edge(9, 1, 3, 'DECOMPOSE', { and_or: 'AND' }),
        ],
      ),
      '$.edges[1].metadata.and_or',
      { and_or: 'OR' },
    ],
    [
      'a cycle',
      plan(two, [edge(8, 1, 2, 'DECOMPOSE', {}), edge(9, 2, 2, 'DEPENDS_ON', {})]),
      '$.edges[1]',
      { edges: [{ from_task_id: id(2), to_task_id: id(2) }] },
    ],
  ])('%s', (_, raw, path, example) => {
    const { error } = ask('PLAN_GEN', raw)
    expect(error?.json_path).toBe(path)
    expect(JSON.parse(error?.example_fix ?? '')).toEqual(example)
  })
})
