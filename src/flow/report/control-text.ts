/** Findings about programs, secrets, evidence and repeated work, in words. */
import type { RunFinding } from '../state/fact.ts'
import { shownText } from './words.ts'

/** Null for a finding that is about something else. */
export function controlText({ code, values, edge_id = '' }: RunFinding): string | null {
  const text = (name: string): string =>
    `${shownText(values[name])}${name === 'path' ? moreText(values['more']) : ''}`
  if (code === 'flow.program_touched' && values['why'] !== undefined)
    return `it added, changed or removed ${text('path')}${values['because'] === undefined ? '' : ` (${text('because')})`}, and the reviewer of ${text('reviewer')} may run or load it`
  if (code === 'flow.program_touched')
    return `it changed ${text('path')}, which is a part of a participant of this run, or is loaded by tools of a reviewer or lies next to its program in the root of the workspace, and is not in \`writes\` of the node; what it did is dropped. If it is work, add it to \`writes\` and call \`flow migrate\``
  if (code === 'flow.program_changed')
    return `${text('path')} is not as it was when the run began: put it back, or pin it as it is now by \`flow migrate\``
  if (code === 'flow.artifact_touched')
    return `it changed ${text('path')}, which another node or another run handed in; what it did is dropped`
  if (code === 'flow.artifact_changed')
    return `${text('path')} is not what ${text('made_by')} handed in: recorded ${text('recorded')}, found ${text('found')}; put it back as it was`
  if (code === 'flow.secret_written')
    return `it left a secret of its participant in ${text('path')}; what it did is dropped`
  if (code === 'flow.evidence_unreadable')
    return `the evidence ${text('path')}:${text('field')} for the way ${edge_id} gives no value: ${text('why')}`
  if (code !== 'flow.delta_missing') return null
  // By earlier rules the edge is not recorded.
  if (values['check'] !== undefined)
    return `${edge_id === '' ? 'the run' : edge_id} led back to ${text('check')} without a new version of it, and ${text('check')} has rejected this one${edge_id === '' ? '' : '; it runs again'}`
  return repeatedText(values['by'])
}

/** How many more paths there are than findings name. */
function moreText(more: unknown): string {
  return typeof more === 'number' ? ` (and ${more} more, which the record of the act names)` : ''
}

function repeatedText(by: unknown): string {
  if (by === 'noop') return 'it says that there is nothing to do, and what it made was rejected'
  if (by === 'digest') return 'it gave a version again that was rejected before'
  return `it gave the same as before (compared by ${shownText(by)})`
}
