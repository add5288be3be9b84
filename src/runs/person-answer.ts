/**
 * What a person answers as a participant: judged before it is accepted, so that a mistake is corrected at
 * once and an accepted answer counts.
 *
 * INVARIANT (the person who is asked): where a participant names a person, only that principal answers.
 */
import { randomUUID } from 'node:crypto'
import {
  canonicalJson,
  DOCUMENT_LIMITS,
  type FaultError,
  faultError,
  readJson,
  showName,
} from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import {
  type CompiledFlow,
  type FlowCommand,
  nodeName,
  type ParsedAnswer,
  personText,
  pinnedVersion,
  type ReviewPin,
  readAction,
  readReview,
} from '../flow/index.ts'
import { type Principal, principalText } from '../ledger/index.ts'
import type { FlowHost } from './flow-host.ts'
import type { Order } from './orders.ts'
import { RunFolder } from './run-folder.ts'
import type { WalkedRun } from './runs.ts'

export type PersonCommand = Extract<FlowCommand, { type: 'run_participant' | 'ask_again' }>

/** What a run asks of people as participants, now. */
export function askedOfPeople({ waiting }: Pick<WalkedRun, 'waiting'>): readonly PersonCommand[] {
  return waiting.filter(
    (command): command is PersonCommand =>
      command.type === 'run_participant' || command.type === 'ask_again',
  )
}

/** The person that a node names; null where any will do. */
export function namedPerson(flow: CompiledFlow, nodeId: string): string | null {
  const { kind, executor, reviewer } = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]?.document ?? {}
  return personIn(kind === 'CHECK' ? reviewer : executor)
}

function personIn(participant: Participant | undefined): string | null {
  if (participant === undefined || !('human' in participant)) return null
  return participant.human === true ? null : participant.human
}

/** Notes that a person was shown the version that a CHECK asks them about. */
export function noteSeen(
  { home, principal }: Pick<FlowHost, 'home' | 'principal'>,
  { runId }: WalkedRun,
  { node_id, review }: PersonCommand,
): void {
  const version = pinnedVersion(review)
  if (principal.kind !== 'human' || version === null) return
  new RunFolder(home, runId).noteSeen(node_id, principalText(principal), version)
}

/** Returns the version that a person was last shown at a CHECK; null if they were shown none. */
export function lastSeen(
  { home, principal }: Pick<FlowHost, 'home' | 'principal'>,
  { runId }: WalkedRun,
  nodeId: string,
): string | null {
  return new RunFolder(home, runId).seen(nodeId, principalText(principal))
}

interface GivenText {
  readonly command: PersonCommand
  readonly text: string
  readonly principal: Principal
  readonly nowMs: number
  /** That of the home. */
  readonly namespace: string
}

/** Fails if another person is asked, or if the text is not what is asked for. */
export function answerOrder(run: WalkedRun, given: GivenText): Order {
  const { command, text, principal, nowMs } = given
  const { node_id, command: number } = command
  refuseOthers(run, node_id, given)
  if (isTemplate(command, text)) throw invalid(run, command, ['the template is not filled in'])
  const { answer, errors } = readText(command, run.state.artifacts, text, nowMs)
  if (answer === null) throw invalid(run, command, errors)
  const by = principalText(principal)
  return { kind: 'document', node_id, command: number, text, principal: by }
}

/** Runs of version 1 asked any person; they end as they began. */
function refuseOthers(
  { flow, state }: WalkedRun,
  nodeId: string,
  { principal, namespace }: GivenText,
): void {
  const name = namedPerson(flow, nodeId)
  if (name === null || state.rules === 1) return
  const who = personText(name, namespace)
  if (who === principalText(principal)) return
  const message = `${nodeName(flow, nodeId)} asks ${showName(who)}, and ${showName(principalText(principal))} answers`
  const hint = `${who} answers with a token of their own: \`writ principal add ${who}\`, then \`writ token create ${who}\`, and the command again with the token: \`WRIT_TOKEN=… writ flow …\``
  throw faultError('flow.other_person', nodeId, message, hint)
}

function readText(
  { review, node_id: nodeId, attempt }: PersonCommand,
  folder: string,
  text: string,
  nowMs: number,
): ParsedAnswer {
  const sources = { nowMs, newId: randomUUID }
  return review === null
    ? readAction(text, { folder, nodeId, attempt }, sources)
    : readReview(text, review, sources)
}

function invalid(
  { flow, runId }: WalkedRun,
  command: PersonCommand,
  errors: readonly unknown[],
): FaultError {
  const { node_id, review } = command
  const reasons = errors.map(reasonText).join('; ')
  const what = review === null ? 'a `xiaobo_action_v1`' : 'a `xiaojing_review_v1`'
  const message = `the answer at ${nodeName(flow, node_id)} is not ${what}: ${reasons}`
  const hint =
    review === null
      ? `what is asked: writ flow show ${runId} ${node_id}; put the answer right and say it again`
      : `writ flow approve ${runId} ${node_id}, or writ flow reject ${runId} ${node_id} --comment TEXT`
  return faultError('flow.answer_invalid', node_id, message, hint)
}

function reasonText(error: unknown): string {
  if (typeof error === 'string') return error
  // The error of a document names its place, what was expected and what was found.
  const { json_path, expected, actual } = (error ?? {}) as Readonly<Record<string, unknown>>
  return json_path === undefined
    ? JSON.stringify(error)
    : `${String(json_path)}: expected ${String(expected)}, found ${String(actual)}`
}

/** Returns whether a text is the template as it was handed out. */
function isTemplate(command: PersonCommand, text: string): boolean {
  const { template } = answerTemplate(command, '')
  const reading = readJson(text, DOCUMENT_LIMITS)
  return reading.ok && canonicalJson(reading.value) === canonicalJson(template)
}

/** Whom a question is for, as the flow names them. */
export function askedPerson({
  participant,
}: Extract<PersonCommand, { type: 'run_participant' }>): string {
  const human = participant !== null && 'human' in participant ? participant.human : true
  return human === true ? 'any person' : human
}

/** What a person fills in and hands over; it is refused as it is. */
export function answerTemplate({ node_id, review }: PersonCommand, runId: string) {
  const file = `writ flow answer ${runId} ${node_id} --file ANSWER.json`
  const action = {
    task_id: node_id,
    result_type: 'ARTIFACT',
    artifact: { name: 'answer', format: 'md', content: '' },
  }
  if (review === null) return { say_with: [file], template: action }
  const { review_id, artifact_digest } = review
  const template = {
    review_id,
    artifact_digest,
    total_score: null,
    action_required: 'APPROVE or MODIFY',
    summary: '',
    breakdown: [],
    suggestions: [],
  }
  const approve = `writ flow approve ${runId} ${node_id}`
  const reject = `writ flow reject ${runId} ${node_id} --comment TEXT`
  return { say_with: [approve, reject, file], template }
}

const SCORES = { approve: 100, reject: 0 } as const

/** The review that a plain yes or no is. */
export function verdictText(
  verdict: 'approve' | 'reject',
  { review_id, artifact_digest }: ReviewPin,
  comment: string,
): string {
  const isApproved = verdict === 'approve'
  const suggestion = {
    priority: 'HIGH',
    change: comment,
    steps: [comment],
    acceptance_criteria: comment,
  }
  return JSON.stringify({
    review_id,
    artifact_digest,
    total_score: SCORES[verdict],
    action_required: isApproved ? 'APPROVE' : 'MODIFY',
    summary: comment,
    breakdown: [],
    suggestions: isApproved ? [] : [suggestion],
  })
}
