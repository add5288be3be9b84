/** One question: who asks, what would change, why a person is asked, and the answer. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { ProblemError } from '../../api/index.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Empty, Loading } from '../parts/basics.tsx'
import { Problem } from '../parts/found.tsx'
import { AnswerBar } from '../question/answer-bar.tsx'
import { Changes } from '../question/changes.tsx'
import { OpenedChange } from '../question/opened-change.tsx'
import type { WholeQuestion } from '../question/question.ts'
import { QuestionHead } from '../question/question-head.tsx'
import { Grounds, Surroundings } from '../question/surroundings.tsx'

export function QuestionPage() {
  const { id } = useParams({ from: '/inside/questions/$id' })
  const query = useQuery(reads.question(id))
  if (query.error !== null) return <Gone error={query.error} />
  if (query.data === undefined) return <Loading />
  return <WholePage key={query.data.result_digest} question={query.data} />
}

/** Answered meanwhile, by this person or another: the action has what became of it. */
function Gone({ error }: { readonly error: Error }) {
  const say = useSay()
  const isOver = error instanceof ProblemError && /^(?:confirm|history)\./.test(error.problem.code)
  if (!isOver) return <Problem error={error} />
  return (
    <div className="page">
      <Problem error={error} />
      <Empty title={say('question.over')}>
        <Link to="/">{say('question.back')}</Link>
      </Empty>
    </div>
  )
}

function WholePage({ question }: { readonly question: WholeQuestion }) {
  const navigate = useNavigate()
  // What asks, what would change and the answer come first; the rest is drawn right after them.
  const isWhole = useDeferredValue(true, false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const done = (): Promise<void> =>
    navigate({ to: '/actions/$id', params: { id: question.action_id } })
  return (
    <div className="page question">
      <QuestionHead question={question} />
      <div className="question-columns">
        <div className="question-main">
          <Changes question={question} chosen={chosen} onChosen={setChosen}>
            {(path) => isWhole && <OpenedChange question={question} path={path} />}
          </Changes>
          {isWhole && <Grounds question={question} />}
        </div>
        <aside className="question-side">{isWhole && <Surroundings question={question} />}</aside>
      </div>
      <AnswerBar question={question} chosen={chosen} onDone={done} />
    </div>
  )
}
