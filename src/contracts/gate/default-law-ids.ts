/**
 * Ids of the default laws that a law file is read over. The laws themselves are data of the policy
 * room; a law file may name them in `conflicts_with` and `disable`.
 */
export const DEFAULT_LAW_IDS: readonly string[] = [
  'NO_CRITICAL',
  'NO_CREDENTIALS',
  'ASK_HIGH',
  'ASK_MANY_DELETIONS',
  'ASK_REPOSITORY_GONE',
  'ASK_ENV_FILES',
  'ASK_INPUTS_CHANGED',
  'ASK_AFTER_ROLLBACKS',
]
