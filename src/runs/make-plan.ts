/**
 * Makes a plan (F-14): a planner plans, writ normalises and validates the plan, a reviewer reviews it. An
 * invalid plan, or one with a low score, is tried again with the reason: at most three plans and four
 * reviews of each. Every answer is a fact; only an approved plan is returned.
 *
 * INVARIANT (a planning is its answers): every later step follows from the recorded answers. An
 * interrupted planning takes them from the ledger and asks for the next one, so no participant is asked
 * twice for the same answer.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { canonicalJson, digestDocument, invariant, uuidV7 } from '../base/index.ts'
import {
  APPROVE_SCORE_MIN,
  normaliseAndValidate,
  type Participant,
  type PlanJson,
  type XiaojingReview,
} from '../contracts/index.ts'
import {
  type FlowFact,
  hasWork,
  noObject,
  objectsIn,
  type ReviewPin,
  readReview,
  twiceIn,
} from '../flow/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { askOutside } from './ask-outside.ts'
import { type FlowHost, refuseHalted } from './flow-host.ts'
import type { ParticipantRequest } from './participant/participant-request.ts'
import { participate } from './participant/participate.ts'
import { secretsOf, withoutSecrets } from './participant/secrets.ts'
import { findPlanning, PlanningFolder, type PlanningTerms } from './planning-folder.ts'
import { readRun } from './run-records.ts'

const PLANS_MAX = 3
const REVIEWS_MAX = 4
const SECONDS_MAX = 3_600
const NO_WORK = 'no node of the plan is an ACTION: nothing is done in it'
const NOTHING_SAID = '(nothing was said)'

interface PlanOrder extends Omit<PlanningTerms, 'out'> {
  readonly out?: string
}

export interface PlanOptions {
  readonly abort: AbortSignal
  /** Called before the first participant is asked. */
  readonly onPlanning?: (planningId: string) => void
  /** Takes the result before the planning ends. After an interruption here it is called again. */
  readonly deliver?: (planned: PlanningOutcome, out: string | null) => Promise<void>
}

export interface PlanningOutcome {
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

export async function makePlan(
  host: FlowHost,
  order: PlanOrder,
  watching: PlanOptions,
): Promise<PlanningOutcome> {
  const id = `plan-${uuidV7(host.clock.nowMs(), randomBytes(10))}`
  const folder = new PlanningFolder(host.home, id)
  const terms = { ...order, out: order.out ?? null }
  await refuseHalted(host)
  folder.begin(host.stream, host.principal, terms)
  watching.onPlanning?.(id)
  return folder.locked(() => carryOut(host, folder, terms, [], watching))
}

/** Goes on with a planning that was interrupted; the newest when none is named. */
export async function resumePlan(
  host: FlowHost,
  part: string | null,
  watching: PlanOptions,
): Promise<PlanningOutcome> {
  const folder = findPlanning(host.home, host.stream, part)
  watching.onPlanning?.(folder.id)
  return folder.locked(async () => {
    // Another process may have ended it meanwhile.
    const terms = findPlanning(host.home, host.stream, folder.id).terms(host.stream)
    invariant(terms !== null, 'a planning that was found has its order')
    const { facts } = await readRun(host.ledger, host.stream, folder.id)
    return carryOut(host, folder, terms, facts.flatMap(answerIn), watching)
  })
}

async function carryOut(
  host: FlowHost,
  folder: PlanningFolder,
  terms: PlanningTerms,
  answers: readonly Answered[],
  { abort, deliver }: PlanOptions,
): Promise<PlanningOutcome> {
  await refuseHalted(host)
  const planned = await new PlanMaker(host, folder.id, terms, answers, abort).run()
  await deliver?.(planned, terms.out)
  folder.end()
  return planned
}

/** A recorded answer. */
interface Answered {
  readonly node_id: string
  readonly answer: { readonly kind: string; readonly document: unknown } | null
  readonly errors: readonly unknown[]
}

function answerIn({ type, payload }: FlowFact): readonly Answered[] {
  if (type !== 'participant_output_v1') return []
  const { node_id, answer, errors } = payload
  return [{ node_id, answer, errors }]
}

class PlanMaker {
  readonly #host: FlowHost
  readonly #order: PlanningTerms
  readonly #id: string
  readonly #abort: AbortSignal
  /** Recorded before this process began. */
  readonly #answers: readonly Answered[]
  /** The number of the next answer. */
  #seq = 0
  #reviews = 0

  constructor(
    host: FlowHost,
    id: string,
    order: PlanningTerms,
    answers: readonly Answered[],
    abort: AbortSignal,
  ) {
    this.#host = host
    this.#id = id
    this.#order = order
    this.#answers = answers
    this.#abort = abort
  }

  async run(): Promise<PlanningOutcome> {
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
  ): PlanningOutcome {
    return { planningId: this.#id, plans, reviews: this.#reviews, plan, review, error }
  }

  async #plan(
    attempt: number,
    last: PlanJson | null,
    review: XiaojingReview | null,
    error: unknown,
  ): Promise<{ readonly plan: PlanJson | null; readonly error: unknown }> {
    const { goal, owners, planner } = this.#order
    const known = this.#known('plan')
    if (known !== null) {
      // The record was judged by its contract, and what a planner said is a plan or nothing.
      return {
        plan: (known.answer?.document ?? null) as PlanJson | null,
        error: known.errors[0] ?? null,
      }
    }
    const text = await this.#ask(planner, 'plan', {
      planning_id: this.#id,
      goal,
      attempt,
      owners,
      ...(last === null ? {} : { last_plan: last }),
      ...(review === null ? {} : { last_review: review }),
      ...(error === null ? {} : { last_error: error }),
    })
    const { objects, texts } = objectsIn(text)
    // A name twice in one object has no one meaning.
    const why = objects.length === 0 ? noObject(text) : twiceIn(texts.at(-1) ?? '')
    const said = why === null ? objects.at(-1) : undefined
    const answer = normaliseAndValidate(
      'PLAN_GEN',
      said ?? null,
      { top_task: goal, owners },
      { nowMs: this.#host.clock.nowMs(), newId: randomUUID },
    )
    const repairs = answer.repairs.map(({ rule, path }) => `${rule} ${path}`)
    // A valid answer of this kind is a plan.
    const made = answer.valid ? (answer.normalized as PlanJson | null) : null
    const plan = made !== null && hasWork(made) ? made : null
    const errors = plan === null ? [why ?? answer.error ?? NO_WORK] : []
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
      const known = this.#known('plan_review')
      if (known !== null) {
        // As above: a review or nothing.
        if (known.answer !== null) return known.answer.document as XiaojingReview
        errors = known.errors
        continue
      }
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

  /** What is recorded of the next answer; null when it was not given yet. */
  #known(node_id: 'plan' | 'plan_review'): Answered | null {
    const known = this.#answers[this.#seq] ?? null
    if (known === null) return null
    invariant(known.node_id === node_id, 'answers of a planning follow its order')
    this.#seq++
    return known
  }

  async #ask(
    participant: Participant,
    kind: ParticipantRequest['kind'],
    input: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const order = {
      participant,
      input,
      kind,
      workspace: this.#order.workspace,
      seconds: SECONDS_MAX,
      intent: `Planning for a flow: ${kind}.`,
      abort: this.#abort,
      attemptSeconds: null,
    }
    const said = await askOutside(this.#host, order, participate)
    // The output of a stopped participant is no answer.
    this.#abort.throwIfAborted()
    const text = said.outcome === 'ended' ? said.text : `${said.outcome}: ${said.why ?? ''}`
    return withoutSecrets(text, secretsOf(participant, this.#host.environment))
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
