/** Laws of AO-ACT documents: order of keys, and the lists of seed 000 §A.3, seed 000 §B.3. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { checkDocument } from '../check.ts'
import { validate } from '../kernel/validate.ts'
import { RECEIPT_FORBIDS, TASK_FORBIDS } from './forbid.ts'
import { actReceipt } from './receipt.ts'
import { ACTION_TYPES, actTask } from './task.ts'

type Json = fc.JsonValue

/** Valid tasks of many shapes. */
const freeText = fc.string({ unit: 'binary', maxLength: 6 })
const name = fc
  .oneof(freeText, fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'Mode', '0'))
  .filter((word) => !TASK_FORBIDS.has(word) && !RECEIPT_FORBIDS.has(word))
const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
const ref = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]{0,30}$/)
const span = fc
  .tuple(finite, finite)
  .map((ends) => ({ start_ts: Math.min(...ends), end_ts: Math.max(...ends) }))
const meta = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    freeText,
    finite,
    fc.boolean(),
    fc.constant(null),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3 }) as fc.Arbitrary<Json>,
})).object

interface Parameter {
  readonly key: Json
  readonly value: Json
}

const parameter: fc.Arbitrary<Parameter> = fc.oneof(
  finite.map((value) => ({ key: { type: 'number' }, value })),
  fc.tuple(finite, finite, finite).map((three) => {
    const [min, value, max] = three.sort((left, right) => left - right) as [number, number, number]
    return { key: { type: 'number', min, max }, value }
  }),
  fc.boolean().map((value) => ({ key: { type: 'boolean' }, value })),
  fc
    .array(freeText, { minLength: 1, maxLength: 3 })
    .chain((list) =>
      fc.constantFrom(...list).map((value) => ({ key: { type: 'enum', enum: list }, value })),
    ),
)

const parameters = fc.uniqueArray(fc.tuple(name, parameter), {
  minLength: 1,
  maxLength: 20,
  selector: ([one]) => one,
})

const task = fc
  .record({
    parameters,
    ids: fc.tuple(freeText, freeText, freeText),
    action: fc.constantFrom(...ACTION_TYPES),
    target: fc.record({ kind: fc.constantFrom('field', 'area', 'path'), ref }),
    window: span,
    limits: fc.dictionary(name, fc.oneof(finite, fc.boolean()), { maxKeys: 3 }),
    created: finite,
    meta: fc.option(meta, { nil: undefined }),
  })
  .map((made) => ({
    type: 'ao_act_task_v0',
    act_task_id: made.ids[0],
    issuer: { kind: 'human', id: made.ids[1], namespace: made.ids[2] },
    action_type: made.action,
    target: made.target,
    time_window: made.window,
    parameter_schema: {
      keys: made.parameters.map(([one, { key }]) => ({ name: one, ...(key as object) })),
    },
    parameters: Object.fromEntries(made.parameters.map(([one, { value }]) => [one, value])),
    constraints: made.limits,
    created_at_ts: made.created,
    ...(made.meta === undefined ? {} : { meta: made.meta }),
  }))

const usage = fc.option(finite, { nil: null })
const receipt = fc
  .record({
    task,
    kind: fc.constantFrom('human', 'script', 'device'),
    time: span,
    four: fc.tuple(usage, usage, usage, usage),
    more: fc.dictionary(name, usage, { maxKeys: 2 }),
    logs: fc.array(fc.tuple(ref, ref), { minLength: 1, maxLength: 3 }),
    status: fc.constantFrom(undefined, 'executed', 'not_executed'),
    violations: fc.array(freeText, { maxLength: 2 }),
    violated: fc.boolean(),
    observed: fc.dictionary(name, fc.oneof(finite, fc.boolean()), { maxKeys: 3 }),
    meta: fc.option(meta, { nil: undefined }),
  })
  .map((made) => ({
    task: made.task,
    receipt: {
      type: 'ao_act_receipt_v0',
      act_task_id: made.task.act_task_id,
      executor_id: { kind: made.kind, id: 'i', namespace: 'n' },
      execution_time: made.time,
      execution_coverage: made.task.target,
      resource_usage: {
        ...made.more,
        ...{ fuel_l: made.four[0], electric_kwh: made.four[1] },
        ...{ water_l: made.four[2], chemical_ml: made.four[3] },
      },
      logs_refs: made.logs.map(([kind, one]) => ({ kind, ref: one })),
      ...(made.status === undefined ? {} : { status: made.status }),
      constraint_check: {
        violated: made.violated || made.violations.length > 0,
        violations: made.violations,
      },
      observed_parameters: { ...made.observed, ...made.task.parameters },
      created_at_ts: 0,
      ...(made.meta === undefined ? {} : { meta: made.meta }),
    },
  }))

/** The same document with its keys in another order at every depth. */
function reorder(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, seed))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(
    ([key, member]) => [key, reorder(member, seed)] as const,
  )
  const turn = entries.length === 0 ? 0 : seed % entries.length
  return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)].reverse())
}

/** Every object in a document, with its pointer steps. */
function* objectsIn(value: unknown): Iterable<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const member of Object.values(value)) yield* objectsIn(member)
}

function forbidSomewhere(document: unknown, key: string, where: number): unknown {
  const copy = structuredClone(document)
  const objects = [...objectsIn(copy)]
  const target = objects[where % objects.length] ?? {}
  target[key] = null
  return copy
}

describe('tasks', () => {
  it('stay valid in any order of keys', () => {
    fc.assert(
      fc.property(task, fc.nat(), (document, seed) => {
        expect(validate(actTask, document)).toEqual({ valid: true, violations: [] })
        expect(validate(actTask, reorder(document, seed)).valid).toBe(true)
      }),
    )
  })

  it('become invalid by one forbidden key anywhere', () => {
    fc.assert(
      fc.property(task, fc.constantFrom(...TASK_FORBIDS), fc.nat(), (document, key, where) => {
        const { violations } = validate(actTask, forbidSomewhere(document, key, where))
        expect(violations.filter(({ code }) => code === 'task.forbid_key')).toMatchObject([
          { path: expect.stringMatching(new RegExp(`/${key}$`)) },
        ])
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('receipts', () => {
  it('stay valid in any order of keys', () => {
    fc.assert(
      fc.property(receipt, fc.nat(), (made, seed) => {
        const context = { task: made.task }
        expect(validate(actReceipt, made.receipt, context)).toEqual({ valid: true, violations: [] })
        expect(validate(actReceipt, reorder(made.receipt, seed), context).valid).toBe(true)
      }),
    )
  })

  it('become invalid by one forbidden key anywhere', () => {
    fc.assert(
      fc.property(receipt, fc.constantFrom(...RECEIPT_FORBIDS), fc.nat(), (made, key, where) => {
        const document = forbidSomewhere(made.receipt, key, where)
        const { violations } = validate(actReceipt, document, { task: made.task })
        expect(violations.filter(({ code }) => code === 'receipt.forbid_key')).toHaveLength(1)
      }),
      { numRuns: runs(300) },
    )
  })
})

/** Slips that leave the structure sound, so that only the checks can tell. */
const TASK_SLIPS: readonly [slip: (task: Draft) => void, code: string][] = [
  [(task) => Object.assign(task['time_window'], { start_ts: 2, end_ts: 1 }), 'time_window_order'],
  [(task) => add(task, 'depth', { type: 'number', min: 1 }, 0), 'bounds'],
  [(task) => add(task, 'depth', { type: 'number', max: 1 }, 2), 'bounds'],
  [(task) => add(task, 'depth', { type: 'number', min: 2, max: 1 }, 1.5), 'schema_facet_misplaced'],
  [(task) => add(task, 'depth', { type: 'number', enum: ['a'] }, 1), 'schema_facet_misplaced'],
  [(task) => add(task, 'depth', { type: 'boolean', min: 1 }, true), 'schema_facet_misplaced'],
  [(task) => add(task, 'depth', { type: 'boolean', enum: ['a'] }, true), 'schema_facet_misplaced'],
  [
    (task) => add(task, 'way', { type: 'enum', enum: ['a'], max: 1 }, 'a'),
    'schema_facet_misplaced',
  ],
  [(task) => add(task, 'way', { type: 'enum', enum: ['a'] }, 'b'), 'enum_not_in_list'],
  [(task) => add(task, 'way', { type: 'enum', enum: [] }, 'b'), 'schema_enum_required'],
  [(task) => add(task, 'way', { type: 'enum' }, 'b'), 'schema_enum_required'],
  [(task) => add(task, 'way', { type: 'enum', enum: ['a'] }, 1), 'param_value_type'],
  [(task) => add(task, 'way', { type: 'boolean' }, 'a'), 'free_string'],
  [(task) => add(task, 'way', { type: 'number' }, null), 'param_value_type'],
  [(task) => add(task, 'way', { type: 'number' }, []), 'param_composite'],
  [(task) => add(task, 'mode', { type: 'number' }, 1), 'forbid_key'],
  [(task) => Object.assign(task['parameters'], { '\u0000 more': 1 }), 'coverage_extra'],
  [
    (task) => task['parameter_schema'].keys.push({ name: 'x'.repeat(9), type: 'number' }),
    'coverage_missing',
  ],
  [
    (task) => task['parameter_schema'].keys.push(task['parameter_schema'].keys[0]),
    'coverage_duplicate',
  ],
  [(task) => Object.assign(task['constraints'], { 'free text': 'x' }), 'free_string'],
  [(task) => Object.assign(task['constraints'], { none: null }), 'constraint_value_type'],
  [(task) => Object.assign(task['constraints'], { list: [] }), 'constraint_composite'],
  [(task) => Object.assign(task['constraints'], { auto: 1 }), 'forbid_key'],
  [(task) => Object.assign(task, { meta: { a: [{ quality: 1 }] } }), 'forbid_key'],
]

// biome-ignore lint/suspicious/noExplicitAny: a draft is edited freely and then judged
type Draft = Record<string, any>

function add(task: Draft, called: string, key: object, value: unknown): void {
  task['parameter_schema'].keys.unshift({ name: called, ...key })
  task['parameters'] = { [called]: value, ...task['parameters'] }
}

const RECEIPT_SLIPS: readonly [slip: (receipt: Draft) => void, code: string][] = [
  [
    (made) => Object.assign(made['execution_time'], { start_ts: 2, end_ts: 1 }),
    'execution_time_order',
  ],
  [
    (made) => Object.assign(made, { constraint_check: { violated: false, violations: ['x'] } }),
    'constraint_check_inconsistent',
  ],
  [(made) => Object.assign(made['resource_usage'], { profit: 1 }), 'forbid_key'],
  [(made) => Object.assign(made['observed_parameters'], { yield: 1 }), 'forbid_key'],
  [(made) => Object.assign(made['observed_parameters'], { 'free text': 'x' }), 'free_string'],
  [(made) => Object.assign(made['observed_parameters'], { none: null }), 'observed_value_type'],
  [(made) => Object.assign(made['observed_parameters'], { list: [] }), 'observed_composite'],
  [(made) => Object.assign(made, { meta: { a: [{ mode: 1 }] } }), 'forbid_key'],
]

describe('slips that only a check can tell', () => {
  it.each(TASK_SLIPS.map(([slip, code], index) => [`${index} ${code}`, slip, code] as const))(
    'in a task: %s',
    (_, slip, code) => {
      fc.assert(
        fc.property(task, (made) => {
          const draft = structuredClone(made)
          slip(draft)
          const { violations } = validate(actTask, draft)
          expect(violations.map((violation) => violation.code)).toContain(`task.${code}`)
          for (const { message } of violations) expect(message).toMatch(/`[^`]+`/)
        }),
        { numRuns: runs(20) },
      )
    },
  )

  it.each(RECEIPT_SLIPS.map(([slip, code], index) => [`${index} ${code}`, slip, code] as const))(
    'in a receipt: %s',
    (_, slip, code) => {
      fc.assert(
        fc.property(receipt, (made) => {
          const draft = structuredClone(made.receipt)
          slip(draft)
          const { violations } = validate(actReceipt, draft, { task: made.task })
          expect(violations.map((violation) => violation.code)).toContain(`receipt.${code}`)
          for (const { message } of violations) expect(message).toMatch(/`[^`]+`/)
        }),
        { numRuns: runs(20) },
      )
    },
  )
})

describe('the lists of the seed', () => {
  it('are as long as they are there, and differ', () => {
    expect(TASK_FORBIDS.size).toBe(21)
    expect(RECEIPT_FORBIDS.size).toBe(18)
    const onlyReceipt = [...RECEIPT_FORBIDS].filter((word) => !TASK_FORBIDS.has(word))
    expect(onlyReceipt).toEqual(['success_score', 'yield', 'profit'])
    const onlyTask = [...TASK_FORBIDS].filter((word) => !RECEIPT_FORBIDS.has(word))
    expect(onlyTask).toEqual([
      ...['suggestion', 'proposal', 'expected_outcome', 'autotrigger', 'auto', 'success_criteria'],
    ])
  })
})

describe('messages', () => {
  const broken = {
    type: 'ao_act_receipt_v0',
    observed_parameters: { env: 'hunter2', rate: 'x'.repeat(500), 'a`b': [1] },
  }
  const { violations } = checkDocument(broken)
  const messageAt = (path: string): string =>
    violations.find((violation) => violation.path === path)?.message ?? ''

  it('hide secrets, cut long values and escape what breaks the line', () => {
    expect(messageAt('/observed_parameters/env')).not.toContain('hunter2')
    expect(messageAt('/observed_parameters/rate').length).toBeLessThan(200)
    expect(messageAt('/observed_parameters/a`b')).toContain('`[1 item]`')
  })

  it('are the same bytes for the same input', () => {
    expect(JSON.stringify(checkDocument(structuredClone(broken)))).toBe(
      JSON.stringify(checkDocument(broken)),
    )
  })
})
