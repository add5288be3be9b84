/** How many paths are deleted, changed and new; deletions first. */
import { useSay } from '../app/settings.tsx'

interface EffectCounts {
  readonly added: number
  readonly modified: number
  readonly deleted: number
}

export function Counts({ effects }: { readonly effects: EffectCounts }) {
  const say = useSay()
  const { added, modified, deleted } = effects
  if (added + modified + deleted === 0) return <span className="counts">{say('counts.none')}</span>
  return (
    <span className="counts">
      {deleted > 0 && <span className="deleted">{say('counts.deleted', { count: deleted })}</span>}
      {modified > 0 && (
        <span className="modified">{say('counts.modified', { count: modified })}</span>
      )}
      {added > 0 && <span className="added">{say('counts.added', { count: added })}</span>}
    </span>
  )
}
