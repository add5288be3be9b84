/**
 * Histories for `StandingFold`: facts of every type that it reads, over few ids, intents and overrides,
 * so that they meet often. The order is any order, also ones that no host would write.
 */
import fc from 'fast-check'
import type { StandingFact, StandingFold } from '../../src/gate/index.ts'

const NOON_MS = Date.parse('2026-11-15T12:00:00Z')
const HOUR_MS = 60 * 60 * 1000

const word = (name: string, count: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: count - 1 }).map((number) => `${name}${number}`)
const ID_COUNT = 6
/** Ids are the same in either case. */
const id = fc
  .tuple(word('act-', ID_COUNT), fc.boolean())
  .map(([text, isUpper]) => (isUpper ? text.toUpperCase() : text))
const intent = word('sha256:intent', 4)
const operation = word('sha256:operation', 3)
const proposal = word('sha256:proposal', 3)
const overrideId = word('override-', 4)
const moment = fc
  .integer({ min: -40, max: 40 })
  .map((hours) => new Date(NOON_MS + hours * HOUR_MS).toISOString())
/** Often the same one, so that answers meet the asking that they are about. */
const asking = fc.oneof(fc.constant(new Date(NOON_MS).toISOString()), moment)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const halt = fc.record({ state: fc.constantFrom('HALTED', 'RESUMED') })
const laws = fc.record({ laws: word('sha256:laws', 2) })
const proposed = fc.record({
  descriptor: fc.record({ action_id: id }),
  children: fc.array(fc.record({ descriptor: fc.record({ action_id: id }) }), { maxLength: 2 }),
})
const evaluation = fc.record({
  action_id: id,
  proposal_digest: proposal,
  intent: optional(intent),
  operation_digest: optional(operation),
  cooldown_on_repeat: fc.boolean(),
  compensates: optional(id),
  held: optional(
    fc.record({ bases: fc.constant([]), asked: fc.boolean(), run_id: fc.constant('run') }),
  ),
  violations: fc.constantFrom([], [{ code: 'x', path: '' }]),
  obstacles: fc.constantFrom([], [{ code: 'request.unknown' }], [{ code: 'sandbox.error' }]),
  network: optional(
    fc.record({
      release: fc.record({
        override_id: overrideId,
        hosts: fc.constant(['a']),
        methods: fc.constant([]),
      }),
    }),
  ),
  evaluator: fc.constantFrom({ name: 'gate', version: '2' }, { name: 'gate', version: '3' }),
  law_outcomes: fc.constantFrom([], [{ policy_id: 'NO', overridden: true }]),
  host: fc.constant({ now_ms: NOON_MS }),
  basis: optional(
    fc.record({
      actor: word('actor', 2),
      overrides: fc.array(
        overrideId.map((override_id) => ({ override_id, policy_id: 'NO' })),
        { maxLength: 2 },
      ),
    }),
  ),
})
const decision = fc.record({
  action_id: id,
  proposal_digest: proposal,
  result_digest: optional(fc.constant('sha256:result')),
  decision: fc.constantFrom('PROMOTE', 'CONFIRM', 'BLOCK'),
  codes: fc.constantFrom(['x'], ['confirm.class'], ['rehearsal.background']),
  permanent: fc.boolean(),
  decided_at: asking,
  approvals: optional(fc.integer({ min: 2, max: 3 })),
})
const confirmation = fc.record({
  action_id: id,
  proposal_digest: proposal,
  result_digest: fc.constant('sha256:result'),
  answer: fc.constantFrom('APPROVED', 'APPROVED', 'APPROVED', 'DENIED', 'EXPIRED'),
  asked_at: asking,
  answered_at: moment,
  proof: optional(fc.record({ key: word('key', 3), signature: fc.constant('') })),
})
const promotion = fc.record({
  action_id: id,
  status: fc.constantFrom('APPLIED', 'REVERTED'),
  promoted_at: moment,
  undo_until: moment,
  manifest: word('sha256:manifest', 2),
  paths: fc.nat(2),
})
const rollback = fc.record({
  rollback_id: word('rollback-', 3),
  action_ids: fc.array(id, { minLength: 1, maxLength: 3 }),
  rolled_back_at: moment,
})
const overrideOf = (kind: string, override_id: string) =>
  fc.record({
    override_id: fc.constant(override_id),
    kind: fc.constant(kind),
    policy_id: fc.constant('NO'),
    action_id: optional(id),
    intent: optional(intent),
    operation_digest: optional(operation),
    proposal_digest: proposal,
    hosts: fc.constant(['a']),
    methods: fc.constant(['GET']),
    expires_at: optional(moment),
    uses: fc.integer({ min: 1, max: 2 }),
  })
/** Ids of overrides are given by the host, so none is of two kinds. */
const override = fc
  .tuple(fc.constantFrom('law', 'lift', 'release'), fc.nat(1))
  .chain(([kind, number]) => overrideOf(kind, `override-${kind === 'law' ? number : number + 2}`))

const request = fc.record({
  action_id: id,
  step_id: word('step-', 2),
  state: fc.constantFrom('SENDING', 'ANSWERED', 'FAILED', 'UNKNOWN', 'SAVED', 'NOT_SAVED'),
  save: optional(fc.constant({ path: '/p', save_id: 's' })),
})

const PAYLOADS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  halt_v1: halt,
  laws_v1: laws,
  proposal_v1: proposed,
  evaluation_v1: evaluation,
  decision_v1: decision,
  confirmation_v1: confirmation,
  promotion_v1: promotion,
  rollback_v1: rollback,
  override_v1: override,
  request_v1: request,
}

/** Facts as a ledger gives them back: JSON, without fields that are not there. */
export function standingFacts(maxLength = 60): fc.Arbitrary<readonly StandingFact[]> {
  const fact = fc.oneof(
    ...Object.entries(PAYLOADS).map(([type, payload]) =>
      payload.map((value) => ({ type, payload: JSON.parse(JSON.stringify(value)) as unknown })),
    ),
  )
  const who = fc.record({
    kind: fc.constantFrom('human' as const, 'human' as const, 'ai' as const),
    id: word('who', 3),
    namespace: fc.constant('local'),
  })
  const occurredAt = new Date(NOON_MS).toISOString()
  return fc
    .array(fc.tuple(fact, who), { maxLength })
    .map((facts) => facts.map(([one, principal], seq) => ({ ...one, seq, occurredAt, principal })))
}

/** Everything that a fold says of a history over these ids, at several times. */
export function answersOf(fold: Answering): unknown {
  const ids = Array.from({ length: ID_COUNT }, (_, number) => `act-${number}`)
  const numbers = [0, 1, 2, 3]
  const times = [-40, -1, 0, 1, 60].map((hours) => NOON_MS + hours * HOUR_MS)
  return {
    halted: fold.halted,
    laws: fold.laws,
    held: fold.heldActions(),
    promoted: fold.promoted(),
    open: fold.releasedRuns(),
    interrupted: fold.interruptedRuns(),
    requests: {
      unsettled: byStep(fold.requests.unsettled()),
      unsaved: byStep(fold.requests.unsaved()),
    },
    overrides: numbers.map((number) => fold.overrideOf(`override-${number}`)),
    acts: ids.map((action) => ({
      seen: fold.hasSeen(action),
      intent: fold.intentOf(action),
      question: fold.question(action),
      mark: fold.heldMark(action),
      promotion: fold.promotion(action),
      beyond: fold.reachesBeyondFiles(action),
      compensations: fold.compensationsOf(action),
      requests: fold.requests.of(action),
      refused: numbers.map((number) => fold.onlyRefused(action, `sha256:proposal${number}`)),
      footing: fold.footing([{ action_id: action, manifest: 'sha256:manifest0' }]),
    })),
    at: times.map((nowMs) => ({
      pending: fold.pending(nowMs),
      expired: fold.expired(nowMs),
      against: numbers.map((number) => fold.against(`sha256:intent${number}`, false, nowMs)),
      rollbacks: numbers.map((number) => fold.rollbacksOf(`actor${number}`, nowMs, 24 * HOUR_MS)),
      inForce: ids.map((action) => fold.overridesInForce(action, 'sha256:intent1', nowMs)),
      release: ids.map((action) => fold.releaseFor(action, 'sha256:proposal1', nowMs)),
    })),
  }
}

type Answering = Omit<StandingFold, 'take' | 'parts' | 'tables' | 'brief' | 'promotedNewestFirst'>

/** Requests of different acts have no order among them. */
function byStep(requests: ReturnType<StandingFold['requests']['unsettled']>): readonly string[] {
  return requests.map((one) => JSON.stringify(one)).sort()
}
