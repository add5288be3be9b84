/** What a scripted attempt says: the text that its participant prints, or how it fails. */
import { digestBytes } from '../../base/index.ts'
import type { FlowNode, ScriptedAttempt } from '../../contracts/index.ts'
import { isPassingStatus } from '../answer/participant-words.ts'
import type { CompiledNode } from '../compile/compiled-flow.ts'
import type { FlowCommand, ReviewPin } from '../state/command.ts'

type ScriptedEvidence = NonNullable<ScriptedAttempt['evidence']>[number]

/** The score of a review that says nothing else: one that approves, one that does not. */
const SCORE_APPROVED = 95
const SCORE_OTHER = 60

/** Returns what an executor prints, as the contract `xiaobo_action_v1` with what may be next to it. */
export function actionText(nodeId: string, attempt: number, script: ScriptedAttempt): string {
  const { message, summary, evidence } = script
  return JSON.stringify({
    schema_version: 'xiaobo_action_v1',
    task_id: script.task_id ?? nodeId,
    ...resultOf(nodeId, attempt, script),
    ...(message === undefined ? {} : { message }),
    ...(summary === undefined ? {} : { summary }),
    claims: claimsOf(script),
    evidence: (evidence ?? []).map(evidenceOf),
  })
}

/** Without a word about it, an attempt gives an artifact that no other attempt of the node gives. */
function resultOf(nodeId: string, attempt: number, script: ScriptedAttempt) {
  const { content, name = 'out', format = 'md', error, needs } = script
  const usual = error !== undefined ? 'ERROR' : needs !== undefined ? 'NEEDS_INPUT' : 'ARTIFACT'
  const result_type = script.result ?? usual
  switch (result_type) {
    case 'ARTIFACT': {
      const text = content ?? `What ${nodeId} made in attempt ${attempt}.`
      return { result_type, artifact: { name, format, content: text } }
    }
    case 'NOOP':
      return { result_type }
    case 'ERROR':
      return { result_type, error: { message: 'the script says so', ...(error ?? { code: 'X' }) } }
    case 'NEEDS_INPUT': {
      const docs = (needs ?? [{ name: 'input' }]).map((need) => ({
        description: need.name,
        accepted_types: [],
        ...need,
      }))
      return { result_type, needs_input: { required_docs: docs } }
    }
    default:
      return result_type satisfies never
  }
}

/** Returns what a reviewer prints, with the pins that it was handed. */
export function reviewText(pin: ReviewPin, script: ScriptedAttempt): string {
  const said = script.verdict ?? ((script.score ?? SCORE_APPROVED) >= 90 ? 'APPROVE' : 'MODIFY')
  // Reviewers answer MODIFY; the state and the edges call it REJECT.
  const verdict = said === 'REJECT' ? 'MODIFY' : said
  const score = script.score ?? (verdict === 'APPROVE' ? SCORE_APPROVED : SCORE_OTHER)
  const { suggestions = [], summary = '', message, evidence } = script
  return JSON.stringify({
    schema_version: 'xiaojing_review_v1',
    review_id: pin.review_id,
    artifact_digest: pin.artifact_digest,
    task_id: pin.target,
    review_target: 'NODE',
    total_score: score,
    action_required: verdict,
    summary: message ?? summary,
    breakdown: [],
    suggestions: suggestions.map((change) => ({
      priority: 'HIGH',
      change,
      steps: [change],
      acceptance_criteria: change,
    })),
    claims: claimsOf(script),
    evidence: (evidence ?? []).map(evidenceOf),
  })
}

function claimsOf({ claims = [] }: ScriptedAttempt) {
  return claims.map((claim) => ({ trust_level: 'external_unverified', ...claim }))
}

export function evidenceOf({ evidence_id, claim_id, digest, supports }: ScriptedEvidence) {
  return {
    evidence_id,
    claim_id,
    digest: digest ?? digestBytes(evidence_id),
    supports: supports ?? true,
  }
}

/** How an attempt ended, in the words of `attempt_ended`. */
export interface AttemptEnd {
  readonly outcome: 'ended' | 'failed' | 'unreachable'
  readonly cause?: 'timeout'
  readonly why?: string
  readonly seconds: number
}

/** An hour, which a participant has where nothing else bounds it. */
const SECONDS_MAX = 3_600

/** Returns how long an attempt takes and how it ends; `timeout` is what the node allows. */
export function endOf(
  script: ScriptedAttempt,
  { minimum_duration }: FlowNode,
  timeout: number | undefined,
): AttemptEnd {
  const seconds = script.seconds ?? minimum_duration ?? 1
  const { failure } = script
  const limit = timeout ?? SECONDS_MAX
  const isLate = failure !== undefined && 'timeout' in failure
  if (isLate || seconds > limit)
    return {
      outcome: 'failed',
      ...(timeout === undefined ? {} : { cause: 'timeout' as const }),
      why: `no answer within ${limit} seconds`,
      seconds: limit,
    }
  if (failure === undefined) return { outcome: 'ended', seconds }
  return { ...failureWords(failure), seconds }
}

type Failure = NonNullable<ScriptedAttempt['failure']>

function failureWords(failure: Exclude<Failure, { readonly timeout: true }>) {
  const says = (words: string, more = ''): string => (more === '' ? words : `${words}: ${more}`)
  if ('exit_status' in failure) {
    const why = says(`exit status ${failure.exit_status}`, failure.stderr)
    return { outcome: 'failed' as const, why }
  }
  if ('http_status' in failure) {
    const { http_status: status, body } = failure
    const outcome = isPassingStatus(status) ? ('unreachable' as const) : ('failed' as const)
    return { outcome, why: says(`HTTP ${status}`, body) }
  }
  return { outcome: 'unreachable' as const, why: 'no connection' }
}

/** An attempt under way, from its start to its end. */
export interface TestedAttempt {
  readonly node: CompiledNode
  readonly script: ScriptedAttempt
  readonly first: Extract<FlowCommand, { type: 'run_participant' }>
  readonly end: AttemptEnd
  readonly principal: string
}
