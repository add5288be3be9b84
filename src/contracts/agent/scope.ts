/**
 * Scopes of the agent contracts (C-6a): under which name an agent is asked, which contract its
 * answer follows, and for reviews what is reviewed. Names are trimmed and upper-cased.
 */

export interface Scope {
  readonly name: string
  readonly contract: 'xiaobo_action_v1' | 'xiaojing_review_v1' | 'plan_json_v1'
  /** What a review of this scope judges; null where nothing is reviewed. */
  readonly reviewTarget: 'PLAN' | 'NODE' | null
}

export const SCOPES: readonly Scope[] = [
  { name: 'TASK_ACTION', contract: 'xiaobo_action_v1', reviewTarget: null },
  { name: 'PLAN_REVIEW', contract: 'xiaojing_review_v1', reviewTarget: 'PLAN' },
  { name: 'TASK_CHECK', contract: 'xiaojing_review_v1', reviewTarget: 'NODE' },
  { name: 'TASK_REVIEW', contract: 'xiaojing_review_v1', reviewTarget: 'NODE' },
  { name: 'CHECK_NODE_REVIEW', contract: 'xiaojing_review_v1', reviewTarget: 'NODE' },
  { name: 'PLAN_GEN', contract: 'plan_json_v1', reviewTarget: null },
]

const BY_NAME: ReadonlyMap<string, Scope> = new Map(SCOPES.map((scope) => [scope.name, scope]))

export function findScope(name: string): Scope | null {
  return BY_NAME.get(name.trim().toUpperCase()) ?? null
}
