/**
 * `ruleset_v0`: boolean conditions that give a three-valued verdict on one action code, and nothing
 * else (seed 002 §2, K-1b). Deliberately absent: reasons, scores, weights, priorities, advice,
 * defaults.
 *
 * A field with its own code gives that code for any wrong value. A missing field, and a wrong JSON type
 * of any other field, is `ruleset.shape`. An unknown field is `ruleset.extra_field`.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import {
  type Context,
  type Contract,
  elements,
  field,
  isObject,
  type JsonObject,
  type Subject,
} from '../kernel/contract.ts'
import { Report } from '../kernel/violation.ts'
import { CLOSED, GUARD_DEFINITIONS, GuardOrText, PathSchema, SHAPE, ValueSchema } from './guard.ts'
import type { GuardContext, GuardFindings } from './guard-judge.ts'
import { fullBudget, judgePlacedGuard } from './guard-place.ts'
import { type GuardPath, isGuardPath } from './paths.ts'
import { actionCodesOf, COMBINE_STRATEGIES, RULE_OWNER, VERDICTS } from './vocabulary.ts'

/** A field whose every wrong value has one code. */
export function coded(code: string) {
  return { 'x-code': { required: 'shape', '*': code } } as const
}

export const Identifier = Type.String({ minLength: 1, 'x-code': SHAPE })

const SemVer = Type.String({
  pattern: '^(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)$',
  'x-says': 'a version MAJOR.MINOR.PATCH',
  ...coded('semver'),
})

/** SemVer 2.0.0: a pre-release after `-` and build metadata after `+` may follow. */
const IDENTIFIER = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
export const RuleVersion = Type.String({
  pattern: `^(?:0|[1-9][0-9]*)(?:\\.(?:0|[1-9][0-9]*)){2}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
  'x-says': 'a version such as 1.0.0 or 1.0.0-rc.1',
  ...coded('semver'),
})

export const RulesetFields = {
  schema_version: SemVer,
  ruleset_id: Identifier,
  action_code: Type.String(coded('action_code')),
  combine_strategy: Type.Enum([...COMBINE_STRATEGIES], coded('combine')),
} as const

export const InputsUsed = Type.Array(PathSchema, { 'x-code': SHAPE })

export const VerdictField = Type.Enum([...VERDICTS], coded('verdict'))

const FILLED = {
  ...CLOSED,
  minProperties: 1,
  'x-code': { ...CLOSED['x-code'], minProperties: 'empty' },
} as const

const Leaf = Type.Optional(ValueSchema)
const Timestamp = Type.Integer(coded('value'))

/** Equality with the permission set's own subject, scale and window. */
const ScopeSchema = Type.Object(
  {
    subjectRef: Type.Optional(
      Type.Object({ projectId: Leaf, groupId: Leaf, plotId: Leaf, blockId: Leaf }, FILLED),
    ),
    scale: Leaf,
    window: Type.Optional(Type.Object({ startTs: Timestamp, endTs: Timestamp }, CLOSED)),
  },
  FILLED,
)

const RuleSchema = Type.Object(
  {
    rule_id: Identifier,
    rule_version: RuleVersion,
    rule_owner: Type.Literal(RULE_OWNER, coded('owner')),
    action_code: Type.String(coded('action_code')),
    inputs_used: InputsUsed,
    scope: Type.Optional(ScopeSchema),
    guard: GuardOrText,
    verdict: VerdictField,
  },
  CLOSED,
)

export const RulesetSchema = Type.Object(
  {
    type: Type.Literal('ruleset_v0', { 'x-code': SHAPE }),
    ...RulesetFields,
    rules: Type.Array(RuleSchema, { minItems: 1, 'x-code': { ...SHAPE, minItems: 'empty' } }),
  },
  { ...CLOSED, $defs: GUARD_DEFINITIONS },
)

export type RuleScope = Type.Static<typeof ScopeSchema>
export type Rule = Type.Static<typeof RuleSchema>
export type Ruleset = Type.Static<typeof RulesetSchema>

/** Judges everything the schema cannot; gives back the guard tree of each rule, in file order. */
export function surveyRuleset(
  document: JsonObject,
  context: Context,
  findings: GuardFindings,
): readonly unknown[] {
  const actionCodes = actionCodesOf(context)
  judgeActionCode(document['action_code'], '/action_code', actionCodes, findings.violations)
  judgeRuleIds(document['rules'], findings.violations)
  const budget = fullBudget()
  return elements(document['rules']).map((rule, index) => {
    const pointer = at('/rules', index)
    judgeRuleActionCode(rule, document, pointer, actionCodes, findings.violations)
    const surroundings = { declared: declaredBy(rule), actionCodes }
    const guard = field(rule, 'guard')
    const placed = judgePlacedGuard(guard, `${pointer}/guard`, surroundings, findings, budget)
    const scoped = judgeScope(field(rule, 'scope'), `${pointer}/scope`, surroundings, findings)
    const read = new Set([...placed.read, ...scoped])
    warnUnused(field(rule, 'inputs_used'), `${pointer}/inputs_used`, read, findings.warnings)
    return placed.tree
  })
}

/** What `inputs_used` lists, or null when there is no list to hold a guard to. */
export function declaredBy(owner: unknown): GuardContext['declared'] {
  const inputs = field(owner, 'inputs_used')
  return Array.isArray(inputs) ? new Set(inputs) : null
}

export function judgeActionCode(
  code: unknown,
  pointer: string,
  legal: ReadonlySet<string>,
  report: Report,
): void {
  if (typeof code !== 'string' || legal.has(code)) return
  report.add(
    'ruleset.action_code',
    pointer,
    `${show(code, pointer)} is not an action code of the registry`,
    report.guess(code, legal),
  )
}

function judgeRuleActionCode(
  rule: unknown,
  document: JsonObject,
  pointer: string,
  legal: ReadonlySet<string>,
  report: Report,
): void {
  const code = field(rule, 'action_code')
  const place = `${pointer}/action_code`
  judgeActionCode(code, place, legal, report)
  const whole = field(document, 'action_code')
  if (typeof code !== 'string' || typeof whole !== 'string' || code === whole) return
  report.add(
    'ruleset.action_code',
    place,
    `the rule speaks of ${show(code, place)}, its ruleset of ${showName(whole)}`,
  )
}

export function judgeRuleIds(rules: unknown, report: Report): void {
  const seen = new Set<string>()
  for (const [index, rule] of elements(rules).entries()) {
    const id = field(rule, 'rule_id')
    if (typeof id !== 'string') continue
    if (seen.has(id)) {
      const place = `/rules/${index}/rule_id`
      report.add('ruleset.duplicate_rule', place, `the rule id ${show(id, place)} is used twice`)
    }
    seen.add(id)
  }
}

export function warnUnused(
  inputs: unknown,
  pointer: string,
  read: ReadonlySet<unknown>,
  warnings: Report,
): void {
  for (const [index, path] of elements(inputs).entries()) {
    if (typeof path !== 'string' || read.has(path)) continue
    warnings.add('ruleset.unused_input', at(pointer, index), `nothing reads ${showName(path)}`)
  }
}

function checkRuleset({ document, context, report }: Subject): void {
  surveyRuleset(document, context, { violations: report, warnings: new Report() })
}

/** Reads `action_codes` of the context: another registry than AO. */
export const ruleset: Contract = {
  name: 'ruleset_v0',
  title: 'Boolean conditions that give a three-valued verdict on one action code.',
  prefix: 'ruleset',
  schema: RulesetSchema,
  checks: [checkRuleset],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}

/**
 * The scope of a rule: equality with the permission set's subject, scale and window. Its paths stand
 * in `inputs_used` like any other: the scale as itself, the window by its two leaves, the subject
 * either whole (`permission_set.subjectRef`) or by each leaf that the scope names. Gives back the
 * declared paths that the scope reads.
 */
function judgeScope(
  scope: unknown,
  pointer: string,
  surroundings: GuardContext,
  findings: GuardFindings,
): ReadonlySet<GuardPath> {
  const read = new Set<GuardPath>()
  if (!isObject(scope)) return read
  for (const [path, place] of pathsOfScope(scope, pointer, surroundings)) {
    read.add(path)
    if (surroundings.declared?.has(path) ?? true) continue
    findings.violations.add(
      'ruleset.undeclared_input',
      place,
      `the scope reads ${showName(path)}, which inputs_used does not list`,
    )
  }
  judgeWindow(field(scope, 'window'), `${pointer}/window`, findings)
  return read
}

function pathsOfScope(
  scope: unknown,
  pointer: string,
  { declared }: GuardContext,
): readonly (readonly [GuardPath, string])[] {
  const paths: [GuardPath, string][] = []
  const subject = field(scope, 'subjectRef')
  const whole = 'permission_set.subjectRef'
  if (isObject(subject)) {
    const leaves = leavesOf(subject, `${pointer}/subjectRef`)
    if (!declared?.has(whole)) paths.push(...leaves)
    else
      paths.push([whole, `${pointer}/subjectRef`], ...leaves.filter(([leaf]) => declared.has(leaf)))
  }
  if (field(scope, 'scale') !== undefined) paths.push(['permission_set.scale', `${pointer}/scale`])
  if (isObject(field(scope, 'window'))) {
    paths.push(['permission_set.window.startTs', `${pointer}/window/startTs`])
    paths.push(['permission_set.window.endTs', `${pointer}/window/endTs`])
  }
  return paths
}

function leavesOf(subject: object, pointer: string): readonly [GuardPath, string][] {
  return Object.keys(subject).flatMap((key): readonly [GuardPath, string][] => {
    const path = `permission_set.subjectRef.${key}`
    return isGuardPath(path) ? [[path, `${pointer}/${key}`]] : []
  })
}

/** A window that does not run forwards equals no window of a permission set. */
function judgeWindow(window: unknown, pointer: string, findings: GuardFindings): void {
  const start = field(window, 'startTs')
  const end = field(window, 'endTs')
  if (typeof start !== 'number' || typeof end !== 'number' || end > start) return
  findings.violations.add(
    'ruleset.value',
    `${pointer}/endTs`,
    `the window ends at ${show(end, '')}, not after its start at ${show(start, '')}`,
  )
}
