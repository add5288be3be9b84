/**
 * The scope of a rule: equality with the permission set's subject, scale and window. Its paths stand
 * in `inputs_used` like any other: the scale as itself, the window by its two leaves, the subject
 * either whole (`permission_set.subjectRef`) or by each leaf that the scope names.
 */
import { show, showName } from '../../base/index.ts'
import { field, isObject } from '../kernel/contract.ts'
import type { GuardContext, GuardFindings } from './guard-judge.ts'
import { type GuardPath, isGuardPath } from './paths.ts'

/** Gives back the declared paths that the scope reads. */
export function judgeScope(
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
