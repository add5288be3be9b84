/** Under which keys a proposal and what became of it go on the ledger, and by which id. */
import { type Evaluation, field, isObject, type Proposal } from '../../contracts/index.ts'
import type { GateRecord } from './ledger-view.ts'

/**
 * An action id that was used before has facts of its own: the refusal of its second use gets another
 * key, and so does the run that a human released after a refused rehearsal.
 */
export function keyOf({ action_id, host, proposal_digest, network }: Evaluation): string {
  const release = network?.release ?? null
  if (release !== null) return `${action_id}/${release.override_id}/${host.now_ms}`
  const isReused = host.seen_action_ids.includes(action_id.toLowerCase())
  return isReused ? `${action_id}/${proposal_digest.slice(-16)}/${host.now_ms}` : action_id
}

export function proposalRecord(draft: Evaluation, proposal: Proposal): GateRecord {
  return { type: 'proposal_v1', payload: proposal, key: `proposal/${keyOf(draft)}` }
}

/** The id of a document that has none; such a document leaves no fact. */
export const NO_ID = '00000000-0000-0000-0000-000000000000'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

export function actionIdOf(document: unknown): string {
  const descriptor = isObject(document) ? field(document, 'descriptor') : null
  const id = isObject(descriptor) ? field(descriptor, 'action_id') : null
  return typeof id === 'string' && UUID.test(id) ? id : NO_ID
}
