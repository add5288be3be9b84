/** What an answer cannot take back: whether undo restores all of it, and what would run by itself. */
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { visible } from '../../base/index.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Coded, Said } from '../parts/text.tsx'
import {
  changedScripts,
  isManifest,
  type QuestionChange,
  runnerOf,
  type WholeQuestion,
} from './question.ts'

/** One sentence: what is restored and what is not. */
export function UndoWords({ question }: { readonly question: WholeQuestion }) {
  const say = useSay()
  const { undo_days: days, changes } = question
  if (days === null) return <span className="warns">{say('undo.never')}</span>
  if (!changes.some(({ deferred }) => deferred))
    return <span className="safe">{say('undo.days', { count: days })}</span>
  return <span className="warns">{say('undo.days_later', { count: days })}</span>
}

interface RunsLaterProps {
  readonly question: WholeQuestion
  readonly change: QuestionChange
}

const SCRIPTS_MAX = 3

/** What runs a change later, where that is known. */
export function RunsLater(props: RunsLaterProps) {
  const say = useSay()
  const runner = runnerOf(props.question, props.change)
  if (runner !== null) {
    return (
      <>
        {say('later.because')} <Said>{runner}</Said>
      </>
    )
  }
  return isManifest(props.change) ? <RunByNpm {...props} /> : say('later.unknown')
}

/** Which scripts are new or changed, and when npm runs them; without the texts, that it does. */
function RunByNpm({ question, change }: RunsLaterProps) {
  const say = useSay()
  const { data } = useQuery(reads.change(question.id, question.result_digest, change.path))
  const scripts = changedScripts(data?.before?.text ?? null, data?.after?.text ?? null)
  if (scripts.length === 0) return say('later.npm')
  return scripts.slice(0, SCRIPTS_MAX).map(({ script, isInstall }, index) => (
    <Fragment key={script}>
      {index > 0 && '; '}
      <Coded>
        {say(isInstall ? 'later.npm_install' : 'later.npm_run', { script: visible(script) })}
      </Coded>
    </Fragment>
  ))
}
