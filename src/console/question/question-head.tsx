/** What is asked, in short: who, what, what would change, and the actor's own words. */
import { ArrowLeft } from 'lucide-react'
import { Fragment } from 'react'
import { useSay } from '../app/settings.tsx'
import { RiskBadge } from '../parts/basics.tsx'
import { PlaceLink } from '../parts/place-link.tsx'
import { Ago, Deadline, PathName, Said, SaidLines } from '../parts/text.tsx'
import { Counts } from './counts.tsx'
import { UndoWords } from './later.tsx'
import { commandLines, type WholeQuestion } from './question.ts'

/** More are in the list of changes. */
const NAMED_MAX = 3

/** The files of these paths, for a summary. */
function Names({ paths }: { readonly paths: readonly string[] }) {
  return paths.map((path, index) => (
    <Fragment key={path}>
      {index === 0 ? ': ' : ', '}
      <PathName path={path.slice(path.lastIndexOf('/') + 1)} />
    </Fragment>
  ))
}

export function QuestionHead({ question }: { readonly question: WholeQuestion }) {
  const say = useSay()
  const { asked_by, risk, intent, effects, asked_at, expires_at, changes } = question
  const later = changes.filter(({ deferred }) => deferred).map(({ path }) => path)
  const hosts = new Set(question.result.side_effects.network.map(({ host }) => host)).size
  const sent = question.result.side_effects.held?.length ?? 0
  return (
    <header className="question-head">
      <p className="crumb">
        <PlaceLink to="/">
          <ArrowLeft aria-hidden="true" /> {say('nav.inbox')}
        </PlaceLink>
        <span className="quiet">
          {say('inbox.asked')} <Ago at={asked_at} /> · {say('question.lapses')}{' '}
          <Deadline at={expires_at} /> {say('question.lapses_end')}
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
          <Counts effects={effects} changes={changes} />
        </li>
        {later.length > 0 && (
          <li className="warns">
            {say('question.later', { count: later.length })}
            {later.length <= NAMED_MAX && <Names paths={later} />}
          </li>
        )}
        {sent > 0 && <li className="warns">{say('question.sends', { count: sent })}</li>}
        <li>{say('question.hosts', { count: hosts })}</li>
        <li>
          <UndoWords question={question} />
        </li>
      </ul>
      <blockquote className="intent">
        <span className="intent-mark">{say('question.own_words')}</span>
        <SaidLines>{intent}</SaidLines>
      </blockquote>
    </header>
  )
}
