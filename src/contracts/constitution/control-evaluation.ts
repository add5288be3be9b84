/**
 * `control_evaluation_v0`: one recorded evaluation of rules: the inputs, the verdicts, and which
 * evaluator gave them. The verdicts can be computed again from the record (L-9).
 *
 * INVARIANT (verdicts never act, I7): the record holds verdicts only. It names no task, no proposal and
 * no action to take.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { judge } from '../kernel/validate.ts'
import { controlVerdict, NO_RULESET } from './control-verdict.ts'
import { closed } from './shapes.ts'

const Word = Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })

const ControlEvaluationSchema = Type.Object(
  {
    /** A version changes when the same rules and inputs may give another verdict. */
    evaluator: Type.Object({ name: Word, version: Word }, closed),
    rulesets: Type.Array(
      Type.Object(
        {
          ref: Type.String({
            pattern: `^(?:sha256:[0-9a-f]{64}|${NO_RULESET})$`,
            'x-code': { pattern: 'digest' },
            'x-says': 'a digest or `MISSING`',
          }),
          document: Type.Object({}),
        },
        closed,
      ),
    ),
    /** As they were: inputs are never refused, only warned about. */
    inputs: Type.Object({}),
    at: Type.Integer(),
    verdicts: Type.Array(Type.Object({})),
  },
  closed,
)

export type ControlEvaluation = Type.Static<typeof ControlEvaluationSchema>

function checkVerdicts({ document, report }: Subject): void {
  const at = field(document, 'at')
  elements(field(document, 'verdicts')).forEach((verdict, index) => {
    const path = `/verdicts/${index}`
    if (typeof verdict !== 'object' || verdict === null || Array.isArray(verdict)) return
    for (const one of judge(controlVerdict, verdict).violations) {
      report.add(one.code, `${path}${one.path}`, one.message, one.hint)
    }
    const evaluatedAt = field(verdict, 'evaluated_at_ts')
    if (typeof at !== 'number' || typeof evaluatedAt !== 'number' || at === evaluatedAt) return
    const message = `the verdict is of ${show(evaluatedAt, '')}, the evaluation of ${show(at, '')}`
    report.add('evaluation.moment', `${path}/evaluated_at_ts`, message)
  })
}

export const controlEvaluation: Contract = {
  name: 'control_evaluation_v0',
  title: 'One recorded evaluation of rules, which can be computed again.',
  prefix: 'evaluation',
  schema: ControlEvaluationSchema,
  checks: [checkVerdicts],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
