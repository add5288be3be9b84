/** What a result comes to, in words: files and requests, what a yes does, and what undo would do. */
import type { HeldRequest, Proposal, SandboxResult } from '../../contracts/index.ts'
import { leavesOf } from '../../gate/index.ts'
import { counted, countsText, sizeText } from './amount.ts'
import { operationTitle } from './operation-text.ts'
import { visible } from './visible.ts'

type Happened = Pick<SandboxResult, 'diff' | 'side_effects'>

/** `2 changed, 1 request (POST https://api.example.com/orders, 9 bytes)`. */
export function resultText({ diff, side_effects: { held = [] } }: Happened): string {
  const [first] = held
  if (first === undefined) return countsText(diff.counts)
  const { method, url, has_query, body_bytes } = first
  const address = `${visible(method)} ${visible(url)}${has_query ? '?…' : ''}`
  const requests =
    held.length === 1
      ? `1 request (${address}, ${body_bytes === 0 ? 'no body' : sizeText(body_bytes)})`
      : counted(held.length, 'request')
  return hasFiles(diff) ? `${countsText(diff.counts)}, ${requests}` : requests
}

/** What a person is asked to agree to. */
export function askText({ diff, side_effects: { held = [] } }: Happened): string {
  if (held.length === 0) return 'promote them?'
  const send = held.length === 1 ? 'send it?' : 'send them?'
  return hasFiles(diff) ? 'promote and send them?' : send
}

function hasFiles({ counts }: SandboxResult['diff']): boolean {
  return counts.added + counts.modified + counts.deleted > 0
}

/** What undo does about requests: proposes what compensates them, or cannot take them back. */
export function undoSentText(held: readonly HeldRequest[], proposal: Proposal | null): string {
  if (held.some(({ compensation }) => compensation === undefined)) {
    return 'what is sent cannot be taken back'
  }
  const compensations = proposal === null ? [] : compensationsOf(proposal)
  const what = compensations.length === 0 ? 'its compensation' : compensations.join('; ')
  return `writ undo asks to send what compensates it: ${what}`
}

function compensationsOf(proposal: Proposal): readonly string[] {
  return leavesOf(proposal).flatMap(({ proposal: { operation } }) =>
    operation?.type === 'NETWORK_REQUEST' && operation.compensation !== undefined
      ? [operationTitle({ operation: operation.compensation })]
      : [],
  )
}
