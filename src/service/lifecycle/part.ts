/**
 * Part: a person takes a part of what an act without a declaration would change (N-4). The part is
 * compared and judged again like a run that changed nothing else, and has a result digest of its own. It
 * is shown before anything is recorded; a yes to it records result, evaluation and decision in place of
 * those of the question, and promotes exactly the part. The rest is listed as `effect.not_taken`: it is
 * dropped with its stage, or stays pending in its session.
 *
 * INVARIANT (whole groups): what cannot be divided is taken whole (`takenPart`).
 * INVARIANT (never looser): what pointed to a path in the whole act still counts in the part.
 */
import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Digest,
  digestDocument,
  type FaultError,
  faultError,
  showName,
} from '../../base/index.ts'
import type { Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  type Comparison,
  compareAgain,
  decide,
  displayOfRaw,
  inlineDiff,
  isComparedCode,
  lawsSetAside,
  lawValues,
  manifestDigest,
  needsNoDeclaration,
  type PendingQuestion as Pending,
  type RawPath,
  takenPart,
} from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import { captureChanges, makeStageLayer, readStage } from '../../tree/index.ts'
import { readPointed } from '../readings/host-readings.ts'
import { KeptBodies } from '../records/kept-bodies.ts'
import { recordWhile } from '../records/override-use.ts'
import { findStage, markGoing, stageOf } from '../stage/stage-place.ts'
import { isRoot } from '../surface/context.ts'
import type { PartQuestion, Question } from '../surface/surface.ts'
import type { Asked, GateParts, PreparedPart, Recorded } from './act.ts'
import { pointedRows } from './compare.ts'
import { endedFailure } from './confirm.ts'
import { judgementOf } from './decide.ts'
import { dropStage, NO_BASIS, orLeave } from './decide-again.ts'

type OpenQuestion = Pick<Asked, 'act' | 'pending'>

/** Adds the way to a part of it, where the act declared nothing and changes more than one path. */
export function withPart(gate: GateParts, asked: OpenQuestion, question: Question): Question {
  const { evaluation, proposal, changes } = asked.act
  const isDivisible =
    needsNoDeclaration(evaluation) &&
    evaluation.part === undefined &&
    proposal?.children === undefined &&
    changes.length > 1
  if (!isDivisible) return question
  return { ...question, part: (only, decidedAt) => partOf(gate, asked, question, only, decidedAt) }
}

async function partOf(
  gate: GateParts,
  { act, pending }: OpenQuestion,
  question: Question,
  only: readonly string[],
  decidedAt?: string,
): Promise<PartQuestion> {
  const { proposal, result } = act
  if (proposal === null || result === null) throw refused(act, 'what it asks about is not kept')
  const record = await gate.questions.record(act.actionId)
  if (record === null) throw refused(act, 'what it asks about is not kept')
  const changes = sorted([...record.changes, ...record.discarded])
  checkChoice(act, record.changes, only)
  const known = { ...act, result: record.result }
  const { part, comparison } = await judged(gate, known, changes, only, decidedAt)
  if (part.act.decision.decision === 'BLOCK') throw blockedPart(part)
  gate.prepared.set(part.act.decision.result_digest ?? '', part)
  const left = comparison.discarded.filter(({ path }) => !record.discarded.some(isAt(path)))
  const shown = await gate.questions.shownPart(pending, { ...part.act, ...part.manifest }, question)
  return { ...shown, part: null, whole: question.resultDigest, left }
}

function isAt(path: RawPath): (change: Change) => boolean {
  return (change) => change.path === path
}

function checkChoice(act: Recorded, changes: readonly Change[], only: readonly string[]): void {
  const { taken, unmatched } = takenPart(changes, only)
  const [first] = unmatched
  if (first !== undefined || only.length === 0) {
    throw refused(act, `the act changes nothing at ${showName(first ?? '')}`)
  }
  if (taken.size < changes.length) return
  throw refused(act, 'that is everything the act changes, or cannot be divided from it')
}

function refused({ actionId }: Pick<Recorded, 'actionId'>, message: string): FaultError {
  const hint = `it still waits: \`writ inbox ${actionId} --all\` lists what can be taken`
  return faultError('confirm.part', actionId, message, hint)
}

function blockedPart({ act: { actionId, decision } }: PreparedPart): FaultError {
  const message = `taken by itself, this part is refused (${decision.codes.join(', ')})`
  const hint = 'it still waits: take another part, or all of it'
  return faultError('confirm.part', actionId, message, hint)
}

interface JudgedPart {
  readonly part: PreparedPart
  readonly comparison: Comparison
}

/** Compares and judges the part by the laws of now; nothing is recorded. `decidedAt`: as it was shown to a person who signed. */
async function judged(
  gate: GateParts,
  act: Recorded & { readonly result: SandboxResult },
  changes: readonly Change[],
  only: readonly string[],
  decidedAt?: string,
): Promise<JudgedPart> {
  // `partOf` has seen that it is there.
  const proposal = act.proposal as Proposal
  const noted = await notedFor(gate, act, only)
  const { lists, listsDigest, digest } = gate.book
  const draft = {
    ...act.evaluation,
    ...noted,
    laws: digest,
    lists: listsDigest,
    part: { only: [...only] },
  }
  const manifest = { changes, discarded: new Set<RawPath>() }
  const record = { proposal, evaluation: draft, result: act.result, manifest, steps: [], lists }
  const comparison = compareAgain(record)
  if (comparison === null) throw refused(act, 'what it rests on is not kept')
  const discarded = new Set(comparison.discarded.map(({ path }) => path))
  const result = resultOf(act.result, comparison, manifestDigest(changes, discarded), only)
  const evaluation = judgedByLaws(gate, proposal, draft, { result, comparison })
  const judgement = judgementOf(gate, { evaluation, proposal, result })
  const decision = decide({ ...judgement, ...(decidedAt === undefined ? {} : { decidedAt }) })
  const taken = { ...act, evaluation, result, decision, changes: comparison.promoted }
  return { part: { act: taken, manifest: { changes, discarded } }, comparison }
}

function judgedByLaws(
  { book }: GateParts,
  proposal: Proposal,
  draft: Evaluation,
  seen: { readonly result: SandboxResult; readonly comparison: Comparison },
): Evaluation {
  const basis = draft.basis ?? NO_BASIS
  const setAside = lawsSetAside(draft)
  const { result, comparison: changes } = seen
  const after = lawValues(proposal, draft, basis, { result, changes })
  const law_outcomes = [
    ...book.judge('before', lawValues(proposal, draft, basis, null), setAside),
    ...book.judge('after', after, setAside),
  ]
  return { ...draft, result_digest: digestDocument(result), law_outcomes }
}

/**
 * What the comparison of the part rests on: the readings of the whole act about its paths, and what
 * points to them when nothing else of the act is real.
 */
async function notedFor(
  gate: GateParts,
  act: Recorded & { readonly result: SandboxResult },
  only: readonly string[],
): Promise<Pick<Evaluation, 'comparison'>> {
  const { evaluation, changes, proposal, result } = act
  const noted = evaluation.comparison
  if (noted === null || proposal === null) throw refused(act, 'what it rests on is not kept')
  const { taken } = takenPart(changes, only)
  const part = changes.filter(({ path }) => taken.has(path))
  const found = await withStageLayer(gate, { result, changes }, (layers) =>
    readPointed(gate, { proposal, evaluation, changes: part, layers }),
  )
  const rows = new Map((noted.pointed ?? []).map((row) => [row.path, row]))
  for (const row of pointedRows(found.pointed, found.brought)) rows.set(row.path, row)
  const needed_bytes = part.reduce((sum, { before }) => sum + (before?.size ?? 0), 0)
  const { undo } = noted
  return {
    comparison: {
      ...noted,
      ...(rows.size === 0 ? {} : { pointed: [...rows.values()] }),
      ...(undo === undefined ? {} : { undo: { ...undo, needed_bytes } }),
    },
  }
}

function resultOf(
  result: SandboxResult,
  comparison: Comparison,
  manifest: Digest,
  only: readonly string[],
): SandboxResult {
  const { counts, bytes, effectsDeclared, withinScope, discarded } = comparison
  const left = new Set(discarded.map(({ path }) => displayOfRaw(path)))
  const others = result.findings.filter(
    ({ code, path }) => !isComparedCode(code) && !left.has(path ?? ''),
  )
  return {
    ...result,
    sandbox_id: idOf(result, only),
    diff: { counts, bytes, manifest, ...inlineDiff(comparison.promoted) },
    findings: [...comparison.findings, ...others],
    compliance: {
      ...result.compliance,
      effects_declared: effectsDeclared,
      within_scope: withinScope,
    },
  }
}

/** Names the stage of the part. The same part of the same result has the same name, and so one digest. */
function idOf(result: SandboxResult, only: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([result.sandbox_id, ...only]))
    .digest('hex')
  const variant = `4${hash.slice(13, 16)}-8${hash.slice(17, 20)}`
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${variant}-${hash.slice(20, 32)}`
}

/** Records a part that was shown in place of its question; its bytes are durable before. */
export async function takePart(
  gate: GateParts,
  { act, pending }: OpenQuestion,
  digest: string,
): Promise<OpenQuestion> {
  const part = gate.prepared.get(digest)
  if (part === undefined) throw refused(act, 'the part was not shown before')
  const { result, actionId, evaluation, decision } = part.act
  if (result === null || act.result === null) throw refused(act, 'what it asks about is not kept')
  const bodies = new KeptBodies(gate.context.ledger.objects, false)
  await bodies.manifest(part.manifest.changes, part.manifest.discarded)
  bodies.laws(gate.book)
  await restage(gate, { result: act.result, changes: act.changes }, part.act)
  await bodies.settled()
  const key = `${actionId}/part/${gate.context.nowMs()}`
  const records = [
    { type: 'sandbox_result_v1', payload: result, key: `result/${key}` },
    { type: 'evaluation_v1', payload: evaluation, key: `evaluation/${key}` },
    { type: 'decision_v1', payload: decision, key: `decision/${key}` },
  ]
  const isOpen = await orLeave(gate, result.sandbox_id, () =>
    recordWhile(gate.view, records, (standing) => {
      const open = standing.question(actionId)
      return open?.askedAt === pending.askedAt && open.resultDigest === pending.resultDigest
    }),
  )
  if (!isOpen) {
    dropStage(gate, result)
    throw await endedFailure(gate, actionId)
  }
  dropStage(gate, act.result)
  const now: Pending | null = (await gate.view.standing()).question(actionId)
  return { act: part.act, pending: now ?? pending }
}

type StagedAct = { readonly result: SandboxResult; readonly changes: readonly Change[] }

/** Copies the bytes of the part from the stage of the act into one of its own. */
async function restage(gate: GateParts, whole: StagedAct, part: Recorded): Promise<void> {
  const found = findStage(gate.context.home, whole.result.sandbox_id)
  if (found === null || part.result === null) throw refused(part, 'its bytes are not kept')
  const directory = stageOf(found.place, part.result.sandbox_id)
  const { emptied } = readStage(found.stage, () => false)
  removeTreeSync(directory)
  try {
    if (part.decision.decision === 'PROMOTE') markGoing(directory, part.actionId)
    await withStageLayer(gate, whole, (layers) =>
      captureChanges(part.changes, layers, directory, { isRoot: isRoot(), emptied }),
    )
  } catch (error) {
    removeTreeSync(directory)
    throw error
  }
}

/** Lays the stage of an act out as the upper layer of a run, for as long as `work` takes. */
async function withStageLayer<T>(
  { context }: GateParts,
  { result, changes }: StagedAct,
  work: (layers: readonly Layer[]) => T | Promise<T>,
): Promise<T> {
  const found = findStage(context.home, result.sandbox_id)
  if (found === null) throw faultError('stage.missing', result.sandbox_id)
  const directory = join(found.place, randomUUID())
  const made = changes.filter(({ after }) => after !== null)
  try {
    await makeStageLayer({
      stage: found.stage,
      changes: made,
      directory,
      below: [],
      isRoot: isRoot(),
    })
    const upperDevice = statSync(directory).dev
    return await work([{ root: '/', upper: `${directory}/`, merged: '/', upperDevice }])
  } finally {
    removeTreeSync(directory)
  }
}

function sorted(changes: readonly Change[]): readonly Change[] {
  return [...changes].sort(({ path: one }, { path: other }) => (one < other ? -1 : 1))
}
