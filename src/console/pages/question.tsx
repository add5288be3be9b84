/** One question: who asks, what would change, why a person is asked, and the answer. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { ProblemError } from '../../api/index.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Empty, Loading, Problem, RiskBadge } from '../parts/basics.tsx'
import { Ago, Said, SaidLines } from '../parts/text.tsx'
import { AnswerBar } from '../question/answer-bar.tsx'
import { Changes } from '../question/changes.tsx'
import { Counts } from '../question/counts.tsx'
import { commandLines, type WholeQuestion } from '../question/question.ts'
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
  const done = (): void => void navigate({ to: '/actions/$id', params: { id: question.action_id } })
  return (
    <div className="page question">
      <QuestionHead question={question} />
      <div className="question-columns">
        <div className="question-main">
          <Changes question={question} chosen={chosen} onChosen={setChosen} />
          {isWhole && <Grounds question={question} />}
        </div>
        <aside className="question-side">{isWhole && <Surroundings question={question} />}</aside>
      </div>
      <AnswerBar question={question} chosen={chosen} onDone={done} />
    </div>
  )
}

function QuestionHead({ question }: { readonly question: WholeQuestion }) {
  const say = useSay()
  const { asked_by, risk, intent, effects, asked_at, expires_at, undo_days, changes } = question
  const later = changes.filter(({ deferred }) => deferred).length
  const hosts = new Set(question.result.side_effects.network.map(({ host }) => host)).size
  const sent = question.result.side_effects.held?.length ?? 0
  return (
    <header className="question-head">
      <p className="crumb">
        <Link to="/">
          <ArrowLeft aria-hidden="true" /> {say('nav.inbox')}
        </Link>
        <span className="quiet">
          {say('inbox.asked')} <Ago at={asked_at} /> · {say('inbox.expires')}{' '}
          <Ago at={expires_at} />
        </span>
      </p>
      <h1>
        <RiskBadge risk={risk} />{' '}
        <span>
          {say('question.wants', { who: '' })}
          <strong>
            <Said>{asked_by.agent ?? asked_by.principal}</Said>
          </strong>{' '}
          {say('question.wants_end')}
        </span>
      </h1>
      <pre className="command">
        <SaidLines>{commandLines(question)}</SaidLines>
      </pre>
      <ul className="summary" aria-label={say('question.summary')}>
        <li>
          <Counts effects={effects} />
        </li>
        {later > 0 && <li className="warns">{say('question.later', { count: later })}</li>}
        {sent > 0 && <li className="warns">{say('question.sends', { count: sent })}</li>}
        <li>{say('question.hosts', { count: hosts })}</li>
        <li className={undo_days === null ? 'warns' : 'safe'}>
          {undo_days === null ? say('undo.never') : say('undo.days', { count: undo_days })}
        </li>
      </ul>
      <blockquote className="intent">
        <span className="intent-mark">{say('question.own_words')}</span>
        <SaidLines>{intent}</SaidLines>
      </blockquote>
    </header>
  )
}
