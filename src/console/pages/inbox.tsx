/** The questions that wait for a human, the riskiest first. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { reads } from '../app/queries.ts'
import type { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Empty, Found, PageHead, RiskBadge } from '../parts/basics.tsx'
import { Rows } from '../parts/rows.tsx'
import { Ago, Said } from '../parts/text.tsx'
import { Counts } from '../question/counts.tsx'

type Head = Awaited<ReturnType<typeof client.listQuestions>>['value']['questions'][number]

const RISKS = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW']
const ROW_HEIGHT = 92

function byRisk(questions: readonly Head[]): readonly Head[] {
  return questions.toSorted(
    (left, right) =>
      RISKS.indexOf(left.risk) - RISKS.indexOf(right.risk) ||
      (left.asked_at < right.asked_at ? -1 : 1),
  )
}

export function InboxPage() {
  const say = useSay()
  // The next page of nearly everyone who looks at this one.
  useEffect(() => void import('./question.tsx'), [])
  const query = useQuery(reads.questions())
  return (
    <div className="page page-list">
      <PageHead title={say('inbox.title')}>
        {query.data !== undefined && query.data.length > 0 && (
          <p className="quiet">{say('inbox.count', { count: query.data.length })}</p>
        )}
      </PageHead>
      <Found query={query}>
        {(questions) =>
          questions.length === 0 ? (
            <Empty title={say('inbox.empty')}>{say('inbox.empty_says')}</Empty>
          ) : (
            <QuestionRows questions={byRisk(questions)} />
          )
        }
      </Found>
    </div>
  )
}

function QuestionRows({ questions }: { readonly questions: readonly Head[] }) {
  const say = useSay()
  const navigate = useNavigate()
  return (
    <Rows
      label={say('inbox.title')}
      items={questions}
      height={ROW_HEIGHT}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/questions/$id', params: { id } })}
      className="inbox"
    >
      {(head) => <QuestionRow head={head} />}
    </Rows>
  )
}

function QuestionRow({ head }: { readonly head: Head }) {
  const say = useSay()
  const { asked_by, what, reasons, risk, effects, asked_at, expires_at } = head
  return (
    <div className="inbox-row">
      <div className="inbox-line">
        <RiskBadge risk={risk} />
        <code className="what">
          <Said>{what}</Said>
        </code>
      </div>
      <div className="inbox-line quiet">
        <span className="who">
          <Said>{asked_by.agent ?? asked_by.principal}</Said>
        </span>
        <span>
          {say('inbox.asked')} <Ago at={asked_at} />
        </span>
        <span className="wide-only">
          {say('inbox.expires')} <Ago at={expires_at} />
        </span>
        <Counts effects={effects} />
      </div>
      <div className="inbox-line inbox-why">
        <Said>{reasons[0]?.words ?? ''}</Said>
        {reasons.length > 1 && (
          <span className="quiet"> {say('inbox.more', { count: reasons.length - 1 })}</span>
        )}
      </div>
    </div>
  )
}
