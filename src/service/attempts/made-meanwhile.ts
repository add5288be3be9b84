/**
 * Directories that other acts made while an attempt was under way. The attempt could not see them when
 * it began: one that it makes itself under the same name is a new one, and belongs to both (F-13).
 */
import type { RawPath } from '../../gate/index.ts'
import type { GateParts } from '../lifecycle/act.ts'

type PromotionSources = Pick<GateParts, 'view' | 'questions' | 'workspace'>

/** The last promotion so far; null if there was none. */
export async function lastPromotion({ view }: Pick<GateParts, 'view'>): Promise<string | null> {
  for (const { actionId } of (await view.standing()).promotedNewestFirst()) return actionId
  return null
}

/** Waits for a promotion that is under way, whose fact follows its files. */
export function madeSince(
  { view, questions, workspace }: PromotionSources,
  last: string | null,
): Promise<ReadonlySet<RawPath>> {
  return workspace.locked(async () => {
    const made = new Set<RawPath>()
    for (const { actionId } of (await view.standing()).promotedNewestFirst()) {
      if (actionId === last) break
      const record = await questions.record(actionId)
      for (const { path, before, after } of record?.changes ?? []) {
        if (before === null && after?.kind === 'directory') made.add(path)
      }
    }
    return made
  })
}
