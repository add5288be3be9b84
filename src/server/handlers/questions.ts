/**
 * Questions and the answers of humans. A yes over HTTP always has a proof in its request, and names the
 * digest of the effects that the person saw.
 *
 * INVARIANT (I1): only a human answers; what a token alone shows is no proof of a person.
 */
import { FaultError, faultError, showName } from '../../base/index.ts'
import {
  type ApprovalAssertion,
  type ApprovalChallenge,
  GRANT_MS_MAX,
  GRANT_USES_MAX,
  type JsonObject,
} from '../../contracts/index.ts'
import { displayOfRaw, listsOf } from '../../gate/index.ts'
import { wholeActionId } from '../../history/index.ts'
import { signApproval } from '../../home/index.ts'
import {
  type Answered,
  type GateSurface,
  haltedQuestion,
  type InboxQuestion,
  type PartQuestion,
  type Question,
} from '../../service/index.ts'
import { headJson } from '../../words/index.ts'
import { actReply, knownStreams } from './actions.ts'
import type { Handler, Reply, RouteCall } from './route-call.ts'
import { shownSide } from './shown-side.ts'

const DAY_MS = 86_400_000
const RISKS: readonly string[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW']

export const listQuestions: Handler<'listQuestions'> = async (call) => {
  const questions = []
  for (const stream of await knownStreams(call)) {
    const found = await call.home.withGate(call.caller, stream, async (gate) => {
      const rows = []
      for (const row of await gate.pending()) {
        const question = await gate.question(row.action_id)
        if (question !== null) rows.push(headOf(row, question, stream))
      }
      return rows
    })
    questions.push(...found)
  }
  const { shape, from = 0, limit = questions.length } = call.query
  const asked = shape === undefined ? questions : questions.filter((one) => one.shape === shape)
  const sorted = asked.toSorted(
    (left, right) =>
      RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) ||
      (left.asked_at < right.asked_at ? -1 : 1),
  )
  return { value: { questions: sorted.slice(from, from + limit), total: asked.length } }
}

export const showQuestion: Handler<'showQuestion'> = async (call) => {
  const { row, question, stream } = await findQuestion(call)
  const { proposal, result, decision } = question
  const head = headOf(row, question, stream)
  const [changes, has_parts] = [shownChanges(question), question.part !== null]
  const grant = grantOf(question)
  const bounds = { days: GRANT_MS_MAX / DAY_MS, acts: GRANT_USES_MAX }
  const always = grant === null ? null : { ...grant, ...bounds }
  return { value: { ...head, proposal, result, decision, changes, has_parts, always } }
}

/** Several humans never grant: each of them answers one question. */
function grantOf({ always, approvals }: Question): Question['always'] {
  return approvals === null ? always : null
}

export const showChange: Handler<'showChange'> = async (call) => {
  const { path } = call.query
  const { question } = await findQuestion(call)
  const change = question.changes.find((one) => displayOfRaw(one.path) === path)
  if (change === undefined)
    throw faultError('history.unknown', path, `the question does not change ${showName(path)}`)
  const before = await shownSide(question, change, 'before')
  const after = await shownSide(question, change, 'after')
  return { value: { path, change: listsOf(change).join(' and '), before, after } }
}

function shownChanges({ changes, deferred }: Question) {
  return changes.map((change) => ({
    path: displayOfRaw(change.path),
    change: listsOf(change).join(' and '),
    kind: (change.after ?? change.before)?.kind ?? 'file',
    deferred: deferred.has(change.path),
  }))
}

export const showPart: Handler<'showPart'> = async (call) => {
  const { only } = call.body
  const { row, stream } = await findQuestion(call)
  const part = await call.home.withGate(call.caller, stream, (gate) => partIn(gate, row, only))
  const { risk, needs, reasons } = headJson(part)
  return {
    value: {
      result_digest: part.resultDigest,
      effects: part.result.diff.counts,
      risk,
      needs,
      reasons,
      decision: part.decision,
      changes: shownChanges(part),
      left: part.left.map(({ path }) => displayOfRaw(path)),
    },
  }
}

/** `decidedAt`: the moment of the judgement that a passkey signed; a later one would be another question. */
async function partIn(
  gate: GateSurface,
  { action_id, id }: InboxQuestion,
  only: readonly string[],
  decidedAt?: string,
): Promise<PartQuestion> {
  const question = await gate.question(action_id)
  if (question !== null && question.part !== null) return question.part(only, decidedAt)
  const message = 'only an act that declared nothing, and changes more than one path, has parts'
  throw faultError('confirm.part', id, message)
}

export const approveQuestion: Handler<'approveQuestion'> = async (call) => {
  const { key, assertion } = call
  const { only, always, result_digest } = call.body
  const { row, question, stream } = await findQuestion(call)
  const yes = (shown: Question): Extract<Answered, { kind: 'yes' }> => {
    if (result_digest !== shown.resultDigest) throw moved(row)
    const grant = always === undefined ? null : grantOf(shown)
    if (always !== undefined && grant === null) throw noGrant(row)
    const more = grant === null ? {} : { always: grant }
    if (assertion !== null) {
      refuseMoved(assertion, row, shown)
      return { kind: 'yes', assurance: 'passkey', assertion, ...more }
    }
    if (shown.need === 'passkey') throw passkeyNeeded(row)
    const proof = key === null ? {} : { proof: signApproval(key, shown) }
    return { kind: 'yes', assurance: 'passphrase', ...proof, ...more }
  }
  if (only === undefined) {
    const given = yes(question)
    return answered(call, stream, question, async () => given)
  }
  return answered(call, stream, question, async (gate) => {
    const part = await partIn(gate, row, only, assertion?.challenge.asked_at)
    return { ...yes(part), part: part.resultDigest }
  })
}

export const denyQuestion: Handler<'denyQuestion'> = async (call) => {
  const { row, question, stream } = await findQuestion(call)
  const { reason } = call.body
  const { assertion } = call
  if (assertion !== null) refuseMoved(assertion, row, question)
  return answered(call, stream, question, async () => ({
    kind: 'no',
    ...(reason === undefined ? {} : { reason }),
    ...(assertion === null ? {} : { assertion }),
  }))
}

/** Fails if a passkey signed about other effects, or about an earlier asking, than is answered now. */
function refuseMoved(
  { challenge }: ApprovalAssertion,
  row: InboxQuestion,
  { proposalDigest, resultDigest, askedAt }: Question,
): void {
  const isSame =
    challenge.proposal_digest === proposalDigest &&
    challenge.result_digest === resultDigest &&
    challenge.asked_at === askedAt
  if (!isSame) throw moved(row)
}

/** What a human signs to answer a question; null for a route that answers none. */
export async function askedAbout(
  call: Pick<RouteCall, 'home' | 'caller'>,
  route: string,
  params: JsonObject,
  body: JsonObject,
): Promise<Omit<ApprovalChallenge, 'type' | 'by' | 'moment' | 'checkpoint'> | null> {
  if (route !== 'approveQuestion' && route !== 'denyQuestion') return null
  const named = { ...call, params: { id: String(params['id']) } }
  const { row, question, stream } = await findQuestion(named)
  const { only, result_digest: digest, reason } = body
  const isYes = route === 'approveQuestion'
  // Refused before the person is asked to sign.
  if (isYes && (await call.home.withGate(call.caller, stream, (gate) => gate.isHalted())))
    throw haltedQuestion(row.id)
  const isPart = isYes && Array.isArray(only)
  const shown = isPart
    ? await call.home.withGate(call.caller, stream, (gate) => partIn(gate, row, only.map(String)))
    : question
  if (isYes && digest !== shown.resultDigest) throw moved(row)
  return {
    question: question.actionId.toLowerCase(),
    answer: isYes ? 'APPROVED' : 'DENIED',
    proposal_digest: shown.proposalDigest,
    result_digest: shown.resultDigest,
    asked_at: shown.askedAt,
    ...(route === 'denyQuestion' && typeof reason === 'string' ? { reason } : {}),
  }
}

async function answered(
  call: Pick<RouteCall, 'home' | 'caller' | 'reserve' | 'acted' | 'deciding'>,
  stream: string,
  { actionId }: Question,
  give: (gate: GateSurface) => Promise<Exclude<Answered, { kind: 'wait' }>>,
): Promise<Reply> {
  const { home, caller, reserve } = call
  const answer = async (gate: GateSurface) => gate.answer(actionId, await give(gate))
  await home.withGate(caller, stream, answer, reserve?.(actionId))
  call.acted(stream, actionId)
  return actReply(call, actionId)
}

type NamedCall = Pick<RouteCall<'showQuestion'>, 'home' | 'caller' | 'params'>

interface FoundQuestion {
  readonly row: InboxQuestion
  readonly question: Question
  readonly stream: string
}

/** Finds the question in the streams that the caller may know of. */
export async function findQuestion(call: NamedCall): Promise<FoundQuestion> {
  const { id } = call.params
  for (const stream of await knownStreams(call)) {
    const found = await call.home.withGate(call.caller, stream, (gate) => questionIn(gate, id))
    if (found !== null) return { ...found, stream }
  }
  await refuseEnded(call)
  throw faultError('history.unknown', id, `no question has the id ${showName(id)}`)
}

/** Fails with what became of a question that was answered, expired or superseded. */
async function refuseEnded(call: NamedCall): Promise<void> {
  const streams = await knownStreams(call)
  const actionId = await wholeActionId(call.home.ledger, streams, call.params.id)
  for (const stream of streams) {
    const ended = await call.home.withGate(call.caller, stream, (gate) => gate.ended(actionId))
    if (ended !== null) throw new FaultError(ended)
  }
}

async function questionIn(
  gate: GateSurface,
  id: string,
): Promise<Omit<FoundQuestion, 'stream'> | null> {
  const question = await gate.question(id)
  if (question === null) return null
  const row = (await gate.pending()).find(({ action_id }) => action_id === question.actionId)
  return row === undefined ? null : { row, question }
}

function headOf(row: InboxQuestion, question: Question, stream: string) {
  const { yes_counts_unseen: _unseen, set_aside: _aside, ...head } = headJson(question)
  return {
    id: row.id,
    action_id: question.actionId,
    stream,
    kind: row.kind,
    ...head,
    effects: row.effects,
    proposal_digest: question.proposalDigest,
    result_digest: question.resultDigest,
    asked_at: question.askedAt,
    expires_at: question.expiresAt,
    approvals: question.approvals,
    shape: question.shape,
  }
}

function passkeyNeeded({ id }: InboxQuestion): FaultError {
  const message = 'approving this needs a passkey: a passphrase is too little for its risk'
  const hint = `answer it in the console, or sign a challenge: POST /v1/challenges; it still waits: GET /v1/questions/${id}`
  return faultError('confirm.assurance', id, message, hint)
}

function noGrant({ id }: InboxQuestion): FaultError {
  const message = 'this question offers no `always`; approve it without'
  return faultError('grant.unknown', id, message)
}

function moved({ id }: InboxQuestion): FaultError {
  const message = 'the question now asks about other effects than the digest names'
  return faultError('api.digest_moved', id, message, `look again: GET /v1/questions/${id}`)
}
