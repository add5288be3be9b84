/**
 * Replay of the gate's decisions: gathers what a decision rests on from the ledger and its bodies, and
 * has the gate decide again. Whatever of it is no longer kept makes the decision unreplayable, which
 * is neither equal nor different.
 */
import { canonicalJson, digestBytes } from '../../base/index.ts'
import type { Decision, Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import {
  EVALUATOR,
  type GateLists,
  type Manifest,
  type RecordedDecision,
  readLists,
  readManifest,
  recompute,
  recorded,
} from '../../gate/index.ts'
import {
  compareReplay,
  contentOf,
  type Fact,
  type OpenedFact,
  type Replayer,
  type ReplayLookup,
} from '../../ledger/index.ts'

/** Thrown to the one place below that turns it into an answer. */
class NotKept extends Error {}

export const replayDecision: Replayer = async (fact, payload, lookup) => {
  try {
    // The store judged the record by its contract before it was written.
    const decision = payload as Decision
    const evaluation = await evaluationOf(fact, decision, lookup)
    const made = versionOf(evaluation.evaluator)
    const known = versionOf(EVALUATOR)
    if (made !== known) return { kind: 'engine_changed', recorded: made, known }
    const record = await gather(fact, decision, evaluation, lookup)
    return compareParts(recorded(record), recompute(record))
  } catch (error) {
    if (error instanceof NotKept) return { kind: 'unreplayable', reason: error.message }
    throw error
  }
}

function versionOf({ name, version }: Evaluation['evaluator']): string {
  return `${name}/${version}`
}

/** Only the parts that differ are told: a comparison can be long. */
function compareParts(
  before: ReturnType<typeof recorded>,
  now: ReturnType<typeof recompute>,
): ReturnType<typeof compareReplay> {
  for (const part of ['comparison', 'risk', 'decision'] as const) {
    if (canonicalJson(before[part]) === canonicalJson(now[part])) continue
    return compareReplay({ [part]: before[part] }, { [part]: now[part] })
  }
  return { kind: 'equal' }
}

/** The evaluation that was written with the decision: the last one before it about this proposal. */
async function evaluationOf(
  fact: Fact,
  { action_id, proposal_digest }: Decision,
  lookup: ReplayLookup,
): Promise<Evaluation> {
  const found = (await lookup.ofAction(fact.stream, 'evaluation_v1', action_id))
    .filter(({ seq }) => seq < fact.seq)
    .map(({ payload }) => payload as Evaluation | null)
  if (found.includes(null)) throw new NotKept('the evaluation is no longer kept')
  const last = found.findLast((one) => one?.proposal_digest === proposal_digest)
  if (last === undefined || last === null) throw new NotKept('there is no evaluation with it')
  return last
}

async function gather(
  fact: Fact,
  decision: Decision,
  evaluation: Evaluation,
  lookup: ReplayLookup,
): Promise<RecordedDecision> {
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
  const isOf = (one: OpenedFact): boolean =>
    one.seq < seq && (one.payload as SandboxResult | null)?.proposal_digest === proposal_digest
  const last = found.findLast(isOf)
  if (last === undefined) throw new NotKept('the result is no longer kept')
  return last.payload as SandboxResult
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
