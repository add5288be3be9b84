/**
 * The kernel's only output, `control_verdict_v0` (K-5): a word on one action code, what it rests on,
 * and nothing that explains, scores, orders or advises.
 *
 * `verdict_id` is a digest of everything that a verdict can depend on: the 28 visible values, the ids
 * that bind the inputs, the rules, and the action code. The time is not part of it.
 */
import { digestBytes } from '../base/index.ts'
import {
  type ControlVerdict,
  field,
  GUARD_PATHS,
  type RulesetStatus,
  VERDICT_SCHEMA_VERSION,
  type VerdictWord,
} from '../contracts/index.ts'
import { type Inputs, projector } from './projection.ts'

/** What the rules said: the word, the rule that gave it, and whether there were rules at all. */
export interface Decision {
  readonly verdict: VerdictWord
  readonly ruleRef: string | null
  readonly status: RulesetStatus
}

const projectAll = projector(GUARD_PATHS)

/** The part of a verdict's digest that all verdicts on the same inputs share. */
export function verdictSeal(inputs: Inputs): string {
  const { problem_state: state, permission_set: permission } = inputs
  const ids = [text(field(state, 'problem_state_id')), text(field(permission, 'permission_set_id'))]
  const seen = Array.from(projectAll(inputs), (value) =>
    Array.isArray(value) ? value.filter(isText) : value,
  )
  // A list in a fixed order needs no canonical form, and half a surrogate pair does not stop it.
  return JSON.stringify([...ids, ...seen])
}

export function verdictDocument(
  inputs: Inputs,
  actionCode: string,
  { verdict, ruleRef, status }: Decision,
  rulesetRef: string,
  seal: string,
  atMs: number,
): ControlVerdict {
  const { permission_set: permission } = inputs
  return {
    type: 'control_verdict_v0',
    schema_version: VERDICT_SCHEMA_VERSION,
    verdict_id: digestBytes(
      `["control_verdict_v0",${JSON.stringify(actionCode)},"${rulesetRef}","${status}",${seal}]`,
    ),
    evaluated_at_ts: atMs,
    subjectRef: subjectOf(field(permission, 'subjectRef')),
    window: windowOf(field(permission, 'window')),
    action_code: actionCode,
    verdict,
    ...(ruleRef === null ? {} : { rule_ref: ruleRef }),
    ruleset_ref: rulesetRef,
    ruleset_status: status,
  }
}

/** As far as the permission set states it. */
function subjectOf(subject: unknown): ControlVerdict['subjectRef'] {
  const copy: Record<string, string> = {}
  for (const leaf of ['projectId', 'groupId', 'plotId', 'blockId']) {
    const value = field(subject, leaf)
    if (isText(value) && value !== '') copy[leaf] = value
  }
  return copy
}

function windowOf(window: unknown): ControlVerdict['window'] {
  const copy: Record<string, number> = {}
  for (const leaf of ['startTs', 'endTs']) {
    const value = field(window, leaf)
    if (typeof value === 'number' && Number.isInteger(value)) copy[leaf] = value
  }
  return copy
}

function text(value: unknown): string | null {
  return isText(value) ? value : null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
