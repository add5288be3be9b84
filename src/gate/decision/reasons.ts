/**
 * The reasons of a decision, stage by stage in the order of G-8: schema, obstacles to the intent,
 * preconditions, laws that do not read the result, rehearsal, compliance, laws that read it, rollback
 * feasibility, tier 2, and what asks a human.
 *
 * There are no reasons in favour of promotion: neither a success nor an output is one.
 */
import type { Code } from '../../base/index.ts'
import {
  type ActionDescriptor,
  findPersuasion,
  type LawOutcome,
  type Obstacle,
  type SandboxResult,
} from '../../contracts/index.ts'
import {
  admissionRules,
  admitProposal,
  HARD_FAILS,
  isScopeOutside,
} from '../admission/admission.ts'
import { effectClasses } from '../admission/risk.ts'
import { isAmended, type Judgement } from '../evidence/findings.ts'
import { allProposals } from '../paths/places.ts'

export interface Reason {
  /** A code of the page, or `law.<policy_id>`. */
  readonly code: string
  /** What it does by itself: ends it, asks a human, or only reports. */
  readonly weight: 'block' | 'confirm' | 'note'
  readonly permanent?: boolean
  readonly tier?: number
  /** The policy id of a law that was broken. */
  readonly law?: string
  /** How many different humans have to say yes; one without it. */
  readonly approvals?: number
}

/** Everything that can be known before anything runs. */
export function earlyReasons(judgement: Judgement): readonly Reason[] {
  const { evaluation } = judgement
  return [
    ...schemaReasons(judgement),
    ...standingReasons(judgement),
    ...preconditionReasons(judgement),
    ...lawReasons(evaluation.law_outcomes, (law) => !law.reads_result && law.tier < 2),
  ]
}

function schemaReasons({ proposal, evaluation, lists }: Judgement): readonly Reason[] {
  const broken = evaluation.violations.map(({ code }) => code)
  if (proposal === null && broken.length === 0) broken.push('document.not_json')
  const admitted =
    proposal === null
      ? []
      : admitProposal(proposal, evaluation.host, lists, admissionRules(evaluation)).refusals
  return [
    ...broken.map((code) => block(code, HARD_FAILS.has(code))),
    ...admitted.map(({ code, permanent }) => block(code, permanent)),
  ]
}

function standingReasons({ evaluation }: Judgement): readonly Reason[] {
  const { halted, laws_changed, permanent, cooldown_until_ms } = evaluation.standing
  const reasons: Reason[] = []
  if (halted) reasons.push(block('halted'))
  if (laws_changed) reasons.push(block('laws.changed'))
  // The accepted laws stay in force. The note says that the file differs from them.
  if (evaluation.laws_file !== undefined && !laws_changed) {
    reasons.push({ code: 'laws.unaccepted', weight: 'note' })
  }
  if (permanent) {
    // The block refuses actors. A person is asked instead, and their yes does not lift the block.
    const isAsked = isAmended(evaluation) && !isActors(evaluation)
    reasons.push(isAsked ? confirm('confirm.blocked') : block('block.permanent', true))
  }
  // Judged at admission, when the host looked: a slow rehearsal does not let a cooldown pass.
  if (cooldown_until_ms !== null && evaluation.host.now_ms < cooldown_until_ms) {
    // A person who took their own command back is asked; an actor is refused until it ends.
    const isAsked = isAmended(evaluation) && !isActors(evaluation)
    reasons.push(isAsked ? confirm('cooldown') : block('cooldown'))
  }
  return reasons
}

/** The same intent is not tried again until a human says so (G-9). */
function preconditionReasons({ evaluation }: Judgement): readonly Reason[] {
  const failed = evaluation.preconditions?.failed ?? []
  return failed.length === 0 ? [] : [block('precondition.failed', true)]
}

/** Tier 0 first, then 1, then 2; laws of one tier in the order they were evaluated. */
function lawReasons(
  laws: readonly LawOutcome[],
  speaks: (law: LawOutcome) => boolean,
): readonly Reason[] {
  return laws
    .filter(speaks)
    .sort((one, other) => one.tier - other.tier)
    .flatMap(reasonsOfLaw)
}

function reasonsOfLaw(outcome: LawOutcome): Reason[] {
  const { policy_id, tier, action, state, overridden, approvals } = outcome
  if (overridden && tier > 0) return []
  const code = `law.${policy_id}`
  const said = { tier, law: policy_id } as const
  const by = approvals === undefined ? {} : { approvals }
  if (state === 'error') {
    const weight = tier < 2 ? 'block' : 'confirm'
    return [
      { code: 'evaluation.failed', weight, ...said, ...by },
      { code, weight: 'note', ...said },
    ]
  }
  if (action === 'alert') return [{ code, weight: 'note', ...said }]
  if (action === 'block' && tier < 2) return [{ code, weight: 'block', ...said }]
  return [
    { code: 'confirm.law', weight: 'confirm', ...said, ...by },
    { code, weight: 'note', ...said },
  ]
}

/** What the rehearsal ran into, and whether what happened is what was declared. */
export function rehearsalReasons(judgement: Judgement): readonly Reason[] {
  const { evaluation, result } = judgement
  const obstacles = evaluation.obstacles.map((obstacle) => reasonOfFinding(obstacle, judgement))
  if (result === null) return obstacles
  return [
    ...obstacles,
    ...backgroundReasons(judgement, result),
    ...outcomeReasons(judgement, result),
    ...result.findings.map((finding) => reasonOfFinding(finding, judgement)),
    ...flagReasons(judgement, result),
  ]
}

/** A flag that nothing explains counts like the finding that would have explained it. */
function flagReasons(judgement: Judgement, result: SandboxResult): readonly Reason[] {
  const { compliance, side_effects, execution } = result
  const found = new Set(result.findings.map(({ code }) => code))
  const codes: Code[] = []
  if (side_effects.devices || side_effects.privileged) codes.push('effect.privileged')
  if (!compliance.within_scope && !found.has('effect.host_state')) codes.push('effect.out_of_scope')
  if (!compliance.effects_declared) codes.push('effect.undeclared')
  if (!compliance.within_resources && execution.status !== 'TIMEOUT') {
    codes.push('result.resource_killed')
  }
  if (!compliance.sandbox_as_required) codes.push('sandbox.control_missing')
  return codes
    .filter((code) => !found.has(code))
    .map((code) => reasonOfFinding({ code }, judgement))
}

function backgroundReasons({ evaluation }: Judgement, result: SandboxResult): readonly Reason[] {
  if (result.side_effects.background_processes === 0) return []
  const repeated = isActors(evaluation) && evaluation.standing.background_before
  return [block('rehearsal.background', repeated)]
}

const OUTCOMES: Readonly<Record<SandboxResult['execution']['status'], Code | null>> = {
  SUCCESS: null,
  FAILURE: 'result.failed',
  TIMEOUT: 'result.timeout',
  RESOURCE_KILLED: 'result.resource_killed',
  POLICY_ABORTED: 'result.policy_aborted',
  SANDBOX_ERROR: 'result.sandbox_error',
}

/**
 * An exit status never discards effects (G-17a). A failure without effects has nothing to promote,
 * and a failing child of a composite blocks the whole. Otherwise the failure is noted if a person
 * declared the effects, and asked about if nothing was declared or an actor ran the command.
 */
function outcomeReasons(judgement: Judgement, result: SandboxResult): readonly Reason[] {
  const { status } = result.execution
  const code = OUTCOMES[status]
  if (code === null) return []
  if (status !== 'FAILURE') return [block(code)]
  const { proposal, evaluation } = judgement
  const isComposite = proposal?.children !== undefined
  if (isComposite || !hasEffects(result)) return [block(code)]
  const isDeclared = isAmended(evaluation) && !evaluation.declared_by_approval
  return [{ code, weight: isDeclared && !isActors(evaluation) ? 'note' : 'confirm' }]
}

function hasEffects({ diff }: Pick<SandboxResult, 'diff'>): boolean {
  const { added, modified, deleted } = diff.counts
  return added + modified + deleted > 0
}

/** Findings that report, and findings that ask; every other one blocks, known or not. */
const NOTES: ReadonlySet<string> = new Set<Code>([
  'effect.not_observed',
  'effect.discarded',
  'effect.left_out',
  'effect.not_taken',
  'effect.home_kept',
  'effect.writ_kept',
  'effect.build_execution',
])
const QUESTIONS: ReadonlySet<string> = new Set<Code>([
  'effect.deferred_execution',
  'effect.laws_file',
  'effect.ungranted',
  'diff.link_split',
  'diff.owner_lost',
  'promote.inputs_changed',
])
/** What an actor claimed and reality contradicted (G-15). */
const LIES: ReadonlySet<string> = new Set<Code>(['effect.undeclared', 'effect.out_of_scope'])
const BUILT_IN_LAWS: Readonly<Record<string, string>> = {
  'effect.privileged': 'WRIT_NO_PRIVILEGE',
  'effect.host_state': 'WRIT_OWN_STATE',
}

/** Returns what a finding with this code does by itself in an act that changes something. */
export function findingWeight(code: string): Reason['weight'] {
  if (NOTES.has(code)) return 'note'
  return QUESTIONS.has(code) || code === 'effect.upload' ? 'confirm' : 'block'
}

function reasonOfFinding({ code }: Pick<Obstacle, 'code'>, judgement: Judgement): Reason {
  const { evaluation, result } = judgement
  if (NOTES.has(code)) return { code, weight: 'note' }
  // Without anything to promote there is nothing to ask about, and what was tried stays a refusal.
  if (code === 'effect.upload') {
    return result !== null && hasEffects(result) ? { code, weight: 'confirm' } : block(code)
  }
  if (QUESTIONS.has(code)) return { code, weight: 'confirm' }
  const law = Object.hasOwn(BUILT_IN_LAWS, code) ? BUILT_IN_LAWS[code] : undefined
  if (law !== undefined) return { ...block(code, isActors(evaluation)), tier: 0, law }
  return block(code, LIES.has(code) && isActors(evaluation))
}

/** Laws that read the result, feasibility of a rollback, tier 2, and what a human is asked. */
export function lateReasons(judgement: Judgement): readonly Reason[] {
  const { evaluation, result } = judgement
  const { law_outcomes } = evaluation
  const reasons = [...lawReasons(law_outcomes, (law) => law.reads_result && law.tier < 2)]
  if (result !== null && !result.compliance.rollback_possible) {
    reasons.push(block('rollback.impossible'))
  }
  reasons.push(...lawReasons(law_outcomes, (law) => law.tier === 2))
  return [...reasons, ...questionReasons(judgement)]
}

/** Returns whether the act would promote and send nothing: then no human is asked (G-17). */
export function isIdle({ proposal, result }: Judgement): boolean {
  if (proposal === null || result === null || hasEffects(result)) return false
  return [...effectClasses(proposal)].every((kind) => kind === 'staged')
}

function questionReasons({ proposal, evaluation, result }: Judgement): readonly Reason[] {
  if (proposal === null || result === null) return []
  const classes = effectClasses(proposal)
  const reasons: Reason[] = []
  // What a human released before the run was the act itself.
  const isReleased = (evaluation.network?.release ?? null) !== null
  if (classes.has('irreversible') && !isReleased) reasons.push(block('effect.irreversible'))
  if (classes.has('held') || classes.has('compensable')) reasons.push(confirm('confirm.class'))
  const descriptors = allProposals(proposal).map(({ proposal: { descriptor } }) => descriptor)
  const asks = descriptors.some(({ confirmation }) => confirmation.required)
  if (asks || evaluation.declared_by_approval) reasons.push(confirm('confirm.descriptor'))
  // The reason of a confirmation is the actor's text as well (seed 003 §11); judged since evaluator 3.
  const reads = (one: ActionDescriptor) =>
    isAmended(evaluation) ? [one.intent_summary, one.confirmation.reason] : [one.intent_summary]
  const argues = descriptors.flatMap(reads).some((text) => findPersuasion(text).length > 0)
  if (argues || evaluation.standing.reconfirm) reasons.push(confirm('confirm.intent'))
  const undo = evaluation.comparison?.undo
  if (undo !== undefined && undo.needed_bytes + undo.kept_bytes > undo.quota_bytes) {
    reasons.push(confirm('confirm.undo_quota'))
  }
  const rules = admissionRules(evaluation)
  if (rules.isAmended && isScopeOutside(evaluation.host)) reasons.push(confirm('confirm.scope'))
  // Setting a law aside is no approval of effects (I4, G-18a).
  const isCritical = evaluation.risk.effective === 'CRITICAL'
  if (isAmended(evaluation) && isCritical && !isReleased) reasons.push(confirm('confirm.critical'))
  return reasons
}

/** Whether an actor is answerable: a document of an AI, or a command that a person did not give. */
function isActors({ door, actor_kind }: Judgement['evaluation']): boolean {
  return door === 'propose' || actor_kind !== 'human'
}

function block(code: string, permanent = false): Reason {
  return permanent ? { code, weight: 'block', permanent } : { code, weight: 'block' }
}

function confirm(code: Code): Reason {
  return { code, weight: 'confirm' }
}
