/** The gate's answer about one act, in the shape that people read as JSON. */
import type { Decision, SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  inlineDiff,
  overridesUsed,
  type RequestMemory,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { LONG_LIST } from '../../machine/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { Questions } from '../questions/questions.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { GateAnswer, LawWords, SentRequest } from '../surface/surface.ts'
import type { Outcome, Recorded } from './act.ts'

function sentRequest({ begun, ended, kept }: RequestMemory): SentRequest {
  const { step_id, method, host, save } = begun
  const { state, code, answer } = ended ?? begun
  const saved =
    kept === null || save === undefined ? null : { path: save.path, ok: kept.state === 'SAVED' }
  return {
    step_id,
    method,
    host,
    state,
    ...(answer === undefined ? {} : { status: answer.status }),
    ...(code === undefined ? {} : { code }),
    ...(saved === null ? {} : { saved }),
  }
}

/** What became of the requests of an act so far. */
export async function sentRequests(
  view: LedgerView,
  actionId: string,
): Promise<readonly SentRequest[]> {
  const { requests } = await view.standing()
  return requests.of(actionId).map(sentRequest)
}

/** An outcome of the lifecycle, as the gate's callers read it. */
export async function answerOf(questions: Questions, outcome: Outcome): Promise<GateAnswer> {
  const { act } = outcome
  const { actionId, proposalDigest, decision, result, violations, changes } = act
  return {
    action_id: actionId,
    proposal_digest: proposalDigest,
    decision,
    result: result === null ? null : withWholeDiff(result, changes),
    promoted: false,
    ...(await becameOf(questions, outcome)),
    ...obstaclesOf(act),
    ...cooldownOf(act),
    ...setAsideOf(act),
    ...(violations.length === 0 ? {} : { violations }),
  }
}

async function becameOf(questions: Questions, outcome: Outcome): Promise<Partial<GateAnswer>> {
  switch (outcome.kind) {
    case 'blocked': {
      const { supersededBy, requests = [] } = outcome
      return { ...superseded(supersededBy), ...sent(requests) }
    }
    case 'waiting':
      return { pending: await questions.pendingOf(outcome.pending) }
    case 'promoted': {
      const { promotion, changes, requests } = outcome
      const paths = changes.map(({ path }) => displayOfRaw(path))
      const { snapshot_digest, status } = promotion
      const promoted = status === 'APPLIED'
      return { promoted, promotion: { paths, snapshot_digest }, ...sent(requests) }
    }
    default:
      return outcome satisfies never
  }
}

function superseded(by: string | undefined): Pick<GateAnswer, 'superseded_by'> {
  return by === undefined ? {} : { superseded_by: by }
}

function sent(requests: readonly SentRequest[]): Pick<GateAnswer, 'requests'> {
  return requests.length === 0 ? {} : { requests }
}

/** Adds the texts of the laws that the decision names. */
export function withLawTexts(answer: GateAnswer, book: Pick<LawBook, 'laws'>): GateAnswer {
  const laws = lawWords(answer.decision, book)
  return laws.length === 0 ? answer : { ...answer, laws }
}

/** What the laws that a decision names say for people. */
export function lawWords(
  { law_refs }: Pick<Decision, 'law_refs'>,
  { laws }: Pick<LawBook, 'laws'>,
): readonly LawWords[] {
  return laws.flatMap(({ policyId: policy_id, text }) =>
    text !== null && law_refs.includes(policy_id) ? [{ policy_id, text }] : [],
  )
}

/** Of a refusal; what a question rests on is in the question. */
function obstaclesOf({ decision, evaluation }: Recorded): Pick<GateAnswer, 'obstacles'> {
  const { obstacles } = evaluation
  return decision.decision !== 'BLOCK' || obstacles.length === 0 ? {} : { obstacles }
}

function cooldownOf({ decision, evaluation }: Recorded): Pick<GateAnswer, 'cooldown_until'> {
  const { cooldown_until_ms: untilMs } = evaluation.standing
  if (untilMs === null || !decision.codes.includes('cooldown')) return {}
  return { cooldown_until: occurredAtText(untilMs) }
}

function setAsideOf({ evaluation }: Recorded): Pick<GateAnswer, 'set_aside'> {
  const set_aside = overridesUsed(evaluation)
  return set_aside.length === 0 ? {} : { set_aside }
}

/** Lists every change in the result: the recorded one lists only some and names a manifest. */
function withWholeDiff(result: SandboxResult, changes: readonly Change[]): SandboxResult {
  const { diff } = result
  const listed = diff.added.length + diff.modified.length + diff.deleted.length
  const { added, modified, deleted } = diff.counts
  if (listed === added + modified + deleted) return result
  const whole = () => ({ ...diff, ...inlineDiff(changes, Number.POSITIVE_INFINITY) })
  if (changes.length <= LONG_LIST) return { ...result, diff: whole() }
  // As JSON it is whole; who prints some of a long list does not hold it a second time.
  return { ...result, diff: Object.defineProperty({ ...diff }, 'toJSON', { value: whole }) }
}
