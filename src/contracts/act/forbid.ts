/**
 * The two forbid lists of AO-ACT (seed 000 §A.3, seed 000 §B.3) and the walk that applies them:
 * exact, case-sensitive, at any depth, through arrays.
 */
import { at, type Code, showName } from '../../base/index.ts'
import { isObject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'

export const TASK_FORBIDS: ReadonlySet<string> = new Set([
  'problem_state_id',
  'lifecycle_state',
  'recommendation',
  'suggestion',
  'proposal',
  'agronomy',
  'prescription',
  'severity',
  'priority',
  'expected_outcome',
  'effectiveness',
  'quality',
  'desirability',
  'next_action',
  'follow_up',
  'autotrigger',
  'auto',
  'profile',
  'preset',
  'mode',
  'success_criteria',
])

export const RECEIPT_FORBIDS: ReadonlySet<string> = new Set([
  'agronomy',
  'prescription',
  'severity',
  'priority',
  'effectiveness',
  'quality',
  'desirability',
  'recommendation',
  'next_action',
  'follow_up',
  'problem_state_id',
  'lifecycle_state',
  'success_score',
  'yield',
  'profit',
  'mode',
  'profile',
  'preset',
])

/** Reports every forbidden key at or below `path`. Depth is bounded by the guard. */
export function reportForbidden(
  value: unknown,
  path: string,
  forbids: ReadonlySet<string>,
  code: Code,
  report: Report,
): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      if (typeof item === 'object') reportForbidden(item, at(path, index), forbids, code, report)
    }
    return
  }
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (forbids.has(key)) {
      report.add(code, at(path, key), `the key ${showName(key)} is forbidden at any depth`)
    }
    if (typeof member === 'object' && member !== null) {
      reportForbidden(member, at(path, key), forbids, code, report)
    }
  }
}
