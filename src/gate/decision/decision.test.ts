/** Laws of the decision; single cases are in spec/vectors/gate. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DECISIONS,
  type Decision,
  decisionContract,
  type Evaluation,
  type LawOutcome,
  type Proposal,
  RISK_LEVELS,
  type SandboxResult,
  validate,
} from '../../contracts/index.ts'
import { DEFAULT_LISTS } from '../data/lists.ts'
import type { Judgement } from '../evidence/findings.ts'
import { decide, decideEarly } from './decision.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8')) as {
  readonly bases: {
    readonly proposal: Proposal
    readonly composite: Proposal
    readonly whole: Evaluation
    readonly result: SandboxResult
  }
}

const law: fc.Arbitrary<LawOutcome> = fc.record({
  policy_id: fc.constantFrom('A', 'B', 'C'),
  tier: fc.constantFrom(0, 1, 2),
  action: fc.constantFrom('block', 'confirm', 'alert'),
  state: fc.constantFrom('broken', 'error'),
  reads_result: fc.boolean(),
  overridden: fc.boolean(),
})
const finding = fc.constantFrom(
  'effect.not_observed',
  'effect.discarded',
  'effect.deferred_execution',
  'effect.undeclared',
  'effect.privileged',
  'diff.link_split',
  'diff.unsupported',
  'rehearsal.interfered',
)
const rarely = (weight = 8): fc.Arbitrary<boolean> =>
  fc.nat({ max: weight }).map((number) => number === 0)

const judgement: fc.Arbitrary<Judgement> = fc
  .record({
    composite: fc.boolean(),
    laws: fc.array(law, { maxLength: 3 }),
    findings: fc.array(finding, { maxLength: 3 }),
    halted: rarely(),
    permanent: rarely(),
    reconfirm: fc.boolean(),
    cooldown: rarely(),
    precondition: rarely(),
    deleted: fc.nat({ max: 2 }),
    status: fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'TIMEOUT'),
    door: fc.constantFrom('propose', 'exec'),
    actor: fc.constantFrom('human', 'ai'),
    background: rarely(),
    rollback: fc.boolean(),
  })
  .map((one): Judgement => {
    const { whole, result } = bases
    const nowMs = whole.host.now_ms
    return {
      proposal: one.composite ? bases.composite : bases.proposal,
      evaluation: {
        ...whole,
        door: one.door,
        actor_kind: one.actor,
        law_outcomes: one.laws,
        preconditions: { failed: one.precondition ? ['user_idle'] : [] },
        standing: {
          ...whole.standing,
          halted: one.halted,
          permanent: one.permanent,
          reconfirm: one.reconfirm,
          cooldown_until_ms: one.cooldown ? nowMs + 1 : null,
        },
      } as Evaluation,
      result: {
        ...result,
        execution: { ...result.execution, status: one.status },
        findings: one.findings.map((code) => ({ code, path: '/home/ann/x' })),
        diff: { ...result.diff, counts: { added: 0, modified: 0, deleted: one.deleted } },
        side_effects: { ...result.side_effects, background_processes: one.background ? 1 : 0 },
        compliance: { ...result.compliance, rollback_possible: one.rollback },
      } as SandboxResult,
      lists: DEFAULT_LISTS,
      decidedAt: '2026-11-15T08:00:03Z',
    }
  })

/** PROMOTE 0, CONFIRM 1, BLOCK 2. */
function rank({ decision }: Decision): number {
  return DECISIONS.indexOf(decision)
}

function withDescriptor(
  one: Judgement,
  more: (descriptor: Proposal['descriptor']) => object,
): Judgement {
  const change = (proposal: Proposal): Proposal => ({
    ...proposal,
    descriptor: { ...proposal.descriptor, ...more(proposal.descriptor) },
    ...(proposal.children === undefined ? {} : { children: proposal.children.map(change) }),
  })
  return one.proposal === null ? one : { ...one, proposal: change(one.proposal) }
}

describe('laws of the decision', () => {
  it('is a decision by contract, and the same each time', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        const decision = decide(one)
        expect(validate(decisionContract, decision).violations).toEqual([])
        expect(decide(structuredClone(one))).toEqual(decision)
      }),
    )
  })

  it('has as code the first of its codes that carries it', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        const { code, codes, decision } = decide(one)
        expect(codes).toContain(code)
        if (decision === 'PROMOTE') expect(codes[0]).toBe('promote.ok')
        expect(new Set(codes).size).toBe(codes.length)
      }),
    )
  })

  it('one more finding or broken law never makes it milder', () => {
    fc.assert(
      fc.property(judgement, finding, law, (one, code, broken) => {
        const before = rank(decide(one))
        const { result, evaluation } = one
        if (result === null) return
        const found = { ...result, findings: [...result.findings, { code, path: '/home/ann/y' }] }
        expect(rank(decide({ ...one, result: found }))).toBeGreaterThanOrEqual(before)
        const laws = { ...evaluation, law_outcomes: [...evaluation.law_outcomes, broken] }
        expect(rank(decide({ ...one, evaluation: laws }))).toBeGreaterThanOrEqual(before)
      }),
    )
  })

  it('every statement of an actor about itself can only make it stricter', () => {
    const words = fc.record({
      risk_level: fc.constantFrom(...RISK_LEVELS),
      intent_summary: fc.constantFrom('Remove old files.', 'This is safe, please approve.'),
      confirmation: fc.constantFrom(
        { required: false, reason: '', cooldown_on_repeat: false },
        { required: true, reason: 'Deletes files', cooldown_on_repeat: true },
      ),
      created_at: fc.constantFrom(
        '2026-11-15T08:00:00Z',
        '2026-11-14T08:00:00Z',
        '2027-01-01T00:00:00Z',
      ),
    })
    const mildest = {
      risk_level: 'LOW',
      intent_summary: 'Remove old files.',
      confirmation: { required: false, reason: '', cooldown_on_repeat: false },
      created_at: '2026-11-15T08:00:00Z',
    }
    fc.assert(
      fc.property(judgement, words, (one, said) => {
        const mild = decide(withDescriptor(one, () => mildest))
        expect(rank(decide(withDescriptor(one, () => said)))).toBeGreaterThanOrEqual(rank(mild))
      }),
    )
  })

  it('is not promoted past a halt, a block or a cooldown', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        const { halted, permanent, cooldown_until_ms } = one.evaluation.standing
        if (!halted && !permanent && cooldown_until_ms === null) return
        expect(decide(one).decision).toBe('BLOCK')
      }),
    )
  })

  it('is known before the rehearsal when it can be, and then stays', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        const early = decideEarly({ ...one, result: null })
        if (early !== null) expect(decide(one)).toEqual(early)
      }),
    )
  })

  it('knows no override of tier 0', () => {
    fc.assert(
      fc.property(judgement, law, (one, broken) => {
        const zero: LawOutcome = { ...broken, tier: 0, action: 'block', overridden: true }
        const evaluation = { ...one.evaluation, law_outcomes: [zero] }
        expect(decide({ ...one, evaluation }).decision).toBe('BLOCK')
      }),
    )
  })

  it('is never PROMOTE after anything but a success', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        if (one.result?.execution.status === 'SUCCESS') return
        expect(decide(one).decision).not.toBe('PROMOTE')
      }),
    )
  })

  it('does not change what it is given', () => {
    fc.assert(
      fc.property(judgement, (one) => {
        const before = structuredClone(one)
        decide(one)
        expect(one).toEqual(before)
      }),
    )
  })
})
