/** Checking: sizes that are too large for a vector, and that nothing makes it throw or hang. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyJson } from '../../tests/arbitrary/from-schema.ts'
import { runs } from '../../tests/arbitrary/runs.ts'
import { checkDocument, checkText, detectContract } from './check.ts'

const TASK = {
  type: 'ao_act_task_v0',
  act_task_id: 't',
  issuer: { kind: 'human', id: 'a', namespace: 'n' },
  action_type: 'PLOW',
  target: { kind: 'path', ref: 'p1' },
  time_window: { start_ts: 1, end_ts: 2 },
  parameter_schema: { keys: [{ name: 'depth_cm', type: 'number' }] },
  parameters: { depth_cm: 20 },
  constraints: {},
  created_at_ts: 0,
}

/** A task has 23 values of its own; meta and its list are two more. */
function taskOfValues(values: number): object {
  return { ...TASK, meta: { list: Array(values - 25).fill(0) } }
}

const codes = (answer: { violations: readonly { code: string; path: string }[] }): string[] =>
  answer.violations.map(({ code, path }) => `${code} at ${path}`)

describe('too large', () => {
  it('takes 100,000 values and refuses one more, as a value and as a text', () => {
    expect(checkDocument(taskOfValues(100_000)).valid).toBe(true)
    const want = ['document.too_large at /meta/list/99975']
    expect(codes(checkDocument(taskOfValues(100_001)))).toEqual(want)
    const text = JSON.stringify(taskOfValues(100_001))
    expect(codes(checkText(text))).toEqual(want)
    expect(codes(checkText(text, { as: 'ao_act_task_v0' }))).toEqual(want)
  })

  it('takes 8 MiB and refuses more, also when the contract had to be detected first', () => {
    const bytes = 8 * 1024 * 1024
    const padded = (size: number): string => {
      const text = JSON.stringify({ ...TASK, meta: { pad: '' } })
      return text.replace('"pad":""', `"pad":"${'x'.repeat(size - text.length)}"`)
    }
    expect(checkText(padded(bytes), { as: 'ao_act_task_v0' }).valid).toBe(true)
    expect(codes(checkText(padded(bytes + 1), { as: 'ao_act_task_v0' }))).toEqual([
      'document.too_large at ',
    ])
    expect(codes(checkText(padded(bytes + 1000)))).toEqual(['document.too_large at '])
    expect(codes(checkDocument(JSON.parse(padded(bytes + 1000))))).toEqual([
      'document.too_large at ',
    ])
  })
})

describe('hostile documents are ordinary documents', () => {
  it('answers many violations below one very long key', () => {
    const meta = { ['k'.repeat(4_000_000)]: Array(20_000).fill({ mode: 1 }) }
    expect(checkDocument({ ...TASK, meta }).valid).toBe(false)
  })

  it('answers a misspelt value next to a very long list', () => {
    const list = Array.from({ length: 90_000 }, (_, index) => `${index}`.padStart(64, 'x'))
    const keys = [{ name: 'e', type: 'enum', enum: list }]
    const value = { e: `${'x'.repeat(60)}yyyy` }
    const document = {
      ...TASK,
      parameter_schema: { keys },
      parameters: value,
      constraints: value,
    }
    expect(codes(checkDocument(document))).toHaveLength(2)
  })

  it('answers ninety thousand unknown keys', () => {
    const keys = Array.from({ length: 90_000 }, (_, index) => [`created_at_t${index}`, 1])
    expect(checkDocument({ ...TASK, ...Object.fromEntries(keys) }).violations).toHaveLength(90_000)
  })

  it('never throws on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(checkText(text).valid).toBe(false)
        expect(checkText(text, { as: text }).valid).toBe(false)
      }),
      { numRuns: runs(40) },
    )
  })

  it('never throws on any value', () => {
    fc.assert(
      fc.property(anyJson, (document) => {
        expect(checkDocument(document).valid).toBe(false)
      }),
    )
  })
})

describe('detection', () => {
  it('prefers a marker to a shape, and takes no guess between two shapes', () => {
    expect(detectContract({ ...TASK, plan: {}, nodes: [], edges: [] })).toBe('ao_act_task_v0')
    expect(detectContract({ type: 'ao_act_task_v0', payload: {} })).toBe('record')
    expect(detectContract({ type: 'unheard_of', payload: {} })).toBe('record')
    expect(detectContract({ type: 'x', payload: {}, plan: {}, nodes: [], edges: [] })).toBeNull()
    expect(detectContract({ plan: {}, nodes: [], edges: [] })).toBe('plan_json_v1')
    expect(detectContract({ descriptor: {}, operation: {} })).toBe('proposal_v1')
    expect(detectContract({ descriptor: {}, children: [] })).toBe('proposal_v1')
    expect(detectContract({ descriptor_version: null })).toBe('action_descriptor')
    expect(detectContract({ descriptor: {} })).toBeNull()
  })
})
