/** The paths of an action that its record names: deletions first, 200 in all at most. */
import type { ActDocument } from '../../api/index.ts'

export function actPaths({ result }: Pick<ActDocument, 'result'>): readonly string[] {
  const { deleted = [], modified = [], added = [] } = result?.payload.diff ?? {}
  return [...deleted, ...modified, ...added].map(({ path }) => path)
}
