/**
 * What findings mean, in words: each with its cause as the facts before it tell it, such as the exit status
 * of a program, the values that a guard read, or the file that is missing. Made of facts alone, so that
 * runs of earlier versions are explained as well.
 */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowEvent } from '../state/event.ts'
import type { EventPayload, FlowFact, RunFinding, Values } from '../state/fact.ts'
import { controlText } from './control-text.ts'
import { nodeName, oneLine, shownText, shownValue } from './words.ts'

type GuardPayload = Extract<
  Extract<FlowFact, { type: 'flow_event_v1' }>['payload'],
  { kind: 'guard' }
>
type OutputPayload = Extract<FlowFact, { type: 'participant_output_v1' }>['payload']

/** What is known about a node at the moment of a finding. */
interface NodeHistory {
  /** Of the attempt that is under way, or ended last. */
  blocks: Extract<FlowEvent, { type: 'gate_decision' }>[]
  said: string[]
  error: unknown
  output: OutputPayload | null
}

/** Reads the facts of a run in order and says what each finding means. */
export class Causes {
  /** The present one, which names may have changed in. */
  flow: CompiledFlow
  readonly #nodes = new Map<string, NodeHistory>()
  readonly #guards = new Map<string, GuardPayload>()
  /** By the node that was judged: the words of the last review. */
  readonly #reviews = new Map<string, string>()

  constructor(flow: CompiledFlow) {
    this.flow = flow
  }

  /** Takes the next fact; returns what it says when it is a finding. */
  take(fact: FlowFact): string | null {
    switch (fact.type) {
      case 'flow_finding_v1':
        return this.#found(fact.payload)
      case 'participant_output_v1':
        this.#at(fact.payload.node_id).output = fact.payload
        return null
      case 'flow_event_v1':
        this.#note(fact.payload)
        return null
      case 'flow_started_v1':
      case 'flow_claim_v1':
      case 'flow_evidence_v1':
        return null
      default:
        return fact satisfies never
    }
  }

  #note(payload: Extract<FlowFact, { type: 'flow_event_v1' }>['payload']): void {
    if (payload.kind === 'guard') this.#guards.set(payload.edge_id, payload)
    else if (payload.kind === 'attempt_failed') this.#at(payload.node_id).error = payload.error
    else if (payload.kind === 'entered') this.#nodes.delete(payload.node_id)
    else if (payload.kind === 'reviewed') this.#noteReview(payload)
    else if (payload.kind === 'event' && payload.event.type === 'gate_decision') {
      const { event } = payload
      if (event.decision === 'BLOCK') this.#at(event.node_id).blocks.push(event)
    }
  }

  #at(nodeId: string): NodeHistory {
    const known = this.#nodes.get(nodeId)
    if (known !== undefined) return known
    const made = { blocks: [], said: [], error: null, output: null }
    this.#nodes.set(nodeId, made)
    return made
  }

  #found(finding: RunFinding): string {
    const says = oneLine(this.#says(finding))
    if (finding.node_id !== undefined) this.#at(finding.node_id).said.push(says)
    return says
  }

  #says(finding: RunFinding): string {
    const { code, values, node_id = '' } = finding
    const text = (name: string): string => shownText(values[name])
    switch (code) {
      case 'flow.attempt_failed':
        return `attempt ${text('attempt')} failed: ${this.#errorText(node_id, values)}`
      case 'flow.output_invalid':
        return `its output stayed invalid: ${errorsText(values['errors'])}`
      case 'flow.incomplete':
        return this.#incompleteText(node_id, values)
      case 'flow.guard_false':
        return this.#guardText(finding)
      case 'flow.approval_required':
        return this.#reviewText(finding)
      case 'flow.time_floor':
        return `its phase took ${seconds(values['state.cumulative_duration'])} of at least ${seconds(values['state.minimum_duration'])}`
      case 'flow.tool_use_zero':
        return 'the participant asked for no operation through its tool channel'
      case 'flow.log_not_updated':
        return 'the orchestration log could not be written at the end of its phase'
      case 'flow.access_denied':
        return `${text('actor')} tried to ${text('mode')} ${text('path')}, which an access rule forbids`
      case 'flow.claim_unverified':
        if (finding.claim_id === undefined)
          return `the edge ${finding.edge_id ?? ''} asks for independent verification, and its source has made no claim that could be verified`
        return `the claim ${finding.claim_id ?? ''}${values['text'] === undefined ? '' : ` “${text('text')}”`} has no independent evidence (${text('verification_status')})`
      case 'flow.text_policy':
        return `its ${text('text')} says “${text('phrase')}”, which ${finding.policy_id ?? 'a text policy'} forbids`
      case 'flow.manifest_mismatch':
        return `files of the sub-phase ${text('subphase_id')} are not as its manifest says`
      case 'flow.answer_late':
        return lateText(values)
      case 'flow.escalated':
        return `${text('why')}${this.#ledText(finding)}${this.#lastSaid(node_id)}`
      case 'flow.budget':
        return `the budget of ${text('budget')} is used up: ${text('used')} of ${text('limit')}${this.#lastFailed(node_id)}`
      // `#saysRules` has a case for each of the others.
      default:
        return controlText(finding) ?? this.#saysRules(finding)
    }
  }

  /** Findings about rules, ways and stages. */
  #saysRules({
    code,
    values,
    edge_id = '',
    policy_id = '',
    invariant_id = '',
  }: RunFinding): string {
    const text = (name: string): string => shownText(values[name])
    switch (code) {
      case 'flow.evidence_mismatch':
        return `the evidence for ${text('field')} at the way ${edge_id} is ${text('file')}, the host has ${text('host')}`
      case 'flow.policy_conflict':
        return `the policy ${text('winner')} goes before ${text('loser')} (${text('mode')})`
      case 'flow.policy_triggered':
        return `the policy ${policy_id} speaks at the way ${edge_id}: ${valuesText(values)}`
      case 'flow.invariant_violated':
        return `the invariant ${invariant_id} does not hold: ${valuesText(values)}`
      case 'flow.decision_ambiguous':
        return `more than one way is open: ${text('edges')}`
      case 'flow.decision_none':
        return `no way is open: ${text('edges')}`
      case 'flow.task_mismatch':
        return `it answered for the task ${text('task_id')}`
      case 'flow.stage_void':
        return `what it is based on (${text('base')}) is no longer there`
      case 'flow.promotion_refused':
        return refusedText(values)
      case 'flow.rollback_failed':
        return `it could not be restored: ${values['why'] === undefined ? 'something else changed it meanwhile' : text('why')}`
      case 'flow.stalled':
        return stalledText(values)
      case 'flow.call_failed':
        return this.#callText(values)
      case 'flow.waiting':
        return waitText(values)
      case 'flow.deadline':
        return `it was not done within ${seconds(values['deadline'])}, which is its deadline`
      case 'flow.skipped':
        return `${text('by')} let the run go on without ${values['work'] === undefined ? 'it' : `its work ${nodeName(this.flow, text('work'))}`}: ${text('comment')}`
      case 'flow.list_refused':
        return `its list ${values['path'] === undefined ? text('from') : text('path')} is refused: ${text('why')}`
      case 'flow.item_failed':
        return `the item is given up: ${text('why')}`
      case 'flow.items_short':
        return `${text('done')} of ${text('of')} items are done, and ${text('minimum')} have to be: ${text('failed')}`
      // The values say what a code without words of its own means.
      default:
        return valuesText(values)
    }
  }

  /** The way by which the run came back to a node that has used its attempts. */
  #ledText({ edge_id }: RunFinding): string {
    const edge = edge_id === undefined ? undefined : this.flow.edgeById.get(edge_id)
    if (edge === undefined) return ''
    const { class: kind, source } = edge.document
    return `: the ${kind} edge ${edge_id} from ${nodeName(this.flow, source)} led to it again`
  }

  #callText({ called, not_done: undone }: Values): string {
    const name = (id: unknown): string => nodeName(this.flow, shownText(id))
    const open = Array.isArray(undone) ? undone.filter((id) => id !== called).map(name) : []
    const which = open.length === 0 ? '' : ` (not done there: ${open.join(', ')})`
    return `${name(called)}, which it calls, did not let it pass${which}`
  }

  #lastSaid(nodeId: string): string {
    const last = this.#at(nodeId).said.at(-1)
    return last === undefined ? '' : `; ${last}`
  }

  /** A budget that is used up by a failed attempt stops its node in place of `flow.attempt_failed`. */
  #lastFailed(nodeId: string): string {
    const { error, said } = this.#at(nodeId)
    if (error === null) return ''
    if (said.some((one) => one.startsWith('attempt '))) return this.#lastSaid(nodeId)
    const why = errorText(error)
    return why.endsWith(' of the run is used up') ? '' : `; its last attempt failed: ${why}`
  }

  #errorText(nodeId: string, values: Values): string {
    const history = this.#at(nodeId)
    const error = history.error ?? values['error']
    const { findings } = objectOf(error)
    if (!Array.isArray(findings)) return errorText(error)
    // What was found about the attempt was said just before.
    return history.said.length === 0 ? findings.join(', ') : history.said.join('; ')
  }

  #incompleteText(nodeId: string, values: Values): string {
    if (values['stages_below'] !== undefined)
      return `it builds on ${shownText(values['stages_below'])} stages that are not promoted`
    if (values['required_files_exist'] === false) {
      const { missing } = values
      const { required_files = [] } =
        this.flow.nodes[this.flow.nodeIndex.get(nodeId) ?? -1]?.document ?? {}
      const names = Array.isArray(missing) ? missing : required_files
      const which = Array.isArray(missing) ? 'not there' : 'not all there'
      return `required files are ${which}: ${names.map(shownText).join(', ')}`
    }
    const blocked = this.#at(nodeId).blocks.map(
      ({ codes = [], about = [] }) => `${codes.join(', ') || 'BLOCK'}${listText(about)}`,
    )
    return `the gate blocked what it did${blocked.length === 0 ? '' : `: ${[...new Set(blocked)].join('; ')}`}`
  }

  #guardText({ edge_id = '', values }: RunFinding): string {
    const edge = this.flow.edgeById.get(edge_id)
    const judged = this.#guards.get(edge_id)
    const target = edge === undefined ? '' : ` to ${nodeName(this.flow, edge.document.target)}`
    const guard = edge?.document.guard_expr ?? 'state.gate_passed'
    const read = judged === undefined ? values : judged.values
    const why = judged?.result === 'undetermined' ? `; ${judged.reasons.join('; ')}` : ''
    const known = valuesText(read)
    return `the way ${edge_id}${target} is closed: ${guard}${known === '' ? '' : ` with ${known}`}${why}`
  }

  #reviewText({ node_id = '', values }: RunFinding): string {
    const words = this.#reviews.get(node_id) ?? ''
    const isAsked = values['validator_verdict'] === 'PENDING'
    const said = isAsked ? 'its review asks for input,' : 'it was rejected'
    return `${said} with score ${shownText(values['score'])}${words}`
  }

  #noteReview({
    node_id: nodeId,
    check_id: checkId,
    is_word_changed: isChanged,
  }: Extract<EventPayload, { kind: 'reviewed' }>): void {
    const answer = this.#at(checkId).output?.answer
    if (answer?.kind !== 'review') return
    const { summary, suggestions } = answer.document
    const words = [...new Set([summary, ...suggestions.map(({ change }) => change)])]
    const said = words.filter((text) => text !== '').join('; ')
    const score = isChanged ? ', by the score and not by the word' : ''
    const by = ` by ${nodeName(this.flow, checkId)}${score}`
    this.#reviews.set(nodeId, said === '' ? by : `${by}: ${said}`)
  }
}

/** An answer that counts for nothing: whose it was, about which version, and what is asked now. */
export function lateText({ by, said, about, asks_now: now }: Values): string {
  const version = about === null ? 'a question' : `the version ${shownText(about)}`
  const next = now === null ? '' : `; it asks about the version ${shownText(now)} now`
  return `${shownText(by)} answered \`${shownText(said)}\` about ${version}, which was withdrawn or answered before: the answer is kept and counts for nothing${next}`
}

/** Why the gate did not put the changes of an attempt in place. */
function refusedText({ codes, about }: Values): string {
  const all = Array.isArray(codes) ? codes.map(shownText) : []
  // A node declares all that it may do: what it did not do is at fault only where nothing else is.
  const others = all.filter((code) => code !== 'effect.not_observed')
  const names = (others.length === 0 ? all : others).join(', ')
  if (!all.includes('promote.conflict') || !Array.isArray(about) || about.length === 0)
    return `the gate refused the promotion: ${names}${listText(about)}`
  const paths = about.map(shownText).join(', ')
  return `${paths} changed after its work had begun, so nothing of it was put in place: ${names}`
}

function waitText({ until, signals, why }: Values): string {
  const what = [
    ...(until === undefined ? [] : [`until ${shownText(until)}`]),
    ...(signals === undefined ? [] : [`for the signal ${shownText(signals)}`]),
  ]
  return `it waits ${what.join(' and ')}${why === 'retry' ? ', before the next attempt' : ''}`
}

function stalledText(values: Values): string {
  const { waits_for_checks: checks, waits_for_stages: stages } = values
  if (Array.isArray(checks))
    return `it waits for ${checks.map(shownText).join(', ')}, and nothing leads there`
  if (Array.isArray(stages))
    return `it waits for the promotion of ${stages.map(shownText).join(', ')}`
  const { missed, waits_for: ways, left_by: way, led_to: end } = values
  const goals = Array.isArray(missed) ? `${missed.map(shownText).join(', ')} was not reached: ` : ''
  if (way !== undefined)
    return `${goals}it was left by ${shownText(way)} to ${shownText(end)}, ${goals === '' ? 'which was not entered' : 'and no goal lies there'}`
  if (Array.isArray(ways) && ways.length === 0)
    return `${goals}nothing leads to it, and nothing is under way`
  if (Array.isArray(ways))
    return `${goals}it waits for ${ways.map(shownText).join(', ')}, and nothing is under way`
  return 'it waits for another node, and nothing leads there'
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  // Narrowed to an object that is no list; each of its fields is unknown.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}

/** The error that an attempt leaves for the next one, in words. */
function errorText(error: unknown): string {
  if (error === null || error === undefined) return 'no reason is recorded'
  if (typeof error === 'string') return error
  const { outcome, why, code, message, output, errors, task_id, result_type, verdict } =
    objectOf(error)
  if (outcome === 'unreachable') return `it could not be reached: ${shownText(why)}`
  if (outcome !== undefined) return why === undefined ? 'it did not end well' : shownText(why)
  if (output === 'invalid') return `its output stayed invalid: ${errorsText(errors)}`
  if (message !== undefined || code !== undefined)
    return `it says ${[code, message]
      .filter((part) => part !== undefined)
      .map(shownText)
      .join(': ')}`
  if (task_id !== undefined) return `it answered for the task ${shownText(task_id)}`
  if (result_type === 'NOOP')
    return 'it says that there is nothing to do, and nothing was made before'
  if (verdict !== undefined) return `it says ${shownText(verdict)}`
  return shownValue(error)
}

/** Errors of an output, in words. */
export function errorsText(errors: unknown): string {
  return (Array.isArray(errors) ? errors : [errors]).map(documentErrorText).join('; ')
}

/** An error of a document has its place, what was expected, and what was found. */
function documentErrorText(error: unknown): string {
  const { json_path: place, expected, actual } = objectOf(error)
  if (place === undefined || expected === undefined) return errorText(error)
  return `${shownText(place)}: expected ${shownText(expected)}, found ${shownText(actual)}`
}

function listText(about: unknown): string {
  return Array.isArray(about) && about.length > 0 ? ` (${about.map(shownText).join(', ')})` : ''
}

function valuesText(values: Values): string {
  return Object.entries(values)
    .filter(([name]) => name !== 'reasons')
    .map(([name, value]) => `${name} ${shownText(value)}`)
    .join(', ')
}

function seconds(value: unknown): string {
  return typeof value === 'number' ? `${Math.round(value * 10) / 10} s` : shownText(value)
}
