/** What lets a node go on whose findings have a way out of their own: commands, and words that go with them. */
import { digestDocument } from '../../base/index.ts'
import { HOST_FIELDS } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowFiles } from '../state/event.ts'
import type { FlowFact, RunFinding } from '../state/fact.ts'
import { commandText, shownText } from './words.ts'

/** `isOnly`: to unblock the node itself would stop it again. */
interface WayOut {
  readonly says: readonly string[]
  readonly next: readonly string[]
  readonly isOnly: boolean
}

export interface ToldRun {
  readonly runId: string
  readonly flow: CompiledFlow
  readonly facts: readonly FlowFact[]
}

/** Returns the way out of findings that were made together. */
export function wayOut(run: ToldRun, findings: readonly RunFinding[]): WayOut {
  const each = findings.map((finding) => outOf(run, finding))
  const merged = (list: 'says' | 'next'): readonly string[] => [
    ...new Set(each.flatMap((one) => one[list])),
  ]
  return { says: merged('says'), next: merged('next'), isOnly: each.some(({ isOnly }) => isOnly) }
}

const NONE: WayOut = { says: [], next: [], isOnly: false }

function outOf(run: ToldRun, finding: RunFinding): WayOut {
  const { runId, flow, facts } = run
  const { code, values, claim_id, edge_id, node_id = '' } = finding
  switch (code) {
    case 'flow.budget': {
      const raise = commandText('writ', 'flow', 'budget', runId, `--${shownText(values['budget'])}`)
      return { says: [], next: [`${raise} N`], isOnly: true }
    }
    case 'flow.items_short': {
      const items = Array.isArray(values['failed']) ? values['failed'].map(shownText) : []
      const next = items.map((item) =>
        commandText('writ', 'flow', 'answer', runId, item, 'unblock'),
      )
      return { says: [], next, isOnly: next.length > 0 }
    }
    case 'flow.tool_use_zero': {
      const says =
        'if it has no tools, write `tools: none` at its participant, in the flow or in the file of participants'
      return { says: [says], next: [migrateText(run)], isOnly: false }
    }
    case 'flow.incomplete': {
      const paths = values['gate_passed'] === false ? undeclaredBy(facts, node_id) : []
      if (paths.length === 0) return NONE
      const says = `\`writes\` of the node does not hold ${paths.join(', ')}: correct it in the flow, or the program`
      return { says: [says], next: [migrateText(run)], isOnly: false }
    }
    case 'flow.program_touched': {
      if (values['why'] === undefined) return NONE
      const says = `what it did is dropped, since writ cannot tell what the reviewer of ${shownText(values['reviewer'])} starts: ${shownText(values['why'])}. If it is data that work is to make, name it in the flow without a wildcard, \`required_files: [${shownText(values['path'])}]\` or in \`writes\`, and call \`flow migrate\`. If the work may hold code, add \`runs_work: true\` to the reviewer, \`reviewer: { command: […], runs_work: true }\`, and call \`flow migrate\`; otherwise make the reviewer one program that only reads`
      return { ...NONE, says: [says] }
    }
    case 'flow.artifact_changed': {
      const made = shownText(values['made_by'])
      return { ...NONE, next: [commandText('writ', 'flow', 'show', runId, made, '--all')] }
    }
    case 'flow.program_changed':
      return { ...NONE, next: [migrateText(run)] }
    case 'flow.promotion_refused':
      return isConflict(values) ? { ...NONE, says: [AGAIN] } : NONE
    case 'flow.guard_false':
      return { ...NONE, says: evidenceOf(flow, edge_id ?? ''), next: [migrateText(run)] }
    case 'flow.stalled':
      return isUnentered(values) ? past(run, node_id) : NONE
    case 'flow.decision_ambiguous':
    case 'flow.decision_none':
      return { ...NONE, says: [GUARDS], next: [migrateText(run)] }
    case 'flow.claim_unverified':
      if (claim_id === undefined) return { ...NONE, says: [UNCLAIMED], next: [migrateText(run)] }
      return {
        ...NONE,
        next: [`${commandText('writ', 'flow', 'evidence', runId, claim_id)} --id ID --file FILE`],
      }
    // The others go on when their node is unblocked.
    default:
      return NONE
  }
}

const UNCLAIMED =
  'let the participant claim what it found (`claims[]` of its answer), or declare the claim under `claims` of the flow; then another person gives evidence with `writ flow evidence`'

/** Returns whether the run has not come to a node, since it waits for others. */
function isUnentered({ status, waits_for }: RunFinding['values']): boolean {
  const isBefore = status === 'idle' || status === 'blocked'
  return isBefore && Array.isArray(waits_for) && waits_for.length > 0
}

/** Goes past a node that cannot be entered; a CHECK is never skipped. */
function past(run: ToldRun, nodeId: string): WayOut {
  const { runId, flow } = run
  const { kind } = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]?.document ?? {}
  const skip = `${commandText('writ', 'flow', 'skip', runId, nodeId)} --comment TEXT`
  return { ...NONE, next: [...(kind === 'CHECK' ? [] : [skip]), migrateText(run)], isOnly: true }
}

const GUARDS = 'if its guards are wrong, correct them in the flow'

/**
 * The way out of a failed attempt whose program a person has mended: the run has pinned the old one. None
 * for a participant without a pinned program.
 */
export function mendedText(run: ToldRun, nodeId: string): WayOut {
  const { flow, facts } = run
  const { kind, executor, reviewer } = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]?.document ?? {}
  const participant = kind === 'CHECK' ? reviewer : executor
  const [first] = facts
  const programs = first?.type === 'flow_started_v1' ? (first.payload.origin?.programs ?? []) : []
  if (participant === undefined || programs.length === 0) return NONE
  const digest = digestDocument(participant)
  if (!programs.some((one) => one.participant === digest)) return NONE
  const says = 'if you have mended its program, pin it as it is now first, with `writ flow migrate`'
  return { ...NONE, says: [says], next: [migrateText(run)] }
}

/** The command that moves a run to its flow as a person has edited it. */
function migrateText({ runId, facts }: ToldRun): string {
  const source = sourceOf(facts)
  return source === null
    ? `${commandText('writ', 'flow', 'migrate', runId)} FILE`
    : migrateCommand(runId, source)
}

export function migrateCommand(runId: string, { file, participants, side }: FlowFiles): string {
  return commandText(
    ...['writ', 'flow', 'migrate', runId, file],
    ...(participants === undefined ? [] : ['--participants', participants]),
    ...(side === undefined ? [] : ['--side', side]),
  )
}

/** Returns the files that the flow of a run was last read from; null if none are known. */
export function sourceOf(facts: readonly FlowFact[]): FlowFiles | null {
  let source: FlowFiles | null = null
  for (const { type, payload } of facts) {
    if (type === 'flow_started_v1') source = payload.origin?.source ?? null
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    if (payload.event.type === 'migrated') source = payload.event.source ?? null
  }
  return source
}

const AGAIN =
  'copy what you want to keep; `unblock` runs its work again, on the files as they are now; what judges it does so again'

/** The paths outside of `writes` for which the gate last blocked what a node did. */
function undeclaredBy(facts: readonly FlowFact[], nodeId: string): readonly string[] {
  const last = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' &&
      payload.kind === 'event' &&
      payload.event.type === 'gate_decision' &&
      payload.event.node_id === nodeId &&
      payload.event.decision === 'BLOCK',
  )
  if (last?.type !== 'flow_event_v1' || last.payload.kind !== 'event') return []
  const { event } = last.payload
  if (event.type !== 'gate_decision' || event.codes?.includes('effect.undeclared') !== true)
    return []
  // It may be about hosts as well.
  return (event.about ?? []).filter((path) => path.startsWith('/')).map(shownText)
}

function isConflict({ codes }: RunFinding['values']): boolean {
  return Array.isArray(codes) && codes.includes('promote.conflict')
}

/** The file from which a guard reads a field. */
function evidenceOf({ edgeById, nodes, base }: CompiledFlow, edgeId: string): readonly string[] {
  const edge = edgeById.get(edgeId)
  const source = edge?.document.guard_evidence_source
  if (edge === undefined || source === undefined) return []
  const colon = source.lastIndexOf(':')
  const phase = nodes[edge.source]?.document.phase_id ?? ''
  const path = source.slice(0, colon).replaceAll('{X}', phase)
  const field = source.slice(colon + 1)
  const name = field.slice(field.lastIndexOf('.') + 1)
  const says = `its evidence is the field ${field} of ${path}`
  if ([...HOST_FIELDS, ...Object.keys(base.state?.fields ?? {})].includes(name)) return [says]
  return [
    `${says}, and the state has no field ${name}, so what the file says goes nowhere: declare it under \`state.fields\`, or name the field that the guard reads, and call \`flow migrate\``,
  ]
}
