/**
 * Decide: laws that read the result, then PROMOTE, CONFIRM or BLOCK, with all codes in the order of
 * evaluation. The decision itself is `decide` of the gate's room, which is pure; this hands it what is
 * known.
 */
import type { Digest } from '../../base/index.ts'
import type { Evaluation, EvaluationBasis, Proposal, Violation } from '../../contracts/index.ts'
import {
  admissionRules,
  admitProposal,
  decide as decideBy,
  type Judgement,
  lawsSetAside,
  lawValues,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { LawPhase } from '../../policy/index.ts'
import type { Act, Compared, Decided, GateParts, Seen } from './act.ts'
import { lawWords } from './answer.ts'

export function decide(gate: GateParts, compared: Compared): Decided {
  const { seen } = compared
  return seen === null ? decideUnseen(gate, compared) : decideSeen(gate, compared, seen)
}

/** Nothing ran: for what was found before, or for what kept it from running. */
function decideUnseen(gate: GateParts, compared: Compared): Decided {
  const { evaluation, proposal, refusal, violations } = compared
  const now = () => decideBy(judgementOf(gate, { evaluation, proposal, result: null }))
  const told = [...violations, ...admissionRefusals(gate, compared)]
  const act = { ...actOf(compared), result: null, changes: [], violations: told }
  return { ...act, decision: refusal ?? now(), compared }
}

function decideSeen(gate: GateParts, compared: Compared, seen: Seen): Decided {
  const { proposal, result, comparison, manifest } = seen
  const before = compared.evaluation.law_outcomes
  const after = lawOutcomes(gate, 'after', compared.evaluation, { proposal, seen })
  const evaluation = { ...compared.evaluation, law_outcomes: [...before, ...after] }
  const decision = decideBy(judgementOf(gate, { evaluation, proposal, result }))
  const act = { ...actOf(compared), evaluation, result, manifest, violations: [] }
  return { ...act, changes: comparison.promoted, decision, compared }
}

function actOf({
  evaluation,
  proposal,
}: Compared): Pick<Act, 'actionId' | 'proposal' | 'proposalDigest' | 'evaluation'> {
  // The digest of a document, made when the evaluation was begun.
  const proposalDigest = evaluation.proposal_digest as Digest
  return { actionId: evaluation.action_id, proposal, proposalDigest, evaluation }
}

/** Whether changes of the home, which the person wanted to keep, are refused with the rest; says so. */
export function refusesHome({ book }: GateParts, decided: Decided): boolean {
  const { decision, evaluation, compared } = decided
  if (decision.decision !== 'BLOCK' || evaluation.home_kept !== true) return false
  compared.terms.live?.onHomeRefused?.(decision.code, lawWords(decision, book))
  return true
}

/** What the laws of a phase say; `seen` is null before anything ran. */
export function lawOutcomes(
  { book }: GateParts,
  phase: LawPhase,
  evaluation: Evaluation,
  { proposal, seen }: { readonly proposal: Proposal; readonly seen: SeenByLaws | null },
): Evaluation['law_outcomes'] {
  // Every evaluation begins with one.
  const basis = evaluation.basis as EvaluationBasis
  const rehearsed = seen === null ? null : { result: seen.result, changes: seen.comparison }
  const values = lawValues(proposal, evaluation, basis, rehearsed)
  return [...book.judge(phase, values, lawsSetAside(evaluation))]
}

type SeenByLaws = Pick<Seen, 'result' | 'comparison'>

export function judgementOf(
  { context, book }: GateParts,
  { evaluation, proposal, result }: Pick<Act, 'evaluation' | 'proposal' | 'result'>,
): Judgement {
  const decidedAt = occurredAtText(context.nowMs())
  return { proposal, evaluation, result, lists: book.lists, decidedAt }
}

/** Every reason of the admission, with its place. */
function admissionRefusals(
  { book }: GateParts,
  { proposal, evaluation }: Compared,
): readonly Violation[] {
  if (proposal === null) return []
  const rules = admissionRules(evaluation)
  const { refusals } = admitProposal(proposal, evaluation.host, book.lists, rules)
  return refusals.map(({ code, path, message, hint }) => ({
    code,
    path,
    message,
    ...(hint === undefined ? {} : { hint }),
  }))
}
