/** The gate's answer about one act, in the shape that people read as JSON. */
import type { Decision, Promotion, SandboxResult } from '../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  inlineDiff,
  overridesUsed,
  type RequestMemory,
} from '../gate/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { LONG_LIST } from '../machine/index.ts'
import type { Decided } from './decided.ts'
import type { LawBook } from './law-book.ts'
import type { GateAnswer, LawWords, SentRequest } from './surface.ts'

export function sentRequest({ begun, ended, kept }: RequestMemory): SentRequest {
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

export function answerOf(
  decided: Decided,
  more: {
    readonly pending?: GateAnswer['pending']
    readonly promotion?: Promotion
    readonly changes?: readonly Change[]
    readonly requests?: readonly SentRequest[]
  } = {},
): GateAnswer {
  const { actionId, proposalDigest, decision, result, violations, changes: rehearsed } = decided
  const { pending, promotion, changes = [], requests = [] } = more
  return {
    action_id: actionId,
    proposal_digest: proposalDigest,
    decision: decision as Decision,
    result: result === null ? null : withWholeDiff(result, rehearsed),
    promoted: promotion?.status === 'APPLIED',
    ...(promotion === undefined
      ? {}
      : {
          promotion: {
            paths: changes.map(({ path }) => displayOfRaw(path)),
            snapshot_digest: promotion.snapshot_digest,
          },
        }),
    ...(pending === undefined ? {} : { pending }),
    ...(requests.length === 0 ? {} : { requests }),
    ...obstaclesOf(decided),
    ...cooldownOf(decided),
    ...setAsideOf(decided),
    ...(violations.length === 0 ? {} : { violations }),
  }
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
function obstaclesOf({ decision, evaluation }: Decided): Pick<GateAnswer, 'obstacles'> {
  const { obstacles } = evaluation
  return decision.decision !== 'BLOCK' || obstacles.length === 0 ? {} : { obstacles }
}

function cooldownOf({ decision, evaluation }: Decided): Pick<GateAnswer, 'cooldown_until'> {
  const { cooldown_until_ms: untilMs } = evaluation.standing
  if (untilMs === null || !decision.codes.includes('cooldown')) return {}
  return { cooldown_until: occurredAtText(untilMs) }
}

function setAsideOf({ evaluation }: Decided): Pick<GateAnswer, 'set_aside'> {
  const set_aside = overridesUsed(evaluation)
  return set_aside.length === 0 ? {} : { set_aside }
}

/** A recorded result lists some entries and names a manifest; whoever asked gets them all. */
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
