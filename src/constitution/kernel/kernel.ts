/**
 * The kernel: rulesets and inputs in, verdicts out. Pure, total and deterministic to the byte; the
 * time is an argument and takes no part in any decision.
 *
 * INVARIANT (permission binding, K-4): one verdict for each candidate action code and none for any
 * other. A ruleset that is missing or inadmissible gives UNDETERMINED, never DENY, never an older one.
 * INVARIANT (no path to action, K-6): this room imports nothing that acts, and a verdict is only a
 * word.
 */
import {
  DOCUMENT_LIMITS,
  digestDocument,
  guardValue,
  isDigest,
  isRefusal,
} from '../../base/index.ts'
import {
  type AdmittedRule,
  type AdmittedRuleset,
  actionCodesOf,
  admitRulesets,
  type Context,
  type ControlVerdict,
  field,
  type Guard,
  isObject,
  NO_RULESET,
  type RulesetStatus,
} from '../../contracts/index.ts'
import { compileRule, pathsOfRule, SUBJECT_LEAVES } from './matcher.ts'
import { codes, type Inputs, isCandidate, type Projection, viewOf } from './projection.ts'
import {
  type Combine,
  combiner,
  type RuleDecision,
  verdictDocument,
  verdictSeal,
} from './verdict.ts'

/** A ruleset as it was loaded: the parsed document, and the digest of its file's bytes if it has one. */
export interface RulesetSource {
  readonly document: unknown
  readonly ref?: string
}

/** Rulesets made ready, one for each action code. */
export interface Constitution {
  /** One verdict for each candidate, in their order. */
  evaluate(inputs: Inputs, atMs: number): readonly ControlVerdict[]
  /** The word alone, without a document around it; for an action code that is a candidate. */
  decide(inputs: Inputs, actionCode: string): RuleDecision
}

interface Chapter {
  readonly status: RulesetStatus
  readonly ref: string
  readonly project: (inputs: Inputs) => Projection
  readonly combine: Combine
}

const NOTHING_SAID: Combine = () => null

const MISSING: Chapter = {
  status: 'MISSING',
  ref: NO_RULESET,
  project: viewOf([]).project,
  combine: NOTHING_SAID,
}

/** Versions of the kernel; a later one may give another verdict for the same rules and inputs. */
export const KERNEL_VERSIONS = ['1', '2'] as const

export type KernelVersion = (typeof KERNEL_VERSIONS)[number]

export const KERNEL_VERSION = '2' satisfies KernelVersion

/** Compiles rulesets. `version` recomputes a record under the kernel version that made it. */
export function establish(
  sources: readonly RulesetSource[],
  context: Context = {},
  version: KernelVersion = KERNEL_VERSION,
): Constitution {
  const registry = actionCodesOf(context)
  const chapters = new Map<string, Chapter>()
  const admission = admitRulesets(
    sources.map(({ document }) => document),
    { context },
  )
  sources.forEach((source, index) => {
    const ruleset = admission.rulesets[index]?.ruleset ?? null
    const code = field(source.document, 'action_code')
    if (typeof code !== 'string' || !registry.has(code) || chapters.has(code)) return
    chapters.set(
      code,
      ruleset === null ? invalidChapter(source) : compileChapter(ruleset, refOf(source), version),
    )
  })
  const chapterOf = (code: string): Chapter => chapters.get(code) ?? MISSING
  return {
    evaluate: (inputs, atMs) => evaluate(chapterOf, total(inputs), atMs),
    decide: (inputs, actionCode) => decideOne(chapterOf(actionCode), total(inputs), actionCode),
  }
}

/** Returns the digest of a ruleset; `NO_RULESET` if the document has no canonical form. */
function refOf({ document, ref }: RulesetSource): string {
  if (ref !== undefined && isDigest(ref)) return ref
  return isRefusal(guardValue(document, DOCUMENT_LIMITS)) ? NO_RULESET : digestDocument(document)
}

function invalidChapter(source: RulesetSource): Chapter {
  return { ...MISSING, status: 'INVALID', ref: refOf(source) }
}

function compileChapter(ruleset: AdmittedRuleset, ref: string, version: KernelVersion): Chapter {
  const read = version === '1' ? ruleset.rules.map(readAsVersion1) : ruleset.rules
  const view = viewOf([...new Set(read.flatMap(pathsOfRule))])
  const rules = read.map((rule) => ({
    ...compileRule(rule, view.slotOf),
    verdict: rule.verdict,
    ref: `${ruleset.rulesetId}/${rule.ruleId}@${rule.ruleVersion}`,
  }))
  return {
    status: 'APPLIED',
    ref,
    project: view.project,
    combine: combiner(ruleset.combineStrategy, rules),
  }
}

const NO_INPUTS: Inputs = {}

/** Treats inputs that are no object as empty: the kernel refuses no inputs (K-2). */
function total(inputs: Inputs): Inputs {
  return isObject(inputs) ? inputs : NO_INPUTS
}

function decideOne(chapter: Chapter, inputs: Inputs, actionCode: string): RuleDecision {
  const permission: unknown = inputs.permission_set
  const asked = isObject(permission) && isCandidate(permission['candidate_actions'], actionCode)
  return decide(chapter, inputs, asked && inputsAreBound(inputs))
}

function decide(chapter: Chapter, inputs: Inputs, bound: boolean): RuleDecision {
  const rule = bound ? chapter.combine(chapter.project(inputs)) : null
  return rule === null
    ? { verdict: 'UNDETERMINED', ruleRef: null, status: chapter.status }
    : { verdict: rule.verdict, ruleRef: rule.ref, status: chapter.status }
}

function evaluate(
  chapterOf: (code: string) => Chapter,
  inputs: Inputs,
  atMs: number,
): readonly ControlVerdict[] {
  const candidates = codes(field(inputs.permission_set, 'candidate_actions')) ?? []
  if (candidates.length === 0) return []
  const bound = inputsAreBound(inputs)
  const seal = verdictSeal(inputs)
  return candidates.map((code) => {
    const chapter = chapterOf(code)
    return verdictDocument(inputs, code, decide(chapter, inputs, bound), chapter.ref, seal, atMs)
  })
}

/**
 * How kernel version 1 read a scope: a rule that listed `permission_set.subjectRef` in `inputs_used`
 * matched only a subject without any leaf that its scope did not name. Records of that version are
 * replayed so. Since version 2 `inputs_used` is metadata and changes no verdict.
 *
 * Returns the rule of version 2 that gives the verdicts this rule gave under version 1.
 */
function readAsVersion1(rule: AdmittedRule): AdmittedRule {
  const { scope, inputsUsed, guard } = rule
  const subject = scope?.subjectRef
  if (subject === undefined || !inputsUsed.includes('permission_set.subjectRef')) return rule
  const others = SUBJECT_LEAVES.filter((leaf) => subject[leaf] === undefined).map(
    (leaf) => `permission_set.subjectRef.${leaf}` as const,
  )
  const absent = others.map((field): Guard => ({ op: 'NOT', arg: { op: 'EXISTS', field } }))
  return {
    ...rule,
    inputsUsed: [...inputsUsed, ...others],
    guard: { op: 'AND', args: [guard, ...absent] },
  }
}

/**
 * Whether the three inputs speak of the same thing. Nothing is merged across subjects: where the
 * subject of problem_state and permission_set differ, or the envelope belongs to another problem
 * state, every verdict is UNDETERMINED. What is missing does not bind either.
 */
export function inputsAreBound({
  problem_state: state,
  uncertainty_envelope: envelope,
  permission_set: permission,
}: Inputs): boolean {
  if (!isObject(state) || !isObject(envelope) || !isObject(permission)) return false
  const id = state['problem_state_id']
  if (typeof id !== 'string' || envelope['problem_state_ref'] !== id) return false
  return subjectsAreEqual(state['subjectRef'], permission['subjectRef'])
}

/** Leaf by leaf, written out: every evaluation comes through here. */
function subjectsAreEqual(left: unknown, right: unknown): boolean {
  if (!isObject(left) || !isObject(right)) return false
  return (
    isSameText(left['projectId'], right['projectId']) &&
    isSameText(left['groupId'], right['groupId']) &&
    isSameText(left['plotId'], right['plotId']) &&
    isSameText(left['blockId'], right['blockId'])
  )
}

/** Missing is missing, however it is written. */
function isSameText(left: unknown, right: unknown): boolean {
  return typeof left === 'string' ? left === right : typeof right !== 'string'
}
