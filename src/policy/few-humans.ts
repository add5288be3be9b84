/**
 * Warns about laws that want more approvals than there are humans who can approve. Such a law is
 * legal, since humans come and go, but its questions can only wait or be denied.
 */
import { showName } from '../base/index.ts'
import type { LawSet } from './law.ts'
import { readLawText } from './law-text.ts'
import type { LawFault } from './load-laws.ts'

/** Returns the largest number of approvals that a law wants, at least 1. */
export function mostApprovals({ laws }: Pick<LawSet, 'laws'>): number {
  return Math.max(1, ...laws.map(({ approvals }) => approvals))
}

/** `text` was loaded as `laws` without a fault. */
export async function fewHumansWarnings(
  text: string,
  { laws }: Pick<LawSet, 'laws'>,
  humans: number,
): Promise<readonly LawFault[]> {
  const reading = await readLawText(text)
  if (!reading.ok) return []
  const own = laws.filter(({ isBuiltIn }) => !isBuiltIn)
  return own.flatMap(({ policyId, approvals }, index) => {
    if (approvals <= Math.max(1, humans)) return []
    const path = `/laws/${index}/approvals`
    const have = humans === 1 ? '1 human of this home has' : `${humans} humans of this home have`
    const message = `${showName(policyId)} wants ${approvals} humans to approve, and ${have} a credential of their own`
    const hint = '`writ principal add`, `writ token create`, and each sets `writ principal pass`'
    return [{ code: 'laws.few_humans' as const, path, message, hint, ...reading.placeOf(path) }]
  })
}
