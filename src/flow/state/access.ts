/**
 * Who may read, write or run what (F-5): answers for the host, which binds real processes to them.
 * Paths are relative to the workspace, as rules are.
 *
 * INVARIANT (a ban wins): of the rules that fit, one that forbids outweighs any that allow. A path that
 * no rule names is allowed.
 */
import { type Flow, matchesPath, parseGlob, pathFault } from '../../contracts/index.ts'

export type AccessRule = NonNullable<Flow['access_rules']>[number]
export type AccessMode = AccessRule['access_mode']

export interface AccessDecision {
  readonly isAllowed: boolean
  /** The rule that decided; null when none names the path. */
  readonly rule: AccessRule | null
}

/** The rules that bind an actor, in the order of the flow. */
export function rulesFor(flow: Flow, actor: string): readonly AccessRule[] {
  return (flow.access_rules ?? []).filter((rule) => rule.actor === actor)
}

export function decideAccess(
  flow: Flow,
  actor: string,
  path: string,
  mode: AccessMode,
): AccessDecision {
  const fitting = rulesFor(flow, actor).filter(
    (rule) => rule.access_mode === mode && fits(rule, path),
  )
  const rule = fitting.find(({ access_allowed }) => !access_allowed) ?? fitting[0] ?? null
  return { isAllowed: rule?.access_allowed ?? true, rule }
}

/** What cannot be read, a pattern or a path in no plain form, is under every ban and no permission. */
function fits({ resource_path, access_allowed }: AccessRule, path: string): boolean {
  const glob = parseGlob(`/${resource_path}`)
  if (glob === null || pathFault(`/${path}`) !== null) return !access_allowed
  return matchesPath(glob, `/${path}`)
}
