/**
 * A decision computed again from what is on the ledger (L-9): the comparison from the manifest, the
 * risk from the proposal and what the host found out, the decision from all of it. The same functions
 * that decided the first time; nothing is decided here.
 */
import type {
  ActionDescriptor,
  Decision,
  Evaluation,
  Proposal,
  SandboxResult,
} from '../contracts/index.ts'
import { admitProposal } from './admission.ts'
import { type ComparedStep, type Comparison, compareEffects, compareSteps } from './comparison.ts'
import { decide } from './decision.ts'
import { isComparedCode } from './findings.ts'
import type { GateLists } from './lists.ts'
import type { Manifest } from './manifest.ts'
import { leavesOf } from './places.ts'
import type { RawPath } from './raw-path.ts'

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
}

/** What is compared with the record: the parts that follow from other parts of it. */
export interface Recomputed {
  readonly decision: unknown
  readonly risk: unknown
  readonly comparison: unknown
}

export function recorded({ decision, proposal, evaluation, result }: RecordedDecision): Recomputed {
  return {
    decision,
    risk: proposal === null ? null : evaluation.risk,
    comparison: result === null ? null : recordedComparison(result),
  }
}

export function recompute(record: RecordedDecision): Recomputed {
  const { decision, proposal, evaluation, result, lists } = record
  const decidedAt = decision.decided_at
  return {
    decision: decide({ proposal, evaluation, result, lists, decidedAt }),
    risk: proposal === null ? null : admitProposal(proposal, evaluation.host, lists).risk,
    comparison: result === null ? null : computedComparison(record),
  }
}

function recordedComparison({ findings, diff, compliance }: SandboxResult): unknown {
  return {
    findings: findings.filter(({ code }) => isComparedCode(code)),
    counts: diff.counts,
    bytes: diff.bytes,
    effects_declared: compliance.effects_declared,
    within_scope: compliance.within_scope,
  }
}

function computedComparison(record: RecordedDecision): unknown {
  const comparison = compareAgain(record)
  if (comparison === null) return null
  const { findings, counts, bytes, effectsDeclared, withinScope } = comparison
  return {
    findings,
    counts,
    bytes,
    effects_declared: effectsDeclared,
    within_scope: withinScope,
  }
}

function compareAgain(record: RecordedDecision): Comparison | null {
  const { proposal, evaluation, manifest, steps, lists } = record
  if (proposal === null || manifest === null || evaluation.comparison === null) return null
  const input = {
    descriptor: proposal.descriptor,
    changes: manifest.changes,
    lists,
    host: evaluation.host,
    declaredByApproval: evaluation.declared_by_approval,
    // Raw paths have one character a byte, and so have the texts on the ledger.
    scriptsChanged: new Set(evaluation.comparison.scripts_changed as RawPath[]),
    pathDirectories: evaluation.comparison.path_directories,
  }
  if (proposal.children === undefined) return compareEffects(input)
  return compareSteps(comparedSteps(proposal, steps), input)
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
