/**
 * A second kernel, written from the specification alone and as plainly as it can be said: no index,
 * no compilation, no projection. It shares nothing with the room it is compared with.
 */
/* biome-ignore-all lint/suspicious/noExplicitAny: an oracle reads documents as they come */

type Tree = any

const isObject = (value: any): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a path, or undefined when it is missing: absent, null or of the wrong JSON type. */
function read(inputs: any, path: string): any {
  if (path === 'permission_set.candidate_actions[].action_code') return candidateCodes(inputs)
  let value = inputs
  for (const step of path.replace('[]', '').split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]
  }
  if (path.endsWith('[]')) return Array.isArray(value) ? value : undefined
  if (path.endsWith('.subjectRef')) return isObject(value) ? value : undefined
  if (path.includes('.window.')) return typeof value === 'number' ? value : undefined
  return typeof value === 'string' ? value : undefined
}

function candidateCodes(inputs: any): string[] | undefined {
  const candidates = isObject(inputs?.permission_set)
    ? inputs.permission_set.candidate_actions
    : undefined
  if (!Array.isArray(candidates)) return undefined
  const found = candidates.map((one) => (isObject(one) ? one.action_code : one))
  return [...new Set(found.filter((code) => typeof code === 'string' && code !== ''))]
}

export function naiveHolds(guard: Tree, inputs: any): boolean {
  const side = (one: any) => (typeof one === 'string' ? (read(inputs, one) ?? []) : one)
  if (guard.op === 'AND') return guard.args.every((one: Tree) => naiveHolds(one, inputs))
  if (guard.op === 'OR') return guard.args.some((one: Tree) => naiveHolds(one, inputs))
  if (guard.op === 'NOT') return !naiveHolds(guard.arg, inputs)
  if (guard.op === 'EQ') return read(inputs, guard.field) === guard.value
  if (guard.op === 'IN') return guard.set.includes(read(inputs, guard.field))
  if (guard.op === 'EXISTS') return read(inputs, guard.field) !== undefined
  if (guard.op === 'INTERSECTS') {
    return side(guard.left).some(
      (word: any) => typeof word === 'string' && side(guard.right).includes(word),
    )
  }
  const [start, end] = ['startTs', 'endTs'].map((leaf) =>
    read(inputs, `problem_state.window.${leaf}`),
  )
  const [from, to] = ['startTs', 'endTs'].map((leaf) =>
    read(inputs, `permission_set.window.${leaf}`),
  )
  return start !== undefined && end !== undefined && end > start && start === from && end === to
}

function inScope({ scope }: Tree, inputs: any): boolean {
  const leaf = (path: string) => read(inputs, `permission_set.${path}`)
  if (scope?.scale !== undefined && leaf('scale') !== scope.scale) return false
  for (const end of ['startTs', 'endTs']) {
    if (scope?.window !== undefined && leaf(`window.${end}`) !== scope.window[end]) return false
  }
  for (const id of ['projectId', 'groupId', 'plotId', 'blockId']) {
    const asked = scope?.subjectRef?.[id] !== undefined
    if (asked && leaf(`subjectRef.${id}`) !== scope.subjectRef[id]) return false
  }
  return true
}

function isBound(inputs: any): boolean {
  const id = isObject(inputs.problem_state) ? inputs.problem_state.problem_state_id : undefined
  if (typeof id !== 'string' || read(inputs, 'uncertainty_envelope.problem_state_ref') !== id)
    return false
  const [left, right] = ['problem_state', 'permission_set'].map((one) =>
    read(inputs, `${one}.subjectRef`),
  )
  if (left === undefined || right === undefined) return false
  return ['projectId', 'groupId', 'plotId', 'blockId'].every(
    (leaf) =>
      read(inputs, `problem_state.subjectRef.${leaf}`) ===
      read(inputs, `permission_set.subjectRef.${leaf}`),
  )
}

export interface NaiveVerdict {
  readonly action_code: string
  readonly verdict: string
  readonly rule_ref: string | undefined
}

/** Rulesets are admissible, with guards as trees, one for each action code. */
export function naiveEvaluate(rulesets: readonly Tree[], inputs: any): NaiveVerdict[] {
  return (candidateCodes(inputs) ?? []).map((code) => {
    const ruleset = rulesets.find((one) => one.action_code === code)
    const silent = { action_code: code, verdict: 'UNDETERMINED', rule_ref: undefined }
    if (ruleset === undefined || !isBound(inputs)) return silent
    const matching = ruleset.rules.filter(
      (rule: Tree) => inScope(rule, inputs) && naiveHolds(rule.guard, inputs),
    )
    const order =
      ruleset.combine_strategy === 'FIRST_MATCH' ? [undefined] : ['DENY', 'ALLOW', 'UNDETERMINED']
    for (const word of order) {
      const rule = matching.find((one: Tree) => word === undefined || one.verdict === word)
      if (rule !== undefined)
        return {
          ...silent,
          verdict: rule.verdict,
          rule_ref: `${ruleset.ruleset_id}/${rule.rule_id}@${rule.rule_version}`,
        }
    }
    return silent
  })
}
