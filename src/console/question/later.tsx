/** What an answer cannot take back: whether undo restores all of it, and what would run by itself. */
import { useSay } from '../app/settings.tsx'
import { Said } from '../parts/text.tsx'
import { isManifest, type QuestionChange, runnerOf, type WholeQuestion } from './question.ts'

/** One sentence: what is restored and what is not. */
export function UndoWords({ question }: { readonly question: WholeQuestion }) {
  const say = useSay()
  const { undo_days: days, changes } = question
  if (days === null) return <span className="warns">{say('undo.never')}</span>
  if (!changes.some(({ deferred }) => deferred))
    return <span className="safe">{say('undo.days', { count: days })}</span>
  return <span className="warns">{say('undo.days_later', { count: days })}</span>
}

/** What runs a change later, where that is known. */
export function RunsLater(props: {
  readonly question: WholeQuestion
  readonly change: QuestionChange
}) {
  const say = useSay()
  const runner = runnerOf(props.question, props.change)
  if (runner !== null) {
    return (
      <>
        {say('later.because')} <Said>{runner}</Said>
      </>
    )
  }
  return say(isManifest(props.change) ? 'later.npm' : 'later.unknown')
}
