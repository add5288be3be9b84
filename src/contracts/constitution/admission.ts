/**
 * Admission (K-1): which documents are rulesets, in either form, alone or in a set. An admitted ruleset
 * carries its guards parsed and typed, ready to be compiled or analysed; no later step parses a guard
 * text again. Pure: the same documents and the same registry give the same answer.
 */
import { at, guardValue, isRefusal, showName } from '../../base/index.ts'
import {
  type Context,
  type Contract,
  field,
  isObject,
  type JsonObject,
} from '../kernel/contract.ts'
import { judge } from '../kernel/validate.ts'
import { Report, sortViolations, type Violation } from '../kernel/violation.ts'
import {
  type ControlRuleset,
  controlRuleset,
  rulesetOfTemplate,
  surveyControlRuleset,
} from './control-ruleset.ts'
import type { Guard } from './guard.ts'
import type { GuardFindings } from './guard-judge.ts'
import { fullBudget, judgePlacedGuard } from './guard-place.ts'
import type { GuardPath } from './paths.ts'
import { type Rule, type RuleScope, type Ruleset, ruleset, surveyRuleset } from './ruleset.ts'
import { actionCodesOf, type CombineStrategy, type VerdictWord } from './vocabulary.ts'

export interface AdmittedRule {
  readonly ruleId: string
  readonly ruleVersion: string
  /** The only paths that the rule's projection may hold. */
  readonly inputsUsed: readonly GuardPath[]
  readonly scope: RuleScope | null
  readonly guard: Guard
  readonly verdict: VerdictWord
}

export interface AdmittedRuleset {
  readonly form: 'ruleset_v0' | 'control_ruleset_v0'
  readonly rulesetId: string
  readonly schemaVersion: string
  readonly actionCode: string
  readonly combineStrategy: CombineStrategy
  /** In file order; never empty. */
  readonly rules: readonly AdmittedRule[]
  /** As it was given: what the digest of an inline ruleset is made of. */
  readonly document: JsonObject
}

export interface AdmissionOptions {
  /** `action_codes`: another registry than AO. */
  readonly context?: Context
  /** Warnings refuse. */
  readonly strict?: boolean
}

export interface RulesetAdmission {
  /** False too for a ruleset whose action code another one claims. */
  readonly accepted: boolean
  readonly violations: readonly Violation[]
  readonly warnings: readonly Violation[]
  /** Null unless accepted. */
  readonly ruleset: AdmittedRuleset | null
}

export interface RulesAdmission {
  readonly accepted: boolean
  readonly violations: readonly Violation[]
  readonly warnings: readonly Violation[]
  /** One for each document, in order. */
  readonly rulesets: readonly RulesetAdmission[]
}

const NO_CONTEXT: Context = Object.freeze({})

/** Admits rulesets together. Paths begin with a document's index when there are several. */
export function admitRulesets(
  documents: readonly unknown[],
  options: AdmissionOptions = {},
): RulesAdmission {
  const claims = claimsOf(documents)
  const several = documents.length > 1
  const rulesets = documents.map((document, index) => {
    const contest = contestOf(document, index, claims)
    return admitOne(document, options, contest, several ? at('', index) : '')
  })
  return {
    accepted: rulesets.every(({ accepted }) => accepted),
    violations: sortViolations(rulesets.flatMap(({ violations }) => violations)),
    warnings: sortViolations(rulesets.flatMap(({ warnings }) => warnings)),
    rulesets,
  }
}

export function admitRuleset(document: unknown, options: AdmissionOptions = {}): RulesetAdmission {
  return admitOne(document, options, 'none', '')
}

/** The warnings of one ruleset in either form (`ruleset.vocabulary`, `ruleset.unused_input`). */
export function rulesetWarnings(
  document: unknown,
  context: Context = NO_CONTEXT,
): readonly Violation[] {
  return judgeOne(document, context).warnings
}

/** A guard by itself, such as a question to the analysis: every path may be read, nothing else differs. */
export interface GuardAdmission {
  readonly guard: Guard | null
  readonly violations: readonly Violation[]
  readonly warnings: readonly Violation[]
}

export function admitGuardText(source: string, context: Context = NO_CONTEXT): GuardAdmission {
  const findings: GuardFindings = { violations: new Report(), warnings: new Report() }
  const surroundings = { declared: null, actionCodes: actionCodesOf(context) }
  const { tree } = judgePlacedGuard(source, '', surroundings, findings, fullBudget())
  const { valid, violations } = findings.violations.finish()
  const { violations: warnings } = findings.warnings.finish()
  // A tree without violations is what the type states.
  return { guard: valid ? (tree as Guard) : null, violations, warnings }
}

/** How many rulesets claim each action code, and which comes first. */
type Claims = ReadonlyMap<string, { readonly first: number; readonly count: number }>

function claimsOf(documents: readonly unknown[]): Claims {
  const claims = new Map<string, { first: number; count: number }>()
  documents.forEach((document, index) => {
    const code = field(document, 'action_code')
    if (typeof code !== 'string') return
    const claim = claims.get(code)
    if (claim === undefined) claims.set(code, { first: index, count: 1 })
    else claim.count++
  })
  return claims
}

/** Of several rulesets for one action code none is accepted; all but the first get a violation. */
type Contest = 'none' | 'first' | 'later'

function contestOf(document: unknown, index: number, claims: Claims): Contest {
  const code = field(document, 'action_code')
  const claim = typeof code === 'string' ? claims.get(code) : undefined
  if (claim === undefined || claim.count === 1) return 'none'
  return claim.first === index ? 'first' : 'later'
}

function admitOne(
  document: unknown,
  options: AdmissionOptions,
  contest: Contest,
  prefix: string,
): RulesetAdmission {
  const judged = judgeOne(document, options.context ?? NO_CONTEXT)
  const contested = contest === 'later' ? [contestedCode(document)] : []
  const refusing = options.strict === true ? judged.warnings : []
  const violations = [...judged.violations, ...contested, ...refusing]
  const accepted = violations.length === 0 && contest === 'none'
  return {
    accepted,
    violations: under(prefix, sortViolations(violations)),
    warnings: options.strict === true ? [] : under(prefix, judged.warnings),
    // A document without violations is an object.
    ruleset: accepted ? buildAdmitted(document as JsonObject, judged.trees) : null,
  }
}

function contestedCode(document: unknown): Violation {
  const code = showName(String(field(document, 'action_code')))
  const message = `another ruleset speaks of ${code} already`
  return { code: 'ruleset.duplicate_ruleset', path: '/action_code', message }
}

function under(prefix: string, violations: readonly Violation[]): readonly Violation[] {
  if (prefix === '') return violations
  return violations.map((violation) => ({ ...violation, path: prefix + violation.path }))
}

interface Judged {
  readonly violations: readonly Violation[]
  readonly warnings: readonly Violation[]
  /** The guard tree of each rule. */
  readonly trees: readonly unknown[]
}

function judgeOne(document: unknown, context: Context): Judged {
  const contract = contractOf(document)
  const census = guardValue(document, contract.limits)
  if (isRefusal(census)) return { violations: [census], warnings: [], trees: [] }
  const { violations } = judge(contract, document, context)
  if (!isObject(document)) return { violations, warnings: [], trees: [] }
  // `judge` has reported the violations; this second survey gathers warnings and trees.
  const findings: GuardFindings = { violations: new Report(), warnings: new Report() }
  const survey = contract === controlRuleset ? surveyControlRuleset : surveyRuleset
  const trees = survey(document, context, findings)
  return { violations, warnings: findings.warnings.finish().violations, trees }
}

/** What does not call itself a template file is judged as a ruleset. */
function contractOf(document: unknown): Contract {
  return field(document, 'type') === controlRuleset.name ? controlRuleset : ruleset
}

/** Takes a document without violations only. */
function buildAdmitted(document: JsonObject, trees: readonly unknown[]): AdmittedRuleset {
  const form = contractOf(document) === controlRuleset ? 'control_ruleset_v0' : 'ruleset_v0'
  const whole =
    // The contract of this form has accepted the document.
    form === 'ruleset_v0'
      ? (document as unknown as Ruleset)
      : rulesetOfTemplate(document as unknown as ControlRuleset)
  return {
    form,
    rulesetId: whole.ruleset_id,
    schemaVersion: whole.schema_version,
    actionCode: whole.action_code,
    combineStrategy: whole.combine_strategy,
    // `trees` holds one judged guard for each rule.
    rules: whole.rules.map((rule, index) => buildRule(rule, trees[index] as Guard)),
    document,
  }
}

function buildRule(rule: Rule, guard: Guard): AdmittedRule {
  return {
    ruleId: rule.rule_id,
    ruleVersion: rule.rule_version,
    inputsUsed: rule.inputs_used,
    scope: rule.scope ?? null,
    guard,
    verdict: rule.verdict,
  }
}
