/**
 * Computes a decision again from the ledger (L-9): the comparison from the manifest, the risk from the
 * proposal and the host's findings, the outcomes of laws from their text, the standing and the
 * overrides in force from the facts before it, and the decision from all of these. It calls the
 * functions that made the decision and adds no rule.
 *
 * Records of evaluator 1 do not hold the inputs of laws, so their law outcomes and standing are taken
 * as recorded.
 */
import type {
  ActionDescriptor,
  Decision,
  Evaluation,
  EvaluationBasis,
  LawOutcome,
  Proposal,
  SandboxResult,
} from '../../contracts/index.ts'
import { bareLaws, judgeRecorded, type LawSet } from '../../policy/index.ts'
import { admissionRules, admitProposal } from '../admission/admission.ts'
import {
  type ComparedStep,
  type Comparison,
  compareEffects,
  compareSteps,
} from '../comparison/comparison.ts'
import { POINTERS, type PointedBy } from '../comparison/deferred.ts'
import { grantCase } from '../comparison/grants.ts'
import type { GateLists } from '../data/lists.ts'
import {
  isAmended,
  isComparedCode,
  keepsHome,
  leavesHomeOut,
  namedPaths,
  needsNoDeclaration,
  takenPaths,
} from '../evidence/findings.ts'
import type { Manifest } from '../evidence/manifest.ts'
import { networkGrounds, withEgress } from '../network/rules.ts'
import { leavesOf } from '../paths/places.ts'
import type { RawPath } from '../paths/raw-path.ts'
import type { StandingBefore } from '../standing/standing-history.ts'
import { decide, decideEarly, lawsSetAside, lawValues } from './decision.ts'

export interface RecordedDecision {
  readonly decision: Decision
  /** Null when the document broke its contract. */
  readonly proposal: Proposal | null
  readonly evaluation: Evaluation
  readonly result: SandboxResult | null
  /** What all did to the real tree, and what each child did; null without a result. */
  readonly manifest: Manifest | null
  readonly steps: readonly (Manifest & { readonly actionId: string })[]
  readonly lists: GateLists
  /** What laws and standing are computed again from; null where the record does not tell it. */
  readonly grounds: Grounds | null
}

/** The laws that were in force, and what the facts said that the host had taken in. */
export interface Grounds {
  readonly basis: EvaluationBasis
  /** Null for a file that was accepted and cannot be read. */
  readonly laws: LawSet | null
  readonly before: StandingBefore
}

/** What is compared with the record: the parts that follow from other parts of it. */
export interface Recomputed {
  readonly decision: unknown
  readonly risk: unknown
  readonly comparison: unknown
  readonly laws: unknown
  readonly standing: unknown
  readonly overrides: unknown
  readonly given: unknown
  readonly network: unknown
}

export function recorded(record: RecordedDecision): Recomputed {
  const { decision, proposal, evaluation, result, grounds } = record
  return {
    decision,
    risk: proposal === null ? null : evaluation.risk,
    comparison: result === null ? null : recordedComparison(result),
    laws: grounds === null ? null : evaluation.law_outcomes,
    standing: grounds === null ? null : recordedStanding(evaluation, grounds),
    overrides: grounds === null ? null : grounds.basis.overrides,
    given: grounds === null ? null : recordedGiven(evaluation, grounds),
    network: grounds === null || result === null ? null : (evaluation.network ?? null),
  }
}

export function recompute(record: RecordedDecision): Recomputed {
  const { decision, proposal, evaluation, result, lists, grounds } = record
  const decidedAt = decision.decided_at
  const comparison = result === null ? null : compareAgain(record)
  return {
    decision: decide({ proposal, evaluation, result, lists, decidedAt }),
    risk:
      proposal === null
        ? null
        : admitProposal(proposal, evaluation.host, lists, admissionRules(evaluation)).risk,
    comparison: comparison === null ? null : computedComparison(comparison),
    laws: grounds === null ? null : computedLaws(record, grounds, comparison),
    standing: grounds === null ? null : computedStanding(evaluation, grounds),
    overrides: grounds === null ? null : grounds.before.overrides,
    given: grounds === null ? null : computedGiven(evaluation, grounds, comparison),
    network: grounds === null || result === null ? null : computedNetwork(record, grounds),
  }
}

/** Grants of humans in force, and those that spared a question. */
function recordedGiven({ comparison }: Evaluation, { basis }: Grounds): unknown {
  return { inForce: basis.given ?? [], used: comparison?.given_used ?? [] }
}

function computedGiven(
  { comparison }: Evaluation,
  { before }: Grounds,
  again: Comparison | null,
): unknown {
  // Without a manifest nothing can be compared again.
  const used = again === null ? (comparison?.given_used ?? []) : again.givenUsed
  return { inForce: before.given, used }
}

/** Which hosts a run could reach, and why. */
function computedNetwork(
  { proposal, evaluation }: RecordedDecision,
  { laws, before }: Grounds,
): unknown {
  if (proposal === null) return null
  const { readOnlyHosts } = (laws ?? bareLaws()).settings
  const grounds = networkGrounds(proposal, readOnlyHosts, before.release)
  // What a human declared with a participant is given; all else follows from the record.
  return withEgress(grounds, evaluation.network?.service_hosts ?? [])
}

/** What laws say of a record, in the stages in which they were asked. */
function computedLaws(
  { proposal, evaluation, result, lists, decision }: RecordedDecision,
  { basis, laws }: Grounds,
  comparison: Comparison | null,
): readonly LawOutcome[] {
  if (proposal === null || !reachedLaws({ proposal, evaluation, lists, decision })) return []
  const setAside = lawsSetAside({ basis })
  const early = judgeRecorded(
    laws,
    'before',
    lawValues(proposal, evaluation, basis, null),
    setAside,
  )
  if (result === null || comparison === null) return early
  const values = lawValues(proposal, evaluation, basis, { result, changes: comparison })
  return [...early, ...judgeRecorded(laws, 'after', values, setAside)]
}

/** Laws are asked when admission, standing and preconditions did not end it before. */
export function reachedLaws(
  record: Pick<RecordedDecision, 'proposal' | 'evaluation' | 'lists' | 'decision'>,
): boolean {
  const { proposal, lists, decision } = record
  const evaluation = { ...record.evaluation, law_outcomes: [] }
  if (evaluation.preconditions === null) return false
  const judgement = { proposal, evaluation, result: null, lists, decidedAt: decision.decided_at }
  return decideEarly(judgement) === null
}

function recordedStanding({ standing }: Evaluation, { basis }: Grounds): unknown {
  const { recent_rollbacks, hour_use: hour = null } = basis
  return { ...standing, recent_rollbacks, hour }
}

/** The host sees a halt or changed laws before they are facts, so its record may say more. */
function computedStanding(
  { standing, host }: Evaluation,
  { before, laws, basis }: Grounds,
): unknown {
  const { halted, laws_changed } = standing
  const { cooledFromMs } = before
  const { cooldownMinutes } = (laws ?? bareLaws()).settings
  const untilMs = cooledFromMs === null ? null : cooledFromMs + cooldownMinutes * MINUTE_MS
  return {
    halted: halted || before.halted,
    laws_changed: laws_changed || before.lawsDiffer,
    permanent: before.permanent,
    // Laws that no human accepted do not set the cooldown.
    cooldown_until_ms: laws_changed
      ? standing.cooldown_until_ms
      : untilMs !== null && host.now_ms < untilMs
        ? untilMs
        : null,
    reconfirm: before.reconfirm,
    background_before: before.background,
    recent_rollbacks: before.recentRollbacks,
    hour: basis.hour_use === undefined ? null : before.hourUse,
  }
}

const MINUTE_MS = 60_000

function recordedComparison({ findings, diff, compliance }: SandboxResult): unknown {
  return {
    findings: findings.filter(({ code }) => isComparedCode(code)),
    counts: diff.counts,
    bytes: diff.bytes,
    effects_declared: compliance.effects_declared,
    within_scope: compliance.within_scope,
  }
}

function computedComparison(comparison: Comparison): unknown {
  const { findings, counts, bytes, effectsDeclared, withinScope } = comparison
  return {
    findings,
    counts,
    bytes,
    effects_declared: effectsDeclared,
    within_scope: withinScope,
  }
}

/** What a rehearsal did, compared with its declaration once more; null when nothing was compared. */
export function compareAgain(
  record: Pick<
    RecordedDecision,
    'proposal' | 'evaluation' | 'result' | 'manifest' | 'steps' | 'lists'
  >,
  findingsMax?: number,
): Comparison | null {
  const { proposal, evaluation, result, manifest, steps, lists } = record
  if (proposal === null || manifest === null || evaluation.comparison === null) return null
  const input = {
    descriptor: proposal.descriptor,
    changes: manifest.changes,
    lists,
    ...(findingsMax === undefined ? {} : { findingsMax }),
    host: evaluation.host,
    isAmended: isAmended(evaluation),
    declaredByApproval: needsNoDeclaration(evaluation),
    ...namedPaths(evaluation),
    ...takenPaths(evaluation),
    leavesHomeOut: leavesHomeOut(evaluation),
    keepsHome: keepsHome(evaluation),
    scriptsChanged: rawPaths(evaluation.comparison.scripts_changed),
    pathDirectories: evaluation.comparison.path_directories,
    pointed: pointedOf(evaluation.comparison.pointed ?? []),
    brought: broughtOf(evaluation.comparison.pointed ?? []),
    grants: grantCase(evaluation, {
      tracked: rawPaths(evaluation.comparison.tracked),
      gitChecked: rawPaths(evaluation.comparison.git_checked),
      made: rawPaths(evaluation.comparison.made),
    }),
    network: {
      connections: result?.side_effects.network ?? [],
      grounds: evaluation.network ?? null,
    },
  }
  if (proposal.children === undefined) return compareEffects(input)
  return compareSteps(comparedSteps(proposal, steps), input)
}

/** The ledger holds raw paths as text: both have one character a byte. */
function rawPaths(recorded: readonly string[] = []): ReadonlySet<RawPath> {
  return new Set(recorded as readonly RawPath[])
}

/** Reads what pointed to each path. A word that this version does not know counts as a link. */
function pointedOf(
  recorded: readonly { readonly path: string; readonly by: string }[],
): ReadonlyMap<RawPath, PointedBy> {
  return new Map(
    recorded.map(({ path, by }) => [
      path as RawPath, // As in `rawPaths`.
      // Known words are keys of the table.
      Object.hasOwn(POINTERS, by) ? (by as PointedBy) : 'link',
    ]),
  )
}

function broughtOf(
  recorded: readonly { readonly path: string; readonly names?: readonly string[] }[],
): ReadonlyMap<RawPath, readonly RawPath[]> {
  const rows = recorded.flatMap(({ path, names }) =>
    // As in `rawPaths`.
    names === undefined ? [] : [[path as RawPath, names as readonly RawPath[]] as const],
  )
  return new Map(rows)
}

function comparedSteps(
  proposal: Proposal,
  steps: RecordedDecision['steps'],
): readonly ComparedStep[] {
  const descriptors = new Map<string, ActionDescriptor>(
    leavesOf(proposal).map(({ proposal: { descriptor } }) => [
      descriptor.action_id.toLowerCase(),
      descriptor,
    ]),
  )
  return steps.flatMap(({ actionId, changes }) => {
    const descriptor = descriptors.get(actionId.toLowerCase())
    return descriptor === undefined ? [] : [{ descriptor, changes }]
  })
}
