/**
 * Admit: everything that is asked before anything runs. Contract and admission, what speaks against
 * the intent, preconditions, laws that need no result. The first that blocks is the last that is asked.
 */
import {
  type Decision,
  type Evaluation,
  judge,
  type Proposal,
  proposalContract,
} from '../../contracts/index.ts'
import { decideEarly, withEgress } from '../../gate/index.ts'
import { probePreconditions } from '../readings/preconditions.ts'
import { proposalRecord, recordBeforeRun } from '../records/proposal-record.ts'
import type { Admitted, GateParts, RanInSession, Terms } from './act.ts'
import { judgementOf, lawOutcomes } from './decide.ts'
import { beginDraft } from './draft.ts'

export async function admit(gate: GateParts, document: unknown, terms: Terms): Promise<Admitted> {
  const { violations, valid } = judge(proposalContract, document)
  // The contract has judged it.
  const proposal = valid ? (document as Proposal) : null
  const begun = await gate.view.ask((standing) =>
    beginDraft(gate, terms, { document, proposal, violations }, standing),
  )
  return { terms, proposal, violations, ...askEarly(gate, begun, proposal) }
}

/** The hosts that a person gave a session with its start count as known. */
export async function admitSession(
  gate: GateParts,
  { document, terms, egress }: RanInSession,
): Promise<Admitted> {
  const admitted = await admit(gate, document, terms)
  const { evaluation } = admitted
  const network = withEgress(evaluation.network ?? null, egress)
  return network === null ? admitted : { ...admitted, evaluation: { ...evaluation, network } }
}

/** What a later stage would find out is not asked when an earlier one blocks. */
function askEarly(
  gate: GateParts,
  begun: Evaluation,
  proposal: Proposal | null,
): Pick<Admitted, 'evaluation' | 'refusal'> {
  const refusalOf = (evaluation: Evaluation): Decision | null =>
    decideEarly(judgementOf(gate, { evaluation, proposal, result: null }))
  const first = refusalOf(begun)
  if (first !== null || proposal === null) return { evaluation: begun, refusal: first }
  const failed = probePreconditions(proposal).map(({ name }) => name)
  const probed = { ...begun, preconditions: { failed } }
  const second = refusalOf(probed)
  if (second !== null) return { evaluation: probed, refusal: second }
  const law_outcomes = lawOutcomes(gate, 'before', probed, { proposal, seen: null })
  const evaluation = { ...probed, law_outcomes }
  return { evaluation, refusal: refusalOf(evaluation) }
}

/** Records the proposal; nothing of it runs before that. */
export async function recordProposal(
  { view }: GateParts,
  { evaluation, proposal }: Admitted,
): Promise<void> {
  if (proposal === null) return
  await recordBeforeRun(view, proposalRecord(evaluation, proposal), evaluation)
}
