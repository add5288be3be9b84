/** Laws of settling conflicts: order is irrelevant, and a silenced policy silences no other. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Ranked, settleConflicts, type Triggered } from './conflict.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']

/** Policies with different priorities, so that no two can be in a tie. */
const policies: fc.Arbitrary<readonly Triggered<Ranked>[]> = fc
  .record({
    order: fc.shuffledSubarray(IDS),
    conflicts: fc.array(fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...IDS)), {
      maxLength: 10,
    }),
    modes: fc.array(fc.constantFrom('hard_override', 'soft_override', 'merge'), {
      minLength: IDS.length,
      maxLength: IDS.length,
    }),
    certain: fc.array(fc.boolean(), { minLength: IDS.length, maxLength: IDS.length }),
  })
  .map(({ order, conflicts, modes, certain }) =>
    order.map((policyId, index) => ({
      policy: {
        policyId,
        priority: index * 10,
        conflictsWith: conflicts.filter(([one]) => one === policyId).map(([, other]) => other),
        overrideMode: modes[index] ?? ('merge' as const),
      },
      isCertain: certain[index] ?? true,
    })),
  )

describe('conflicts', () => {
  it('do not depend on the order of the policies', () => {
    fc.assert(
      fc.property(policies, (triggered) => {
        const one = settleConflicts(triggered)
        const other = settleConflicts([...triggered].reverse())
        expect(other).toEqual(one)
      }),
    )
  })

  it('are won by the higher priority, by a policy that is certain and not overridden', () => {
    fc.assert(
      fc.property(policies, (triggered) => {
        const byId = new Map(triggered.map((one) => [one.policy.policyId, one]))
        const { conflicts, silenced, softened } = settleConflicts(triggered)
        for (const { winner, loser, mode } of conflicts) {
          const strong = byId.get(winner)
          expect(strong?.policy.priority).toBeGreaterThan(byId.get(loser)?.policy.priority ?? 0)
          expect(strong?.policy.overrideMode).toBe(mode)
          expect(strong?.isCertain).toBe(true)
          expect(silenced.has(winner) || softened.has(winner)).toBe(false)
        }
      }),
    )
  })

  it('always leave the strongest certain policy standing', () => {
    fc.assert(
      fc.property(policies, (triggered) => {
        const certain = triggered.filter(({ isCertain }) => isCertain)
        const top = certain.toSorted((one, other) => other.policy.priority - one.policy.priority)[0]
        if (top === undefined) return
        const { silenced, softened } = settleConflicts(triggered)
        expect([...silenced.keys(), ...softened.keys()]).not.toContain(top.policy.policyId)
      }),
    )
  })

  it('cost no more than they are named', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => ({
      policy: {
        policyId: `p${index}`,
        priority: index,
        conflictsWith: [`p${index + 1}`, `p${(index * 7) % 100_000}`],
        overrideMode: 'soft_override' as const,
      },
      isCertain: true,
    }))
    const { softened } = settleConflicts(many)
    expect(softened.size).toBeGreaterThan(50_000)
  })
})
