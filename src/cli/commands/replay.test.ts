/** Decisions are computed again from facts and bodies; what is gone is never called equal. */
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson, digestBytes, digestDocument } from '../../base/index.ts'
import type { Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  compareEffects,
  compareSteps,
  DEFAULT_LISTS,
  decide,
  type EntryState,
  inlineDiff,
  listsDigest,
  listsText,
  manifestLines,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import { commit, type Fact, type OpenedFact, type ReplayLookup } from '../../ledger/index.ts'
import { replayDecision } from './replay.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8')) as {
  readonly bases: {
    readonly proposal: Proposal
    readonly composite: Proposal
    readonly whole: Evaluation
    readonly early: Evaluation
    readonly result: SandboxResult
  }
}

const OLD: EntryState = {
  kind: 'file',
  mode: 0o644,
  size: 3,
  digest: digestBytes('old'),
  target: null,
  attributes: [],
  owner: null,
  mtimeNs: '0',
  linkGroup: null,
}
const CHANGES: readonly Change[] = [
  { path: rawOfText('/home/ann/.cache/x'), before: null, after: OLD },
  { path: rawOfText('/home/ann/shop/tmp/a.log'), before: OLD, after: null },
]

/** A ledger that holds just what is put there. */
class Kept implements ReplayLookup {
  readonly bodies = new Map<string, Uint8Array>()
  readonly facts: OpenedFact[] = []

  async body(digest: string): Promise<Uint8Array | null> {
    return this.bodies.get(digest) ?? null
  }

  async fact(): Promise<null> {
    return null
  }

  async *each(stream: string, types: ReadonlySet<string>): AsyncIterable<OpenedFact> {
    yield* this.facts.filter((one) => one.stream === stream && types.has(one.record.type))
  }

  async ofRun(): Promise<readonly OpenedFact[]> {
    return []
  }

  async ofAction(stream: string, type: string): Promise<readonly OpenedFact[]> {
    return this.facts.filter((one) => one.stream === stream && one.record.type === type)
  }

  keep(text: string): string {
    const bytes = new TextEncoder().encode(text)
    this.bodies.set(digestBytes(bytes), bytes)
    return digestBytes(bytes)
  }

  add(type: string, payload: unknown, more: object = {}, stream = 'main'): OpenedFact {
    const fact = {
      seq: this.facts.filter((one) => one.stream === stream).length,
      stream,
      occurred_at: '2026-11-15T08:00:04.000Z',
      record: { type, payload, ...more },
      payload,
    } as unknown as OpenedFact
    this.facts.push(fact)
    return fact
  }
}

let kept: Kept

beforeEach(() => {
  kept = new Kept()
})

function keepProposal(proposal: Proposal): string {
  const body = commit(new Uint8Array(32), new TextEncoder().encode(canonicalJson(proposal)))
  kept.bodies.set(body.digest, body.bytes)
  kept.add('proposal_v1', proposal, { original: { body: body.digest, bytes: 1 } })
  return digestDocument(proposal)
}

/** Records one decision as the host does. */
function record(proposal: Proposal, changes = CHANGES): Fact {
  const proposal_digest = keepProposal(proposal)
  const input = {
    descriptor: proposal.descriptor,
    changes,
    lists: DEFAULT_LISTS,
    host: bases.whole.host,
    isAmended: true,
    declaredByApproval: false,
    scriptsChanged: new Set<RawPath>(),
    pathDirectories: ['/usr/bin'],
  }
  const child = proposal.children?.[0]
  const comparison =
    child === undefined
      ? compareEffects(input)
      : compareSteps([{ descriptor: child.descriptor, changes }], input)
  const manifest = kept.keep([...manifestLines(changes)].join(''))
  const steps = child === undefined ? [] : [{ action_id: child.descriptor.action_id, manifest }]
  const result: SandboxResult = {
    ...bases.result,
    proposal_digest,
    diff: {
      counts: comparison.counts,
      bytes: comparison.bytes,
      manifest,
      ...inlineDiff(comparison.promoted),
    },
    findings: [...comparison.findings, { code: 'diff.link_split', path: '/home/ann/shop/tmp/l' }],
  }
  kept.add('sandbox_result_v1', result)
  kept.keep(listsText(DEFAULT_LISTS))
  const evaluation: Evaluation = {
    ...bases.whole,
    proposal_digest,
    result_digest: digestDocument(result),
    lists: listsDigest(DEFAULT_LISTS),
    comparison: { scripts_changed: [], path_directories: ['/usr/bin'], steps },
  }
  kept.add('evaluation_v1', evaluation)
  const decidedAt = '2026-11-15T08:00:04Z'
  const judgement = { proposal, evaluation, result, lists: DEFAULT_LISTS, decidedAt }
  return kept.add('decision_v1', decide(judgement))
}

async function replay(fact: Fact) {
  return replayDecision(fact, fact.record.payload, kept)
}

/** Replaces what a record of a type holds. */
function forge(type: string, change: (payload: never) => object): void {
  const index = kept.facts.findIndex(({ record: { type: one } }) => one === type)
  const fact = kept.facts[index] as OpenedFact
  kept.facts[index] = { ...fact, payload: change(structuredClone(fact.payload) as never) }
}

describe('replay of a decision', () => {
  it('finds what was decided', async () => {
    const fact = record(bases.proposal)
    expect((fact.record.payload as { decision: string }).decision).toBe('CONFIRM')
    expect(await replay(fact)).toEqual({ kind: 'equal' })
  })

  it('finds it for a composite, child by child', async () => {
    expect(await replay(record(bases.composite))).toEqual({ kind: 'equal' })
  })

  it('finds it for a document that broke its contract', async () => {
    kept.keep(listsText(DEFAULT_LISTS))
    const evaluation: Evaluation = {
      ...bases.early,
      lists: listsDigest(DEFAULT_LISTS),
      violations: [{ code: 'descriptor.scope_implicit', path: '/descriptor/scope' }],
    }
    kept.add('evaluation_v1', evaluation)
    const judgement = { evaluation, proposal: null, result: null, lists: DEFAULT_LISTS }
    const decidedAt = '2026-11-15T08:00:04Z'
    const fact = kept.add('decision_v1', decide({ ...judgement, decidedAt }))
    expect(await replay(fact)).toEqual({ kind: 'equal' })
  })

  it.each<[string, string, (payload: never) => object]>([
    [
      'a finding that was left out',
      'sandbox_result_v1',
      (one: SandboxResult) => ({ ...one, findings: [] }),
    ],
    [
      'a count that was changed',
      'sandbox_result_v1',
      (one: SandboxResult) => ({
        ...one,
        diff: { ...one.diff, counts: { ...one.diff.counts, deleted: 9 } },
      }),
    ],
    [
      'a law that was broken',
      'evaluation_v1',
      (one: Evaluation) => ({
        ...one,
        law_outcomes: [
          {
            policy_id: 'NO',
            tier: 1,
            action: 'block',
            state: 'broken',
            reads_result: false,
            overridden: false,
          },
        ],
      }),
    ],
    [
      'a risk that was lowered',
      'evaluation_v1',
      (one: Evaluation) => ({ ...one, risk: { declared: 'LOW', floor: 'LOW', effective: 'LOW' } }),
    ],
  ])('tells %s', async (_, type, change) => {
    const fact = record(bases.proposal)
    forge(type, change)
    expect(await replay(fact)).toMatchObject({ kind: 'different' })
  })

  it('tells a decision that does not follow', async () => {
    const fact = record(bases.proposal)
    const forged = { ...(fact.record.payload as object), decision: 'PROMOTE' }
    expect(await replayDecision(fact, forged, kept)).toMatchObject({ kind: 'different' })
  })

  it('says when another evaluator decided', async () => {
    const fact = record(bases.proposal)
    forge('evaluation_v1', (one: Evaluation) => ({
      ...one,
      evaluator: { name: 'gate', version: '0' },
    }))
    expect(await replay(fact)).toEqual({
      kind: 'engine_changed',
      recorded: 'gate/0',
      known: 'gate/3',
    })
  })

  it('is neither equal nor different without any one of its bodies', async () => {
    const fact = record(bases.proposal)
    expect(kept.bodies.size).toBe(3)
    for (const [digest, bytes] of [...kept.bodies]) {
      kept.bodies.delete(digest)
      expect(await replay(fact)).toMatchObject({ kind: 'unreplayable' })
      kept.bodies.set(digest, bytes)
    }
    expect(await replay(fact)).toEqual({ kind: 'equal' })
  })

  it('nor without the evaluation', async () => {
    const fact = record(bases.proposal)
    forge('evaluation_v1', () => null as unknown as object)
    expect(await replay(fact)).toMatchObject({ kind: 'unreplayable' })
    kept.facts.splice(2, 1)
    expect(await replay(fact)).toMatchObject({ kind: 'unreplayable' })
  })
})

const LAWS = `laws:
  - { policy_id: NO_LOGS_GONE, tier: 1, policy_expr: deletes('**/*.log'), priority: 5, override_mode: merge, violation_action: block }
  - { policy_id: NO_EARLY, tier: 1, policy_expr: "context.actor == 'bot' && context.recent_rollbacks > 3", priority: 4, override_mode: merge, violation_action: block }
settings: { cooldown_minutes: 5 }
`
const OVERRIDE = {
  override_id: '0197f2a4-7c11-4d3e-8a55-0c4e2b9d6f01',
  kind: 'law',
  policy_id: 'NO_LOGS_GONE',
  expires_at: '2026-11-15T09:00:00Z',
  uses: 1,
  reason: 'a clean-up',
  given_at: '2026-11-15T07:00:00Z',
}

/** The same decision, with all that laws and standing were judged with. */
function recordGrounded(change: (evaluation: Evaluation) => void = () => {}): Fact {
  const decided = record(bases.proposal)
  const at = kept.facts.findLastIndex((one) => one.record.type === 'evaluation_v1')
  const evaluation = structuredClone(kept.facts[at]?.payload) as Evaluation
  evaluation.evaluator = { name: 'gate', version: '2' }
  evaluation.laws = kept.keep(LAWS)
  evaluation.basis = {
    actor: 'bot',
    machine: 'box',
    home: '/home/ann',
    recent_rollbacks: 0,
    overrides: [],
    facts_seen: { host: 0, stream: kept.facts.length - 4 },
  }
  evaluation.law_outcomes = [
    {
      policy_id: 'NO_LOGS_GONE',
      tier: 1,
      action: 'block',
      state: 'broken',
      reads_result: true,
      overridden: false,
    },
  ]
  change(evaluation)
  kept.facts[at] = { ...(kept.facts[at] as OpenedFact), payload: evaluation }
  const { payload: result } = kept.facts[at - 1] as OpenedFact
  const judgement = { evaluation, proposal: bases.proposal, lists: DEFAULT_LISTS }
  const decidedAt = '2026-11-15T08:00:04Z'
  const decision = decide({ ...judgement, result: result as SandboxResult, decidedAt })
  kept.facts[at + 1] = { ...(decided as OpenedFact), payload: decision }
  return { ...decided, record: { ...decided.record, payload: decision } }
}

describe('replay of what a decision was judged with', () => {
  it('finds what laws said, from their text', async () => {
    const fact = recordGrounded()
    expect(fact.record.payload).toMatchObject({ decision: 'BLOCK', code: 'law.NO_LOGS_GONE' })
    expect(await replay(fact)).toEqual({ kind: 'equal' })
  })

  it.each<[string, (evaluation: Evaluation) => void, object]>([
    [
      'a law that was kept quiet',
      (one) => {
        one.law_outcomes = []
      },
      { recorded: { laws: [] } },
    ],
    [
      'a law that was said to be broken',
      ({ law_outcomes }) => {
        law_outcomes.unshift({
          policy_id: 'NO_EARLY',
          tier: 1,
          action: 'block',
          state: 'broken',
          reads_result: false,
          overridden: false,
        })
      },
      { computed: { laws: [{ policy_id: 'NO_LOGS_GONE' }] } },
    ],
    [
      'an override that was not given',
      ({ basis, law_outcomes: [law] }) => {
        basis?.overrides.push({ override_id: OVERRIDE.override_id, policy_id: 'NO_LOGS_GONE' })
        if (law !== undefined) law.overridden = true
      },
      { computed: { overrides: [] } },
    ],
    [
      'rollbacks that were not made',
      ({ basis }) => {
        if (basis !== undefined) basis.recent_rollbacks = 2
      },
      { computed: { standing: { recent_rollbacks: 0 } } },
    ],
    [
      'a block that was not decided',
      (one) => {
        one.standing.permanent = true
      },
      { computed: { standing: { permanent: false } } },
    ],
  ])('tells %s', async (_, change, told) => {
    expect(await replay(recordGrounded(change))).toMatchObject({ kind: 'different', ...told })
  })

  const use = ({ basis, law_outcomes: [law] }: Evaluation): void => {
    const { override_id, policy_id } = OVERRIDE
    basis?.overrides.push({ override_id, policy_id })
    if (law !== undefined) law.overridden = true
  }

  it('finds an override that was in force', async () => {
    kept.add('override_v1', OVERRIDE)
    const fact = recordGrounded(use)
    expect(fact.record.payload).toMatchObject({ decision: 'CONFIRM' })
    expect(await replay(fact)).toEqual({ kind: 'equal' })
  })

  it.each<[string, object]>([
    ['was over', { expires_at: '2026-11-15T07:30:00Z' }],
    ['was given for another intent', { intent: `sha256:${'a'.repeat(64)}` }],
    ['set another law aside', { policy_id: 'NO_EARLY' }],
  ])('tells an override that %s', async (_, change) => {
    kept.add('override_v1', { ...OVERRIDE, ...change })
    expect(await replay(recordGrounded(use))).toMatchObject({
      kind: 'different',
      computed: { overrides: {} },
    })
  })

  it('tells an override that was used up', async () => {
    kept.add('override_v1', OVERRIDE)
    const first = recordGrounded(use)
    expect(await replay(first)).toEqual({ kind: 'equal' })
    const used = kept.facts.find(({ record: one }) => one.type === 'evaluation_v1')
    const earlier = structuredClone(used?.payload) as Evaluation
    kept = new Kept()
    kept.add('override_v1', OVERRIDE)
    const action_id = '11111111-1111-4111-8111-111111111111'
    kept.add('evaluation_v1', { ...earlier, action_id })
    kept.add('decision_v1', { ...(first.record.payload as object), action_id })
    const again = recordGrounded(use)
    expect(await replay(again)).toMatchObject({ kind: 'different', computed: { overrides: [] } })
  })

  it('tells a halt that was passed over, and takes one that was not a fact yet', async () => {
    const seen = recordGrounded((one) => {
      one.standing.halted = true
      one.law_outcomes = []
      one.preconditions = null
    })
    expect(await replay(seen)).toMatchObject({ kind: 'equal' })
    kept = new Kept()
    kept.add('halt_v1', { state: 'HALTED', at: '2026-11-15T07:00:00Z' }, {}, 'host')
    const passed = recordGrounded(({ basis }) => {
      if (basis !== undefined) basis.facts_seen.host = 1
    })
    expect(await replay(passed)).toMatchObject({
      kind: 'different',
      computed: { standing: { halted: true } },
    })
  })

  it('is neither without the laws, or without what it was judged with', async () => {
    const fact = recordGrounded()
    kept.bodies.delete(digestBytes(LAWS))
    expect(await replay(fact)).toMatchObject({ kind: 'unreplayable' })
    kept = new Kept()
    const bare = recordGrounded((one) => {
      delete one.basis
    })
    expect(await replay(bare)).toMatchObject({ kind: 'unreplayable' })
  })
})
