/**
 * Writes the orchestration log (F-11) from the facts of a run and nothing else. A participant's text
 * goes on one line, without characters that Markdown would interpret.
 */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowEvent } from '../state/event.ts'
import type { EventPayload, FlowFact, RunFinding } from '../state/fact.ts'
import { Causes } from './cause.ts'
import { nodeName } from './words.ts'

/** The log of one run: what was written stays, so that a later phase costs no more than an early one. */
export class OrchestrationLog {
  #causes: Causes | null = null
  #text = ''
  /** How many facts are in the text. */
  #count = 0

  /** The text of these facts, which begin with those of the call before; `flow` is the present one. */
  textOf(facts: readonly FlowFact[], flow: CompiledFlow): string {
    const { title, flow_id } = flow.document
    this.#causes ??= new Causes(flow)
    this.#causes.flow = flow
    for (const fact of facts.slice(this.#count)) this.#text += this.#lineOf(fact, this.#causes)
    this.#count = facts.length
    return `# Orchestration log: ${plain(title || flow_id)}\n\n${this.#text}`
  }

  #lineOf(fact: FlowFact, causes: Causes): string {
    const { type, payload } = fact
    const { flow } = causes
    const says = causes.take(fact)
    const text =
      type === 'flow_started_v1'
        ? `run ${plain(payload.run_id)} of ${plain(payload.flow_id)} (${payload.flow_digest})`
        : type === 'flow_finding_v1'
          ? findingLine(flow, payload, says ?? '')
          : type === 'flow_event_v1'
            ? eventLine(flow, payload)
            : null
    if (text === null) return ''
    const isHeading = text.startsWith('#')
    return isHeading ? `\n${text}\n\n` : `- ${payload.seq} ${plain(payload.at)} ${text}\n`
  }
}

function findingLine(flow: CompiledFlow, finding: RunFinding, says: string): string {
  const { code, action, node_id, edge_id } = finding
  const place = node_id === undefined ? (edge_id ?? '') : nodeName(flow, node_id)
  return `**${code}** ${action}: ${plain(place === '' ? says : `${place}: ${says}`)}`
}

/** Null for what a reader of the log does not need. */
function eventLine(flow: CompiledFlow, payload: EventPayload): string | null {
  const name = (nodeId: string): string => plain(nodeName(flow, nodeId))
  switch (payload.kind) {
    case 'entered': {
      const index = flow.nodeIndex.get(payload.node_id) ?? 0
      const phase = flow.nodes[index]?.document.phase_id ?? ''
      return `${name(payload.node_id)} begins in ${plain(phase)} (${payload.cause})`
    }
    case 'guard':
      return `guard of ${plain(payload.edge_id)}: ${payload.result} ${plain(JSON.stringify(payload.values))}`
    case 'fired':
      return `way ${plain(payload.edge_id)} taken`
    case 'artifact':
      return `${name(payload.node_id)} gives ${plain(payload.path)} (${payload.digest})`
    case 'reviewed':
      return `${name(payload.check_id)} says ${payload.verdict} (${payload.score}) of ${name(payload.node_id)}${payload.is_word_changed ? ', by the score and not by the word' : ''}`
    case 'policies':
      return policiesLine(payload)
    case 'status':
      return `${name(payload.node_id)} is ${payload.status}: ${plain(payload.why)}`
    // Nothing of the phase is under way: the log that is written now has to say so.
    case 'commanded': {
      const { command } = payload
      if (command.type !== 'write_log') return null
      const isEnd = command.is_border !== true
      return `## Phase ${plain(command.phase_id)} ${isEnd ? 'has ended' : 'waits for checks of other phases'}`
    }
    case 'phase_blocked':
      return `phase ${plain(payload.phase_id)} may not end`
    case 'event':
      return personLine(flow, payload.event)
    case 'ended':
      return `the run has ended: ${payload.status}`
    // The log leaves out what only the host needs.
    default:
      return null
  }
}

/** What a person told the run; null for other events. */
function personLine(flow: CompiledFlow, event: FlowEvent): string | null {
  if (event.type === 'migrated') {
    const { from, to } = event
    const what =
      from === to ? 'pinned its programs again' : `moved the run from the flow ${from} to ${to}`
    return `${plain(event.principal)} ${what}`
  }
  if (event.type !== 'human_answer' && event.type !== 'unblocked') return null
  const word = event.type === 'unblocked' ? 'unblock' : event.answer
  return `${plain(event.principal)} says ${word} at ${plain(nodeName(flow, event.node_id))}`
}

/** Which policy went before which; without a conflict, which ones spoke. */
function policiesLine({
  edge_id,
  conflicts,
  applied,
}: Extract<EventPayload, { kind: 'policies' }>): string {
  const words =
    conflicts.length > 0
      ? conflicts.map(
          ({ winner, loser, mode }) => `${plain(winner)} over ${plain(loser)} (${mode})`,
        )
      : applied.map(({ policy_id, action }) => `${plain(policy_id)} (${action})`)
  return `policies at ${plain(edge_id)}: ${words.join('; ')}`
}

const LENGTH_MAX = 700

/** One line, nothing that Markdown or a terminal obeys, and not too long. */
function plain(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_[\]<>#|]/g, (mark) => `\\${mark}`)
  return line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX)}…` : line
}
