/**
 * How kernel version 1 read a scope: a rule that listed `permission_set.subjectRef` in `inputs_used`
 * matched only a subject without any leaf that its scope did not name. Records of that version are
 * replayed so. Since version 2 `inputs_used` is metadata and changes no verdict.
 */
import type { AdmittedRule, Guard } from '../../contracts/index.ts'
import { SUBJECT_LEAVES } from './matcher.ts'

/** Returns the rule of version 2 that gives the verdicts this rule gave under version 1. */
export function readAsVersion1(rule: AdmittedRule): AdmittedRule {
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
