/**
 * Writes the orchestration log (F-11) from the facts of a run and nothing else. A participant's text
 * goes on one line, without characters that Markdown would interpret.
 */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { EventPayload, FlowFact, RunFinding } from '../state/fact.ts'

export function logText(flow: CompiledFlow, facts: readonly FlowFact[]): string {
  const lines = [`# Orchestration log: ${plain(flow.document.title || flow.document.flow_id)}`, '']
  for (const { type, payload } of facts) {
    const text =
      type === 'flow_started_v1'
        ? `run ${plain(payload.run_id)} of ${plain(payload.flow_id)} (${payload.flow_digest})`
        : type === 'flow_finding_v1'
          ? findingLine(payload)
          : type === 'flow_event_v1'
            ? eventLine(flow, payload)
            : null
    if (text === null) continue
    const isHeading = text.startsWith('#')
    lines.push(isHeading ? `\n${text}\n` : `- ${payload.seq} ${plain(payload.at)} ${text}`)
  }
  return `${lines.join('\n')}\n`
}

function findingLine({ code, action, values, ...place }: RunFinding): string {
  const { node_id, edge_id, policy_id, invariant_id, claim_id } = place
  const names = [node_id, edge_id, policy_id, invariant_id, claim_id].filter(
    (name) => name !== undefined,
  )
  return `**${code}** ${action}: ${names.map(plain).join(', ')} ${plain(JSON.stringify(values))}`
}

/** Null for what a reader of the log does not need. */
function eventLine(flow: CompiledFlow, payload: EventPayload): string | null {
  switch (payload.kind) {
    case 'entered': {
      const index = flow.nodeIndex.get(payload.node_id) ?? 0
      const phase = flow.nodes[index]?.document.phase_id ?? ''
      return `${plain(payload.node_id)} begins in ${plain(phase)} (${payload.cause})`
    }
    case 'guard':
      return `guard of ${plain(payload.edge_id)}: ${payload.result} ${plain(JSON.stringify(payload.values))}`
    case 'fired':
      return `way ${plain(payload.edge_id)} taken`
    case 'artifact':
      return `${plain(payload.node_id)} gives ${plain(payload.path)} (${payload.digest})`
    case 'reviewed':
      return `${plain(payload.check_id)} says ${payload.verdict} (${payload.score}) of ${plain(payload.node_id)}${payload.is_word_changed ? ', by the score and not by the word' : ''}`
    case 'policies':
      return payload.conflicts
        .map(({ winner, loser, mode }) => `${plain(winner)} over ${plain(loser)} (${mode})`)
        .join('; ')
        .concat(` at ${plain(payload.edge_id)}`)
    case 'status':
      return `${plain(payload.node_id)} is ${payload.status}: ${plain(payload.why)}`
    // Nothing of the phase is open: the log that is written now has to say so.
    case 'commanded':
      return payload.command.type === 'write_log'
        ? `## Phase ${plain(payload.command.phase_id)} has ended`
        : null
    case 'phase_blocked':
      return `phase ${plain(payload.phase_id)} may not end`
    case 'ended':
      return `the run has ended: ${payload.status}`
    // The log leaves out what only the host needs.
    default:
      return null
  }
}

const LENGTH_MAX = 300

/** One line, nothing that Markdown or a terminal obeys, and not too long. */
function plain(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_[\]<>#|]/g, (mark) => `\\${mark}`)
  return line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX)}…` : line
}
