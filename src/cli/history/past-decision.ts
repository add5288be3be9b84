/**
 * A decision of the past with everything that it rests on, gathered from the ledger and its bodies.
 * Fails with `NotKept` if a part of it is no longer kept.
 */
import { digestBytes } from '../../base/index.ts'
import type { Decision, Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import {
  type GateLists,
  type Grounds,
  isAmended,
  type Manifest,
  type RecordedDecision,
  readLists,
  readManifest,
  STANDING_TYPES,
  StandingHistory,
} from '../../gate/index.ts'
import {
  contentOf,
  type Fact,
  HOST_STREAM,
  type OpenedFact,
  type ReplayLookup,
} from '../../ledger/index.ts'
import {
  bareLaws,
  FIRST_GROUND,
  type LawGround,
  type LawSet,
  loadLaws,
  WHOLE,
} from '../../policy/index.ts'
import type { LawWords } from '../../service/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { replayLookup } from './decision-walk.ts'

/** Something that a decision rests on is gone. */
export class NotKept extends Error {}

export interface PastEvaluation {
  readonly seq: number
  readonly evaluation: Evaluation
  readonly principal: OpenedFact['principal']
}

/** The evaluation that was written with the decision: the last one before it about this proposal. */
export async function evaluationOf(
  fact: Fact,
  { action_id, proposal_digest }: Decision,
  lookup: ReplayLookup,
): Promise<PastEvaluation> {
  const found = (await lookup.ofAction(fact.stream, 'evaluation_v1', action_id)).filter(
    ({ seq }) => seq < fact.seq,
  )
  if (found.some(({ payload }) => payload === null)) {
    throw new NotKept('the evaluation is no longer kept')
  }
  const last = found.findLast(
    // The lookup gives evaluations only, and none of them is gone.
    ({ payload }) => (payload as Evaluation).proposal_digest === proposal_digest,
  )
  if (last === undefined) throw new NotKept('there is no evaluation with it')
  // It is one of the evaluations above.
  return { seq: last.seq, evaluation: last.payload as Evaluation, principal: last.principal }
}

/** All but what stood before it, which takes a walk over the whole stream. */
export async function gatherDecision(
  fact: Fact,
  decision: Decision,
  evaluation: Evaluation,
  lookup: ReplayLookup,
): Promise<Omit<RecordedDecision, 'grounds'>> {
  const proposal =
    evaluation.violations.length > 0 ? null : await proposalOf(fact, evaluation, lookup)
  const result =
    evaluation.result_digest === undefined ? null : await resultOf(fact, evaluation, lookup)
  const steps = evaluation.comparison?.steps ?? []
  return {
    decision,
    proposal,
    evaluation,
    result,
    manifest: result === null ? null : await manifestOf(result.diff.manifest, lookup),
    steps: await Promise.all(
      steps.map(async ({ action_id, manifest }) => ({
        actionId: action_id,
        ...(await manifestOf(manifest, lookup)),
      })),
    ),
    lists: await listsOf(evaluation.lists, lookup),
  }
}

/** What laws and standing are computed again from; null where the record does not tell. */
export async function groundsOf(
  { stream }: Fact,
  { seq, evaluation }: PastEvaluation,
  lookup: ReplayLookup,
): Promise<Grounds | null> {
  const { basis } = evaluation
  if (basis === undefined) return null
  const before = (await standingOf(stream, lookup)).at(seq)
  if (before === null) throw new NotKept('the facts before it cannot be read')
  return { basis, laws: await lawsOf(evaluation, lookup), before }
}

interface Gathered {
  readonly laws: Map<string, Promise<LawSet | null>>
  readonly standing: Map<string, Promise<StandingHistory>>
}

/** What many decisions share is read once. */
const GATHERED = new WeakMap<ReplayLookup, Gathered>()

function gathered(lookup: ReplayLookup): Gathered {
  const known = GATHERED.get(lookup) ?? { laws: new Map(), standing: new Map() }
  GATHERED.set(lookup, known)
  return known
}

/** The laws that a record was judged by; null for a text that cannot be read as laws. */
export function lawsOf(evaluation: Evaluation, lookup: ReplayLookup): Promise<LawSet | null> {
  const { laws } = gathered(lookup)
  // Since layers the lists hold the default laws that the text is read over.
  const key = isAmended(evaluation) ? `${evaluation.laws} ${evaluation.lists}` : evaluation.laws
  const known = laws.get(key) ?? readLaws(evaluation, lookup)
  laws.set(key, known)
  return known
}

async function readLaws(evaluation: Evaluation, lookup: ReplayLookup): Promise<LawSet | null> {
  const text = await textOf(evaluation.laws, lookup, 'the laws are no longer kept')
  const ground = await groundOf(evaluation, lookup)
  if (text.trim() === '') return bareLaws(ground)
  const reading = await loadLaws(text, ground)
  return reading.ok ? reading.laws : null
}

async function groundOf(evaluation: Evaluation, lookup: ReplayLookup): Promise<LawGround> {
  if (!isAmended(evaluation)) return FIRST_GROUND
  const { laws: defaults = [] } = await listsOf(evaluation.lists, lookup)
  return { ...WHOLE, defaults }
}

function standingOf(stream: string, lookup: ReplayLookup): Promise<StandingHistory> {
  const { standing } = gathered(lookup)
  const known = standing.get(stream) ?? walk(stream, lookup)
  standing.set(stream, known)
  return known
}

async function walk(stream: string, lookup: ReplayLookup): Promise<StandingHistory> {
  const history = new StandingHistory()
  for await (const fact of lookup.each(HOST_STREAM, new Set(['halt_v1', 'laws_v1']))) {
    history.takeHost(standingFact(fact))
  }
  for await (const { seq, payload } of lookup.each(stream, new Set(['evaluation_v1']))) {
    // The lookup gives evaluations only.
    if (payload !== null) history.ask(seq, payload as Evaluation)
  }
  for await (const fact of lookup.each(stream, new Set(STANDING_TYPES))) {
    if (fact.payload !== null) history.take(standingFact(fact))
  }
  history.finish()
  return history
}

function standingFact({ record, payload, occurred_at, seq, principal }: OpenedFact) {
  return { type: record.type, payload, occurredAt: occurred_at, seq, principal }
}

/** The unredacted proposal; its digest says that it is the one that was decided about. */
async function proposalOf(
  { stream }: Fact,
  { action_id, proposal_digest }: Evaluation,
  lookup: ReplayLookup,
): Promise<Proposal> {
  for (const { record } of await lookup.ofAction(stream, 'proposal_v1', action_id)) {
    const body = record.original === undefined ? null : await lookup.body(record.original.body)
    if (body === null) continue
    const content = contentOf(body)
    if (digestBytes(content) !== proposal_digest) continue
    // The gate admitted the proposal with this digest.
    return JSON.parse(new TextDecoder().decode(content)) as Proposal
  }
  throw new NotKept('the proposal is no longer kept')
}

/** Outputs are bodies of their own that no decision reads, so the view on the ledger is enough. */
async function resultOf(
  { stream, seq }: Fact,
  { action_id, proposal_digest }: Evaluation,
  lookup: ReplayLookup,
): Promise<SandboxResult> {
  const found = await lookup.ofAction(stream, 'sandbox_result_v1', action_id)
  // The lookup gives results only; the payload of one that is gone is null.
  const isOf = (one: OpenedFact): boolean =>
    one.seq < seq && (one.payload as SandboxResult | null)?.proposal_digest === proposal_digest
  const last = found.findLast(isOf)
  if (last === undefined) throw new NotKept('the result is no longer kept')
  return last.payload as SandboxResult // `isOf` has seen its digest.
}

async function manifestOf(digest: string, lookup: ReplayLookup): Promise<Manifest> {
  const text = await textOf(digest, lookup, 'the manifest of the diff is no longer kept')
  const manifest = readManifest(text.split('\n'))
  if (manifest === null) throw new NotKept('the manifest of the diff cannot be read')
  return manifest
}

async function listsOf(digest: string, lookup: ReplayLookup): Promise<GateLists> {
  return readLists(await textOf(digest, lookup, 'the lists are no longer kept'))
}

async function textOf(digest: string, lookup: ReplayLookup, gone: string): Promise<string> {
  const bytes = await lookup.body(digest)
  if (bytes === null || digestBytes(bytes) !== digest) throw new NotKept(gone)
  return new TextDecoder().decode(bytes)
}

/**
 * What the laws that a decision names say for people, from the laws that the act was judged by.
 *
 * Of the last decision among the facts of one act; empty where the laws are no longer kept.
 */
export async function lawWordsAmong(
  ledger: LedgerReader,
  facts: readonly OpenedFact[],
): Promise<readonly LawWords[]> {
  const { law_refs = [] } = lastPayload<Decision>(facts, 'decision_v1') ?? {}
  const evaluation = lastPayload<Evaluation>(facts, 'evaluation_v1')
  if (law_refs.length === 0 || evaluation === null) return []
  try {
    const laws = await lawsOf(evaluation, replayLookup(ledger))
    return (laws?.laws ?? []).flatMap(({ policyId: policy_id, text }) =>
      text !== null && law_refs.includes(policy_id) ? [{ policy_id, text }] : [],
    )
  } catch (error) {
    if (error instanceof NotKept) return []
    throw error
  }
}

function lastPayload<Payload>(facts: readonly OpenedFact[], type: string): Payload | null {
  const last = facts.findLast(({ record, payload }) => record.type === type && payload !== null)
  // The store judged the record by its contract before it was written.
  return last === undefined ? null : (last.payload as Payload)
}
