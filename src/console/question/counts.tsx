/** How many paths are deleted, changed and new; deletions first. */
import { useSay } from '../app/settings.tsx'
import type { QuestionChange } from './question.ts'
import { wordOf } from './question.ts'

interface EffectCounts {
  readonly added: number
  readonly modified: number
  readonly deleted: number
}

interface CountsProps {
  readonly effects: EffectCounts
  /** Where they are known, directories are counted apart from files. */
  readonly changes?: readonly QuestionChange[]
}

export function Counts({ effects, changes = [] }: CountsProps) {
  const say = useSay()
  const { added, modified, deleted } = effects
  if (added + modified + deleted === 0) return <span className="counts">{say('counts.none')}</span>
  const words = (word: 'deleted' | 'modified' | 'added'): string => {
    const count = effects[word]
    const folders = changes.filter(
      (change) => change.kind === 'directory' && wordOf(change) === word,
    ).length
    if (folders === 0) return say(`counts.${word}`, { count })
    const [some, all] = [count - folders, say('counts.folders', { count: folders })]
    const files = say('counts.files', { count: some })
    const what = some > 0 ? say('counts.both', { files, folders: all }) : all
    return say('counts.split', { counted: say(`counts.${word}`, { count }), what })
  }
  return (
    <span className="counts">
      {deleted > 0 && <span className="deleted">{words('deleted')}</span>}
      {modified > 0 && <span className="modified">{words('modified')}</span>}
      {added > 0 && <span className="added">{words('added')}</span>}
    </span>
  )
}
