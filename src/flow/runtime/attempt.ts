/**
 * Ends an attempt at a WORK node and decides whether it counts (F-7 to F-9, F-12).
 *
 * INVARIANT (completion is a conjunction): the files exist, the gate let every act pass, the
 * participant used tools, the text keeps its policies, and a rerun differs from the attempt before.
 * Then the CHECK approves. No condition replaces another.
 */
import { digestBytes } from '../../base/index.ts'
import type { XiaoboAction } from '../../contracts/index.ts'
import { limitsOf, spentBudget } from '../state/budget.ts'
import type { NeededDocument } from '../state/command.ts'
import type { ActionAnswer, ClaimDraft, EventOf, ParticipantAnswer } from '../state/event.ts'
import type { FindingAction, RunFinding } from '../state/fact.ts'
import type { Artifact } from '../state/state.ts'
import { type Delta, deltaOf } from './delta.ts'
import { block, run } from './enter.ts'
import { retryClaims } from './leave.ts'
import { submitWork } from './review.ts'
import { areStagesSound } from './stage.ts'
import { findBreaches } from './text-policy.ts'
import type { Turn } from './turn.ts'
import { type FailureKind, retryDelay, waitsToRetry } from './wait.ts'

/** Invalid output is asked for again so often; a line that failed is tried again so often. */
const ASKS_MAX = 4
const RETRIES_MAX = 4

/** An output came: one that is invalid is asked for again and never counts. */
export function takeOutput(turn: Turn, node: number, event: EventOf<'participant_output'>): void {
  const { asks, answer } = turn.node(node).work
  const { entries } = turn.node(node)
  if (answer !== null || asks > ASKS_MAX) return
  const review = turn.node(node).work.pin
  const body = { node_id: event.node_id, attempt: entries, ask: asks, review }
  turn.command({ type: 'ask_again', ...body, errors: event.errors })
}

export function endAttempt(turn: Turn, node: number, event: EventOf<'attempt_ended'>): void {
  const { work } = turn.node(node)
  if (isTriedAgain(turn, node, event)) return run(turn, node, lineDelay(turn, node))
  if (isStopped(turn, node, event)) return
  if (event.outcome !== 'ended') return failLine(turn, node, event)
  const { answer } = work
  if (answer === null || answer.kind !== 'action') {
    const values = findInvalid(turn, node)
    return failAttempt(turn, node, { output: 'invalid', ...values }, 'invalid')
  }
  takeAction(turn, node, answer, event)
}

/** Blocks the node for what the host found at the attempt; false if it found nothing. */
export function isStopped(
  turn: Turn,
  node: number,
  { found = [] }: EventOf<'attempt_ended'>,
): boolean {
  const [first] = found
  if (first === undefined) return false
  const node_id = turn.idOf(node)
  const next = turn.unblockCommand(node)
  for (const { code, ...values } of found)
    turn.find({ code, node_id, action: 'block', values: { ...values, next } })
  turn.settle(node, 'blocked', first.code)
  turn.later({ kind: 'except', node })
  return true
}

/** A line that failed is tried again while tries and budgets are left. */
export function isTriedAgain(turn: Turn, node: number, event: EventOf<'attempt_ended'>): boolean {
  if (event.ended_by !== undefined) return false
  if (event.outcome !== 'unreachable' || turn.node(node).work.retries > RETRIES_MAX) return false
  if (turn.draft.nodeOf(node).document.retry?.unreachable === false) return false
  return turn.draft.run.rules < 2 || spentBudget(turn.flow, turn.draft.run) === null
}

/** How many reasons a finding names; the record of the output has all of them. */
const ERRORS_TOLD = 3

/** No answer came that could count: tells why the last one could not. */
export function findInvalid(turn: Turn, node: number): { readonly errors: readonly unknown[] } {
  const values = { errors: turn.node(node).work.errors.slice(0, ERRORS_TOLD) }
  turn.find({ code: 'flow.output_invalid', node_id: turn.idOf(node), action: 'rerun', values })
  return values
}

/** An attempt that did not end well. One that used up a budget waits for a human to raise it. */
export function failLine(turn: Turn, node: number, event: EventOf<'attempt_ended'>): void {
  const { flow, draft } = turn
  const { ended_by: by } = event
  const limit = by === undefined ? undefined : limitsOf(flow, draft.run)[by.budget]
  const spent =
    by !== undefined && limit !== undefined
      ? { ...by, limit }
      : turn.draft.run.rules >= 2
        ? spentBudget(flow, draft.run)
        : null
  if (spent === null) return failAttempt(turn, node, lineError(event), failureKind(event))
  turn.record({ kind: 'attempt_failed', node_id: turn.idOf(node), error: lineError(event) })
  block(turn, node, 'flow.budget', { ...spent, next: turn.budgetCommand(spent.budget) })
}

/** What an attempt that did not end well leaves for the next one. */
function lineError({ outcome, why }: EventOf<'attempt_ended'>): unknown {
  return why === undefined ? { outcome } : { outcome, why }
}

function takeAction(
  turn: Turn,
  node: number,
  answer: ActionAnswer,
  event: EventOf<'attempt_ended'>,
): void {
  const node_id = turn.idOf(node)
  const { document } = answer
  if (document.task_id !== node_id) {
    const values = { task_id: document.task_id }
    turn.find({ code: 'flow.task_mismatch', node_id, action: 'rerun', values })
    return failAttempt(turn, node, { task_id: document.task_id })
  }
  switch (document.result_type) {
    case 'NEEDS_INPUT':
      return takeRequest(turn, node, answer, document)
    case 'ERROR':
      return failAttempt(turn, node, document.error)
    case 'NOOP':
      if (turn.node(node).work.artifact === null)
        return failAttempt(turn, node, { result_type: 'NOOP', artifact: null })
      if (isRejectedNow(turn, node)) return refuseNothing(turn, node)
      return completeAttempt(turn, node, answer, null, event)
    case 'ARTIFACT':
      return completeAttempt(turn, node, answer, artifactOf(turn, node, document.artifact), event)
    default:
      return document satisfies never
  }
}

/**
 * Returns whether a REJECT holds over the work, so that nothing but a new version may be judged; false after
 * what rejected it was changed.
 */
function isRejectedNow(turn: Turn, node: number): boolean {
  const { rules } = turn.draft.run
  const { isLocked, isUnplaced } = turn.node(node).work
  return rules >= 2 && isLocked && !(rules >= 10 && isUnplaced)
}

/** A NOOP after a rejection changes nothing: it would be reviewed until a reviewer gives in. */
function refuseNothing(turn: Turn, node: number): void {
  const { artifact } = turn.node(node).work
  const values = { by: 'noop', rejected: artifact?.digest ?? null }
  const node_id = turn.idOf(node)
  turn.find({ code: 'flow.delta_missing', node_id, action: 'rerun', values })
  failAttempt(turn, node, { findings: ['flow.delta_missing'], result_type: 'NOOP' })
}

type InputRequest = Extract<XiaoboAction, { result_type: 'NEEDS_INPUT' }>

/** A request for input is a message to a person, so text policies hold for it. */
function takeRequest(turn: Turn, node: number, answer: ActionAnswer, document: InputRequest): void {
  const needs = neededBy(document)
  if (turn.draft.run.rules >= 2 && answer.is_of_host !== true) {
    const asked = needs.flatMap(({ name, description }) => [name, description])
    const message = [answer.message ?? '', ...asked].join('\n')
    const found = textFindings(turn, { ...answer, message }, null)
    const node_id = turn.idOf(node)
    for (const finding of found) turn.find({ node_id, ...finding })
    const hindering = found.filter(({ action }) => HINDERING.has(action))
    if (hindering.length > 0) return hinder(turn, node, hindering)
  }
  askForInput(turn, node, needs)
}

type ActionArtifact = Extract<XiaoboAction, { result_type: 'ARTIFACT' }>['artifact']

function artifactOf(turn: Turn, node: number, artifact: ActionArtifact): Artifact {
  const { name, format, content } = artifact
  const folder = `${turn.draft.run.artifacts}/${turn.idOf(node)}`
  const path = `${folder}/${turn.node(node).entries}/${name}.${format}`
  return { path, digest: digestBytes(content), format, content }
}

function neededBy(document: InputRequest): readonly NeededDocument[] {
  return document.needs_input.required_docs.map((doc) => ({
    name: doc.name,
    description: doc.description,
    accepted_types: doc.accepted_types ?? [],
    suggested_path: doc.suggested_path ?? null,
  }))
}

export function askForInput(turn: Turn, node: number, needs: readonly NeededDocument[]): void {
  turn.settle(node, 'waiting', 'input')
  turn.command({ type: 'ask_human', node_id: turn.idOf(node), why: 'input', needs })
}

/** Checks every condition of completion and records a finding for each that fails. */
function completeAttempt(
  turn: Turn,
  node: number,
  answer: ActionAnswer,
  artifact: Artifact | null,
  event: EventOf<'attempt_ended'>,
): void {
  const { attempts, work } = turn.node(node)
  const previous = work.artifact ?? work.previous
  // A fresh entry starts `attempts` at 1 and is no rerun: its output may equal one that was not rejected.
  const isPlacedAgain = turn.draft.run.rules >= 4 && work.isUnplaced
  const isAgain = (attempts > 1 && !isPlacedAgain) || isRejectedNow(turn, node)
  const isRerun = isAgain && artifact !== null && previous !== null
  const delta = isRerun ? deltaOf(previous, artifact, turn.draft.run.rules) : null
  const missing = [
    ...textFindings(turn, answer, artifact),
    ...workFindings(turn, node, delta, event),
    ...rejectedFindings(turn, node, artifact, delta),
    ...stageFindings(turn, event),
  ]
  const node_id = turn.idOf(node)
  for (const finding of missing) turn.find({ node_id, ...finding })
  takeClaims(turn, node, answer, event.principal)
  const hindering = missing.filter(({ action }) => HINDERING.has(action))
  if (hindering.length > 0) return hinder(turn, node, hindering)
  if (artifact !== null) {
    const { path, digest, format } = artifact
    const change = delta === null ? null : { ...delta }
    turn.record({ kind: 'artifact', node_id, path, digest, format, delta: change })
  }
  submit(turn, node, event)
}

const HINDERING: ReadonlySet<FindingAction> = new Set(['reject', 'rerun', 'block'])

/** Stops the node if a finding says so; else the attempt has failed. */
function hinder(turn: Turn, node: number, hindering: readonly RunFinding[]): void {
  if (!hindering.some(({ action }) => action === 'block'))
    return failAttempt(turn, node, { findings: hindering.map(({ code }) => code) })
  turn.settle(node, 'blocked', hindering[0]?.code ?? '')
  turn.later({ kind: 'except', node })
}

/** A version that a CHECK rejected is not judged again, however many others came between. */
function rejectedFindings(
  turn: Turn,
  node: number,
  artifact: Artifact | null,
  delta: Delta | null,
): RunFinding[] {
  if (turn.draft.run.rules < 2 || artifact === null || delta?.isEqual === true) return []
  if (!turn.node(node).work.rejected.includes(artifact.digest)) return []
  const values = { by: 'digest', rejected: artifact.digest }
  return [{ code: 'flow.delta_missing', action: 'rerun', values }]
}

function textFindings(turn: Turn, answer: ActionAnswer, artifact: Artifact | null): RunFinding[] {
  const texts = {
    ...(artifact === null ? {} : { output: artifact.content }),
    ...(answer.message === undefined ? {} : { message: answer.message }),
    ...(answer.summary === undefined ? {} : { summary: answer.summary }),
  }
  const breaches = findBreaches(turn.flow, texts, turn.draft.run.rules)
  return breaches.map(({ policyId, action, kind, phrase }) => ({
    code: 'flow.text_policy',
    policy_id: policyId,
    action,
    values: { text: kind, phrase },
  }))
}

/** Checks tool use, the gate, the required files and, in a rerun, the difference. */
function workFindings(
  turn: Turn,
  node: number,
  delta: Delta | null,
  { missing_files: missing }: EventOf<'attempt_ended'>,
): RunFinding[] {
  const { toolCalls, gatePassed, filesExist } = turn.node(node).work
  const { required_files, executor } = turn.draft.nodeOf(node).document
  const findings: RunFinding[] = []
  if (toolCalls === 0 && executor?.tools === 'none') recordWaiver(turn, node)
  else if (toolCalls === 0) {
    const invariant_id = 'TOOL_USE_NONZERO'
    const values = { tool_calls: 0 }
    findings.push({ code: 'flow.tool_use_zero', invariant_id, action: failAction(turn), values })
  }
  if (!gatePassed)
    findings.push({ code: 'flow.incomplete', action: 'rerun', values: { gate_passed: false } })
  if (!filesExist && (required_files ?? []).length > 0) {
    const values = { required_files_exist: false, ...(missing === undefined ? {} : { missing }) }
    findings.push({ code: 'flow.incomplete', action: 'rerun', values })
  }
  if (delta?.isEqual === true)
    findings.push({ code: 'flow.delta_missing', action: 'rerun', values: { by: delta.by } })
  return findings
}

/** A person's file says that this participant has no tools: on the record where it counted. */
function recordWaiver(turn: Turn, node: number): void {
  const values = { 'state.tool_calls': 0, waived_by: 'tools: none' }
  const invariant_id = 'TOOL_USE_NONZERO'
  const node_id = turn.idOf(node)
  turn.record({ kind: 'invariant', invariant_id, node_id, result: 'true', values })
}

/** Returns `block` if the flow restates the invariant so, else `rerun`. */
function failAction({ flow }: Turn): 'rerun' | 'block' {
  const restated = flow.invariants.find(
    ({ document }) => document.invariant_id === 'TOOL_USE_NONZERO',
  )
  return restated?.document.fail_action === 'block' ? 'block' : 'rerun'
}

function stageFindings(turn: Turn, { node_id, stage }: EventOf<'attempt_ended'>): RunFinding[] {
  const bases = turn.node(turn.draft.nodeNamed(node_id)).work.bases
  if (stage === null || areStagesSound(turn, bases)) return []
  const values = { manifest: stage.manifest }
  return [{ code: 'flow.stage_void', action: 'rerun', values }]
}

/** Records the claims and the evidence of an answer under the principal that the host saw. */
export function takeClaims(
  turn: Turn,
  node: number,
  answer: ParticipantAnswer,
  principal: string,
): void {
  const { document, participant } = turn.draft.nodeOf(node)
  const { actor, node_id } = document
  for (const draft of answer.claims ?? []) {
    const claim_id = ownClaimId(turn, node, draft.claim_id)
    if (isClaimKept(turn, node, { ...draft, claim_id })) continue
    const claim = {
      ...draft,
      claim_id,
      node_id,
      actor,
      evidence_ids: [],
      verification_status: 'pending' as const,
    }
    turn.emit('flow_claim_v1', { claim, principal, participant })
  }
  takeEvidence(turn, node, answer, principal)
}

/** Returns the id of a node's claim: with the node before it where another node has a claim of that id. */
function ownClaimId(turn: Turn, node: number, given: string): string {
  const { claimNodes, rules } = turn.draft.run
  let id = given
  while (rules >= 4 && (claimNodes.get(id) ?? node) !== node) id = `${turn.idOf(node)}/${id}`
  return id
}

/** Returns the claim that evidence is about: of two with one id that of the judged node. */
function claimMeant(turn: Turn, subject: number, given: string): string {
  const own = ownClaimId(turn, subject, given)
  return turn.draft.run.claimNodes.has(own) ? own : given
}

/**
 * Returns whether a claim is one that the node made before, which keeps its evidence. With other words
 * it is a new claim, and without words, once there is evidence. Before version 4 the first claim with an
 * id kept it.
 */
function isClaimKept(turn: Turn, node: number, { claim_id, text }: ClaimDraft): boolean {
  if (turn.draft.run.rules < 4) return turn.draft.run.claimNodes.has(claim_id)
  const known = turn.node(node).work.claims.find(({ claim }) => claim.claim_id === claim_id)
  if (known === undefined) return false
  return text === known.claim.text || (text === undefined && known.evidence.length === 0)
}

/** Records the evidence of an answer, and tries the ways again that it may open. */
function takeEvidence(
  turn: Turn,
  node: number,
  { evidence = [] }: Pick<ActionAnswer, 'evidence'>,
  principal: string,
): void {
  const { document, participant, target } = turn.draft.nodeOf(node)
  const subject = target === -1 ? node : target
  for (const draft of evidence) {
    const claim_id = claimMeant(turn, subject, draft.claim_id)
    const one = { ...draft, claim_id, actor: document.actor }
    turn.emit('flow_evidence_v1', { evidence: one, principal, participant })
    if (turn.draft.run.rules >= 2) retryClaims(turn, claim_id)
  }
}

function submit(turn: Turn, node: number, { stage }: EventOf<'attempt_ended'>): void {
  const node_id = turn.idOf(node)
  if (stage !== null) {
    const stands_on = turn.node(node).work.bases
    turn.record({ kind: 'staged', node_id, manifest: stage.manifest, stands_on })
  }
  submitWork(turn, node)
}

function failureKind({ outcome, cause }: EventOf<'attempt_ended'>): FailureKind {
  if (cause === 'timeout') return 'timeout'
  return outcome === 'unreachable' ? 'unreachable' : 'failed'
}

/** Seconds before a failed line is tried again. */
export function lineDelay(turn: Turn, node: number): number {
  const { document } = turn.draft.nodeOf(node)
  const { retries } = turn.node(node).work
  if (document.retry === undefined) return 2 ** (retries - 1)
  return retryDelay(document, 'unreachable', retries) ?? 0
}

/** A failed attempt is followed by another while there are any; then the node has failed. */
export function failAttempt(
  turn: Turn,
  node: number,
  error: unknown,
  kind: FailureKind = 'failed',
): void {
  const node_id = turn.idOf(node)
  const { attempts, granted } = turn.node(node)
  const { document } = turn.draft.nodeOf(node)
  const delay = retryDelay(document, kind, attempts)
  const isLeft = attempts < document.max_attempts + granted && delay !== null
  turn.record({ kind: 'attempt_failed', node_id, error })
  const action = isLeft ? 'rerun' : 'escalate'
  const values = turn.draft.run.rules === 1 ? { attempt: attempts } : { attempt: attempts, error }
  turn.find({ code: 'flow.attempt_failed', node_id, action, values })
  turn.settle(node, 'failed', 'attempt failed')
  if (!isLeft || delay === null) return turn.later({ kind: 'except', node })
  if (waitsToRetry(turn, node, delay)) return
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node, round, cause: 'rerun' })
}

/** A node without a participant is done when a person has put its files in place. */
export function askForFiles(turn: Turn, node: number, { missing_files }: EventOf<'passed'>): void {
  const missing = missing_files ?? []
  const node_id = turn.idOf(node)
  const values = { required_files_exist: false, missing }
  turn.find({ code: 'flow.incomplete', node_id, action: 'escalate', values })
  const description = 'a required file of a node that no participant runs'
  const needs = missing.map((path) => ({ name: path, description, suggested_path: path }))
  askForInput(
    turn,
    node,
    needs.map((need) => ({ ...need, accepted_types: [] })),
  )
}
