/**
 * `control_ruleset_v0`: the template form of a ruleset that farms keep (K-1c), judged
 * with the same codes, and its translation into `ruleset_v0`. The template form declares its inputs
 * once for the whole file and names its default, which is UNDETERMINED and nothing else.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import {
  type Context,
  type Contract,
  elements,
  field,
  type JsonObject,
  type Subject,
} from '../kernel/contract.ts'
import { validate } from '../kernel/validate.ts'
import { Report, type Violation } from '../kernel/violation.ts'
import { CLOSED, type Guard, pathsRead, SHAPE } from './guard.ts'
import { type GuardContext, type GuardFindings, judgeGuard } from './guard-judge.ts'
import { innerFindings } from './guard-place.ts'
import type { GuardPath } from './paths.ts'
import {
  coded,
  declaredBy,
  Identifier,
  InputsUsed,
  judgeActionCode,
  judgeRuleIds,
  type Ruleset,
  RulesetFields,
  RuleVersion,
  VerdictField,
  warnUnused,
} from './ruleset.ts'
import {
  Expr,
  guardOfTemplate,
  pointerInTemplate,
  TEMPLATE_DEFINITIONS,
  TemplateIdSchema,
  templatesOf,
} from './template.ts'
import { actionCodesOf, RULE_OWNER } from './vocabulary.ts'

const TemplateRuleSchema = Type.Object(
  {
    rule_id: Identifier,
    rule_version: RuleVersion,
    template_id: TemplateIdSchema,
    expr: Expr,
    verdict: VerdictField,
  },
  CLOSED,
)

const ControlRulesetSchema = Type.Object(
  {
    type: Type.Literal('control_ruleset_v0', { 'x-code': SHAPE }),
    ...RulesetFields,
    default_verdict: Type.Literal('UNDETERMINED', coded('default_verdict')),
    inputs_used: InputsUsed,
    allowed_template_ids: Type.Array(TemplateIdSchema, { 'x-code': SHAPE }),
    rules: Type.Array(TemplateRuleSchema, {
      minItems: 1,
      'x-code': { ...SHAPE, minItems: 'empty' },
    }),
  },
  { ...CLOSED, $defs: TEMPLATE_DEFINITIONS },
)

export type ControlRuleset = Type.Static<typeof ControlRulesetSchema>

/** Judges everything the schema cannot; gives back the guard tree of each rule, in file order. */
export function surveyControlRuleset(
  document: JsonObject,
  context: Context,
  findings: GuardFindings,
): readonly unknown[] {
  const actionCodes = actionCodesOf(context)
  judgeActionCode(document['action_code'], '/action_code', actionCodes, findings.violations)
  judgeRuleIds(document['rules'], findings.violations)
  const surroundings = { declared: declaredBy(document), actionCodes }
  const allowed = allowedBy(document)
  const read = new Set<GuardPath>()
  const trees = elements(document['rules']).map((rule, index) => {
    const pointer = at('/rules', index)
    judgeTemplates(rule, pointer, allowed, findings.violations)
    const tree = guardOfTemplate(field(rule, 'expr'))
    for (const path of judgeExpr(tree, `${pointer}/expr`, surroundings, findings)) read.add(path)
    return tree
  })
  warnUnused(document['inputs_used'], '/inputs_used', read, findings.warnings)
  return trees
}

/** The templates the file allows itself, or null when there is no list to hold a rule to. */
function allowedBy(document: JsonObject): ReadonlySet<unknown> | null {
  const allowed = document['allowed_template_ids']
  return Array.isArray(allowed) ? new Set(allowed) : null
}

/** The rule names its template, the expression names it again, and both must be allowed. */
function judgeTemplates(
  rule: unknown,
  pointer: string,
  allowed: ReadonlySet<unknown> | null,
  report: Report,
): void {
  const expr = field(rule, 'expr')
  const own = field(rule, 'template_id')
  const inner = field(expr, 'template_id')
  const place = `${pointer}/template_id`
  if (typeof own === 'string' && typeof inner === 'string' && own !== inner) {
    report.add(
      'ruleset.template_mismatch',
      place,
      `the rule names ${showName(own)}, its expression ${showName(inner)}`,
    )
  }
  judgeAllowed(own, place, allowed, report)
  for (const [id, nested] of templatesOf(expr, `${pointer}/expr`)) {
    judgeAllowed(id, nested, allowed, report)
  }
}

function judgeAllowed(
  id: unknown,
  pointer: string,
  allowed: ReadonlySet<unknown> | null,
  report: Report,
): void {
  if (typeof id !== 'string' || allowed === null || allowed.has(id)) return
  report.add(
    'ruleset.template_not_allowed',
    pointer,
    `${showName(id)} is not in allowed_template_ids`,
  )
}

/** Judges the guard of an expression. Reports each finding at its place in the expression. */
function judgeExpr(
  tree: unknown,
  pointer: string,
  surroundings: GuardContext,
  findings: GuardFindings,
): ReadonlySet<GuardPath> {
  const inner = innerFindings(findings)
  const read = judgeGuard(tree, '', surroundings, inner)
  for (const side of ['violations', 'warnings'] as const) {
    for (const { code, path, message, hint } of inner[side].finish().violations) {
      findings[side].add(code, pointer + pointerInTemplate(path), message, hint)
    }
  }
  return read
}

function checkControlRuleset({ document, context, report }: Subject): void {
  surveyControlRuleset(document, context, { violations: report, warnings: new Report() })
}

/** Reads `action_codes` of the context: another registry than AO. */
export const controlRuleset: Contract = {
  name: 'control_ruleset_v0',
  title: 'A ruleset written with the seven rule templates.',
  prefix: 'ruleset',
  schema: ControlRulesetSchema,
  checks: [checkControlRuleset],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}

export type TemplateImport =
  | { readonly ok: true; readonly ruleset: Ruleset }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/**
 * Translates a template file to a `ruleset_v0`. Guards become trees. Each rule declares the paths that
 * it reads, in the order of the file's `inputs_used`; a path that no rule reads is dropped.
 */
export function importTemplate(document: unknown, context: Context = {}): TemplateImport {
  const { valid, violations } = validate(controlRuleset, document, context)
  if (!valid) return { ok: false, violations }
  // The validation above is what this type states.
  return { ok: true, ruleset: rulesetOfTemplate(document as ControlRuleset) }
}

/** The translation itself, of a document that was judged valid. */
export function rulesetOfTemplate(document: ControlRuleset): Ruleset {
  const { schema_version, ruleset_id, action_code, combine_strategy, inputs_used } = document
  const rules = document.rules.map(({ rule_id, rule_version, expr, verdict }) => {
    // An admitted expression translates to an admitted guard.
    const guard = guardOfTemplate(expr) as Guard
    return {
      rule_id,
      rule_version,
      rule_owner: RULE_OWNER,
      action_code,
      inputs_used: inputsOf(guard, inputs_used),
      guard,
      verdict,
    } as const
  })
  return { type: 'ruleset_v0', schema_version, ruleset_id, action_code, combine_strategy, rules }
}

function inputsOf(guard: Guard, inputs: readonly GuardPath[]): GuardPath[] {
  const read = pathsRead(guard)
  return [...new Set(inputs)].filter((path) => read.has(path))
}
