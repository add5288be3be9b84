/**
 * `control_verdict_v0`: what the constitution says about one action code, and all it ever says (K-5).
 * Closed: there is no field for a reason, a score, advice or an order.
 *
 * Subject and window are the permission set's, as far as it stated them: inputs are never refused,
 * so a verdict may repeat an incomplete subject or a window that does not run forwards.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { closed, Text } from './shapes.ts'
import { VERDICTS } from './vocabulary.ts'

export const RULESET_STATUSES = ['APPLIED', 'MISSING', 'INVALID'] as const
export type RulesetStatus = (typeof RULESET_STATUSES)[number]

export const VERDICT_SCHEMA_VERSION = '0.1.0'

/** The `ruleset_ref` of a verdict without a ruleset. */
export const NO_RULESET = 'MISSING'

const digest = 'sha256:[0-9a-f]{64}'
const OptionalText = Type.Optional(Text)
const OptionalTime = Type.Optional(Type.Integer())

const ControlVerdictSchema = Type.Object(
  {
    type: Type.Literal('control_verdict_v0', { 'x-code': 'type_const' }),
    schema_version: Type.Literal(VERDICT_SCHEMA_VERSION, { 'x-code': 'version' }),
    verdict_id: Type.String({
      pattern: `^${digest}$`,
      'x-code': { pattern: 'digest' },
      'x-says': 'a digest',
    }),
    evaluated_at_ts: Type.Integer(),
    subjectRef: Type.Object(
      {
        projectId: OptionalText,
        groupId: OptionalText,
        plotId: OptionalText,
        blockId: OptionalText,
      },
      closed,
    ),
    window: Type.Object({ startTs: OptionalTime, endTs: OptionalTime }, closed),
    action_code: Text,
    verdict: Type.Enum([...VERDICTS]),
    rule_ref: OptionalText,
    input_refs: Type.Optional(Type.Array(Text)),
    ruleset_ref: Type.String({
      pattern: `^(?:${digest}|${NO_RULESET})$`,
      'x-code': { pattern: 'digest' },
      'x-says': 'a digest or `MISSING`',
    }),
    ruleset_status: Type.Enum([...RULESET_STATUSES]),
  },
  closed,
)

export type ControlVerdict = Type.Static<typeof ControlVerdictSchema>

const VERSION = /^[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/** `<ruleset_id>/<rule_id>@<rule_version>`; the ids may hold either sign themselves. */
function checkRuleRef({ document, report }: Subject): void {
  const ref = document['rule_ref']
  if (typeof ref !== 'string' || ref === '') return
  const sign = ref.lastIndexOf('@')
  const slash = ref.indexOf('/', 1)
  if (slash > 0 && slash + 1 < sign && VERSION.test(ref.slice(sign + 1))) return
  report.add(
    'verdict.rule_ref',
    '/rule_ref',
    `expected \`<ruleset_id>/<rule_id>@<version>\`, found ${show(ref, '/rule_ref')}`,
  )
}

/** Without an applied ruleset nothing was decided (K-4), and no rule can be named. */
function checkStatus({ document, report }: Subject): void {
  const status = field(document, 'ruleset_status')
  const verdict = field(document, 'verdict')
  if (status === 'APPLIED') {
    if (document['ruleset_ref'] !== NO_RULESET) return
    report.add('verdict.inconsistent', '/ruleset_ref', 'a ruleset was applied, yet none is named')
    return
  }
  if (status !== 'MISSING' && status !== 'INVALID') return
  if (verdict === 'ALLOW' || verdict === 'DENY') {
    report.add(
      'verdict.inconsistent',
      '/verdict',
      `the ruleset is ${showName(status)}, so the verdict cannot be ${show(verdict, '/verdict')}`,
    )
  }
  if (field(document, 'rule_ref') !== undefined) {
    report.add(
      'verdict.inconsistent',
      '/rule_ref',
      `the ruleset is ${showName(status)}, so no rule gave the verdict`,
    )
  }
}

export const controlVerdict: Contract = {
  name: 'control_verdict_v0',
  title: 'What the constitution says about one action code.',
  prefix: 'verdict',
  schema: ControlVerdictSchema,
  checks: [checkRuleRef, checkStatus],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
