/**
 * The two written forms of a guard inside a ruleset: text for people, trees for programs. Converting
 * either way keeps the meaning, and converting twice changes nothing.
 */
import {
  admitRuleset,
  type Context,
  isObject,
  type JsonObject,
  printGuard,
} from '../../contracts/index.ts'

/**
 * Rewrites every guard of a ruleset in one form. Returns null if it is no admissible `ruleset_v0`.
 */
export function rewriteGuards(
  document: unknown,
  form: 'text' | 'tree',
  context: Context = {},
): JsonObject | null {
  const { ruleset } = admitRuleset(document, { context })
  if (ruleset === null || ruleset.form !== 'ruleset_v0' || !isObject(document)) return null
  // `admitRuleset` has checked that the rules are a list of objects.
  const rules = document['rules'] as readonly JsonObject[]
  return {
    ...document,
    rules: rules.map((rule, index) => {
      const guard = ruleset.rules[index]?.guard
      return { ...rule, guard: form === 'tree' || guard === undefined ? guard : printGuard(guard) }
    }),
  }
}
