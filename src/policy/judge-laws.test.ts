/** The index of laws changes nothing but the cost, and a hostile file is refused quickly. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { evaluate } from '../expression/index.ts'
import { type LawSet, loadLaws } from './index.ts'
import { candidates } from './law-index.ts'

const ATOMS = [
  "descriptor.risk_level == 'HIGH'",
  "descriptor.risk_level in ['LOW', 'CRITICAL']",
  "descriptor.action_type == 'FILE_WRITE'",
  "operation.type == 'COMMAND_EXECUTION'",
  "operation.argv[0] == 'rm'",
  "context.actor_kind != 'human'",
  'context.recent_rollbacks > 2',
  'result.counts.deleted > 1',
]

const expression = fc
  .array(fc.constantFrom(...ATOMS), { minLength: 1, maxLength: 3 })
  .chain((atoms) => fc.constantFrom(' && ', ' || ').map((operator) => atoms.join(operator)))

const values = fc.record(
  {
    descriptor: fc.record(
      {
        risk_level: fc.constantFrom('LOW', 'HIGH', 'CRITICAL', 3, null),
        action_type: fc.constantFrom('FILE_WRITE', 'COMMAND_EXECUTION'),
      },
      { requiredKeys: [] },
    ),
    operation: fc.constantFrom(
      { type: 'COMMAND_EXECUTION', argv: ['rm'] },
      { type: 'COMMAND_EXECUTION', argv: [] },
      { type: 'FILE_WRITE' },
    ),
    context: fc.record({
      actor_kind: fc.constantFrom('ai', 'human'),
      recent_rollbacks: fc.nat({ max: 4 }),
    }),
    result: fc.record({ counts: fc.record({ deleted: fc.nat({ max: 3 }) }) }),
  },
  { requiredKeys: [] },
)

describe('the index of laws', () => {
  it('passes over no law that is broken or cannot be evaluated', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(expression, { minLength: 1, maxLength: 8 }),
        values,
        async (sources, seen) => {
          const { laws } = await load(sources)
          const found = new Set(candidates(laws, false, seen))
          for (const law of laws) {
            if (!found.has(law)) expect(evaluate(law.expression, seen).value).toBe(false)
          }
        },
      ),
      { numRuns: runs(75) },
    )
  })

  it('really passes over laws', async () => {
    const { laws } = await load([
      "descriptor.risk_level == 'HIGH'",
      "descriptor.risk_level == 'LOW'",
    ])
    const seen = { descriptor: { risk_level: 'LOW' } }
    expect(candidates(laws, true, seen).map(({ policyId }) => policyId)).toEqual(['L1'])
  })
})

describe('any text', () => {
  const lawLike = fc.record(
    {
      laws: fc.array(
        fc.record(
          {
            policy_id: fc.oneof(
              fc.constantFrom('A', 'B', 'WRIT_ITSELF', '__proto__'),
              fc.jsonValue(),
            ),
            tier: fc.oneof(fc.nat({ max: 3 }), fc.jsonValue()),
            policy_expr: fc.oneof(expression, fc.string(), fc.jsonValue()),
            priority: fc.oneof(fc.nat({ max: 3 }), fc.jsonValue()),
            conflicts_with: fc.oneof(fc.array(fc.constantFrom('A', 'B', 'C')), fc.jsonValue()),
            override_mode: fc.constantFrom('merge', 'hard_override', 'soft_override', 7),
            violation_action: fc.constantFrom('block', 'confirm', 'alert', null),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 4 },
      ),
      ephemeral: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
      settings: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )

  it('is answered with laws, or with faults that have a place in it', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      lawLike.map((value) => JSON.stringify(value, null, 2)),
    )
    await fc.assert(
      fc.asyncProperty(text, async (source) => {
        const reading = await loadLaws(source)
        if (reading.ok) return
        expect(reading.faults.length).toBeGreaterThan(0)
        for (const { line, column } of reading.faults) {
          expect(line).toBeGreaterThan(0)
          expect(line).toBeLessThanOrEqual(source.split('\n').length + 1)
          expect(column).toBeGreaterThan(0)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('a hostile law file', () => {
  it.each([
    ['deep', `laws: ${'['.repeat(20_000)}`],
    [
      'aliases',
      `a: &a [${'x,'.repeat(100)}]\nb: &b [${'*a,'.repeat(100)}]\nlaws: [${'*b,'.repeat(100)}]`,
    ],
    ['many laws', JSON.stringify({ laws: Array.from({ length: 3000 }, () => ({})) })],
    [
      'long expressions',
      JSON.stringify({ laws: Array.from({ length: 300 }, () => law('(('.repeat(2000))) }),
    ],
  ])('%s', async (_, text) => {
    const reading = await loadLaws(text)
    expect(reading.ok).toBe(false)
  })
})

function law(source: string, index = 0) {
  return {
    policy_id: `L${index}`,
    tier: 1,
    policy_expr: source,
    priority: index,
    override_mode: 'merge',
    violation_action: 'block',
  }
}

async function load(sources: readonly string[]): Promise<LawSet> {
  const reading = await loadLaws(
    JSON.stringify({ laws: sources.map((one, index) => law(one, index)) }),
  )
  if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
  return { ...reading.laws, laws: reading.laws.laws.filter(({ isBuiltIn }) => !isBuiltIn) }
}
