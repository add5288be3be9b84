/**
 * Making a plan (F-14): somebody plans, the plan is normalised and validated, somebody else reviews it.
 * What is invalid or scores too little is tried again with the reason, at most three plans and four
 * reviews of each. Every answer is a fact; only an approved plan is given back.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { canonicalJson, digestDocument, invariant, uuidV7 } from '../../base/index.ts'
import {
  APPROVE_SCORE_MIN,
  normaliseAndValidate,
  type Participant,
  type PlanJson,
  type XiaojingReview,
} from '../../contracts/index.ts'
import { objectsIn, type ReviewPin, readReview } from '../../flow/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { FlowHost } from './flow-host.ts'
import { LiveAttempt } from './live-attempt.ts'
import type { Asking } from './participant/asking.ts'
import { participate } from './participant/participate.ts'
import { documentWithoutSecrets, secretsOf, withoutSecrets } from './secrets.ts'

const PLANS_MAX = 3
const REVIEWS_MAX = 4
const SECONDS_MAX = 3_600
const NOTHING_SAID = '(nothing was said)'

export interface PlanOrder {
  readonly goal: string
  readonly workspace: string
  readonly planner: Participant
  readonly reviewer: Participant
  /** Names that tasks may be given to. */
  readonly owners: readonly string[]
  readonly abort: AbortSignal
}

export interface Planned {
  /** By which the answers are found on the ledger. */
  readonly planningId: string
  readonly plans: number
  readonly reviews: number
  /** Null when no plan was approved. */
  readonly plan: PlanJson | null
  readonly review: XiaojingReview | null
  /** Why the last plan was none, when it was not the review. */
  readonly error: unknown
}

export async function makePlan(host: FlowHost, order: PlanOrder): Promise<Planned> {
  return new Planning(host, order).run()
}

class Planning {
  readonly #host: FlowHost
  readonly #order: PlanOrder
  readonly #id: string
  #seq = 0
  #reviews = 0

  constructor(host: FlowHost, order: PlanOrder) {
    this.#host = host
    this.#order = order
    this.#id = `plan-${uuidV7(host.clock.nowMs(), randomBytes(10))}`
  }

  async run(): Promise<Planned> {
    let [review, error]: [XiaojingReview | null, unknown] = [null, null]
    let last: PlanJson | null = null
    for (let count = 1; count <= PLANS_MAX; count++) {
      const made = await this.#plan(count, last, review, error)
      if (made.plan === null) {
        error = made.error
        continue
      }
      ;[last, error] = [made.plan, null]
      review = await this.#review(made.plan)
      if (review === null) error = 'the reviewer gave no valid review'
      const isApproved = review !== null && review.total_score >= APPROVE_SCORE_MIN
      if (isApproved || review?.action_required === 'REQUEST_EXTERNAL_INPUT')
        return this.#told(count, isApproved ? made.plan : null, review, null)
    }
    return this.#told(PLANS_MAX, null, review, error)
  }

  #told(
    plans: number,
    plan: PlanJson | null,
    review: XiaojingReview | null,
    error: unknown,
  ): Planned {
    return { planningId: this.#id, plans, reviews: this.#reviews, plan, review, error }
  }

  async #plan(
    attempt: number,
    last: PlanJson | null,
    review: XiaojingReview | null,
    error: unknown,
  ): Promise<{ readonly plan: PlanJson | null; readonly error: unknown }> {
    const { goal, owners, planner } = this.#order
    const text = await this.#ask(planner, 'plan', {
      planning_id: this.#id,
      goal,
      attempt,
      owners,
      ...(last === null ? {} : { last_plan: last }),
      ...(review === null ? {} : { last_review: review }),
      ...(error === null ? {} : { last_error: error }),
    })
    const said = objectsIn(text).objects.at(-1)
    const answer = normaliseAndValidate(
      'PLAN_GEN',
      said ?? null,
      { top_task: goal, owners },
      { nowMs: this.#host.clock.nowMs(), newId: randomUUID },
    )
    const repairs = answer.repairs.map(({ rule, path }) => `${rule} ${path}`)
    const plan = answer.valid ? (answer.normalized as PlanJson | null) : null
    const errors = plan === null ? [answer.error ?? 'there is no JSON object in the output'] : []
    const kept = plan === null ? null : { kind: 'plan' as const, document: plan }
    await this.#record('plan', text, kept, repairs, errors)
    return { plan, error: errors[0] ?? null }
  }

  /** Null when four answers in a row were no reviews. */
  async #review(plan: PlanJson): Promise<XiaojingReview | null> {
    let errors: readonly unknown[] = []
    for (let count = 1; count <= REVIEWS_MAX; count++) {
      const pin: ReviewPin = {
        review_id: randomBytes(16).toString('hex'),
        target: plan.plan.plan_id,
        artifact_path: null,
        artifact_digest: digestDocument(plan),
      }
      const { review_id, artifact_digest } = pin
      this.#reviews++
      const text = await this.#ask(this.#order.reviewer, 'review', {
        planning_id: this.#id,
        review_id,
        artifact_digest,
        artifact: { id: pin.target, digest: artifact_digest, plan },
        criteria: { score_min: APPROVE_SCORE_MIN, goal: this.#order.goal, review_target: 'PLAN' },
        ...(errors.length === 0 ? {} : { last_error: errors }),
      })
      const sources = { nowMs: this.#host.clock.nowMs(), newId: randomUUID }
      const reading = readReview(text, pin, sources, 'PLAN_REVIEW')
      await this.#record('plan_review', text, reading.answer, reading.repairs, reading.errors)
      if (reading.answer?.kind === 'review') return reading.answer.document
      errors = reading.errors
    }
    return null
  }

  /** In an attempt of its own, of which nothing is kept. */
  async #ask(
    participant: Participant,
    kind: Asking['kind'],
    input: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const { workspace, abort } = this.#order
    const secrets = secretsOf(participant, this.#host.environment)
    const attempts = this.#host.attempts
    const begin = () =>
      attempts.begin({
        actionId: randomUUID(),
        intent: `Planning for a flow: ${kind}.`,
        workspace,
        writes: ['**'],
        bases: [],
        hidden: [],
        readOnly: [],
        egress: participant.egress ?? [],
        secrets,
        limits: { seconds: null, memoryMb: null, diskMb: null },
        isTraced: false,
        abort,
      })
    // Nobody looks at the command or the time of this one.
    const live = new LiveAttempt({} as never, 0, begin)
    try {
      const said = await participate({
        participant,
        input,
        kind,
        workspace,
        attempt: () => live.open(),
        operate: async (operation) =>
          (await live.open()).operate(documentWithoutSecrets(operation, secrets)),
        secrets,
        seconds: SECONDS_MAX,
        signal: abort,
      })
      const text = said.outcome === 'ended' ? said.text : `${said.outcome}: ${said.why ?? ''}`
      return withoutSecrets(text, secrets)
    } finally {
      await live.abandon()
    }
  }

  async #record(
    node_id: string,
    text: string,
    answer: unknown,
    repairs: readonly string[],
    errors: readonly unknown[],
  ): Promise<void> {
    const { ledger, stream, principal, clock } = this.#host
    const seq = this.#seq++
    const payload = {
      run_id: this.#id,
      seq,
      at: occurredAtText(clock.nowMs()),
      nonce: randomBytes(8).toString('hex'),
      node_id,
      command: seq,
      raw: text === '' ? NOTHING_SAID : text,
      answer,
      repairs,
      errors,
    }
    const recorded = await ledger.record({
      stream,
      source: 'flow',
      principal,
      record: { type: 'participant_output_v1', payload: JSON.parse(canonicalJson(payload)) },
      idempotencyKey: `flow/${this.#id}/${seq}`,
    })
    const refused = recorded.ok ? '' : JSON.stringify(recorded.violations[0])
    invariant(recorded.ok, `a record of planning follows its contract: ${refused}`)
  }
}
