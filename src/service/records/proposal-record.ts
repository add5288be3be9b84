/** Under which keys a proposal and what became of it go on the ledger, and by which id. */
import { digestDocument, faultError, showCommand, showName } from '../../base/index.ts'
import {
  type Evaluation,
  field,
  isObject,
  type Operation,
  type Proposal,
} from '../../contracts/index.ts'
import { principalText } from '../../ledger/index.ts'
import { quoteAll } from '../../machine/index.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'
import { recordWhile } from './override-use.ts'

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

/**
 * The proposal on the record before anything runs. Where a human released its requests this is also the
 * use of the release, and it is used once, also when the same proposal is run twice at one moment: it
 * is recorded only on the very facts at which the release was found unused.
 */
export async function recordBeforeRun(
  view: LedgerView,
  record: GateRecord,
  evaluation: Evaluation,
): Promise<void> {
  const release = evaluation.network?.release ?? null
  const { action_id, proposal_digest, host } = evaluation
  if (release === null) {
    if (!(await view.recordFirst(record))) await refuseAnothers(view, evaluation)
    return
  }
  const isRecorded = await recordWhile(view, [record], (standing) => {
    const usable = standing.releaseFor(action_id, proposal_digest, host.now_ms)
    return usable?.override_id === release.override_id
  })
  if (isRecorded) return
  const message = 'another run of this proposal has used its release'
  throw faultError('override.release', action_id, message)
}

/**
 * Two proposals under one id at the same moment are both admitted; the one that is recorded has the id.
 * Fails for the other, unless it is the same proposal of the same caller.
 */
async function refuseAnothers(
  view: LedgerView,
  { action_id, proposal_digest }: Evaluation,
): Promise<void> {
  const [first] = await view.factsOf('proposal_v1', action_id)
  const document = first === undefined ? null : ((await view.originalOf(first)) ?? first.payload)
  const isSame = first !== undefined && principalText(first.fact.principal) === view.caller
  if (isSame && digestDocument(document) === proposal_digest) return
  const message = `the action id ${showName(action_id)} was used before`
  const hint = 'make a fresh UUID for every proposal'
  throw faultError('descriptor.action_id_reused', action_id, message, hint)
}

const WORDS_MAX = 120

/** What an act is, in one line for people: its command, or its kind and what it acts on. */
export function actWords(proposal: Proposal): string {
  const { operation } = proposal
  const words = operation === undefined ? '' : operationWords(operation)
  const text = words === '' ? proposal.descriptor.action_type : words
  return text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX - 1)}…` : text
}

function operationWords(operation: Operation): string {
  switch (operation.type) {
    case 'COMMAND_EXECUTION':
      return showCommand(quoteAll(operation.argv))
    case 'NETWORK_REQUEST':
      return `${operation.method} ${showName(operation.url)}`
    case 'FILE_MOVE':
      return `FILE_MOVE ${showName(operation.from)}`
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
      return `${operation.manager} ${operation.packages.map(showName).join(' ')}`
    // Operations on one path, or without one.
    default:
      return 'path' in operation ? `${operation.type} ${showName(operation.path)}` : operation.type
  }
}
