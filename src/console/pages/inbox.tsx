/** The questions that wait for a human, the riskiest first. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { memo, useCallback, useEffect, useState } from 'react'
import { QUESTIONS_A_PAGE, reads } from '../app/queries.ts'
import type { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { WaitingRuns } from '../flow/waiting-runs.tsx'
import { Empty, PageHead, RiskBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Rows } from '../parts/rows.tsx'
import { Ago, Deadline, Said } from '../parts/text.tsx'
import { Counts } from '../question/counts.tsx'
import { UndoRequests } from '../question/undo-requests.tsx'

type Head = Awaited<ReturnType<typeof client.listQuestions>>['value']['questions'][number]

const ROW_HEIGHT = 92

export function InboxPage() {
  const say = useSay()
  // The next page of nearly everyone who looks at this one.
  useEffect(() => void import('./question.tsx'), [])
  const query = useQuery(reads.questions(0))
  return (
    <div className="page page-list">
      <PageHead title={say('inbox.title')}>
        {query.data !== undefined && query.data.total > 0 && (
          <p className="quiet">{say('inbox.count', { count: query.data.total })}</p>
        )}
      </PageHead>
      <UndoRequests />
      <WaitingRuns />
      <Found query={query}>
        {({ total }) =>
          total === 0 ? (
            <Empty title={say('inbox.empty')}>{say('inbox.empty_says')}</Empty>
          ) : (
            <QuestionRows total={total} />
          )
        }
      </Found>
    </div>
  )
}

/** Reads the pages of the inbox that are in view. */
function QuestionRows({ total }: { readonly total: number }) {
  const say = useSay()
  const navigate = useNavigate()
  const [{ from, to }, setPages] = useState({ from: 0, to: 0 })
  const onView = useCallback((first: number, last: number) => {
    const from = Math.floor(first / QUESTIONS_A_PAGE)
    const to = Math.floor(last / QUESTIONS_A_PAGE)
    setPages((old) => (old.from === from && old.to === to ? old : { from, to }))
  }, [])
  const pages = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const found = useQueries({ queries: pages.map((page) => reads.questions(page)) })
  const items = Array<Head | undefined>(total)
  for (const [index, { data }] of found.entries()) {
    for (const [row, head] of (data?.questions ?? []).entries())
      items[(from + index) * QUESTIONS_A_PAGE + row] = head
  }
  return (
    <Rows
      label={say('inbox.title')}
      items={items}
      onView={onView}
      height={ROW_HEIGHT}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/questions/$id', params: { id } })}
      className="inbox"
    >
      {(head) => <QuestionRow head={head} />}
    </Rows>
  )
}

/** Drawn once: those that stay in view while others come are left alone. */
const QuestionRow = memo(({ head }: { readonly head: Head }) => {
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
        <Counts effects={effects} />
        <span className="asked">
          {say('inbox.asked')} <Ago at={asked_at} />
        </span>
        <span className="wide-only">
          {say('inbox.expires')} <Deadline at={expires_at} />
        </span>
      </div>
      <div className="inbox-line inbox-why">
        <Said>{reasons[0]?.words ?? ''}</Said>
        {reasons.length > 1 && (
          <span className="quiet"> {say('inbox.more', { count: reasons.length - 1 })}</span>
        )}
      </div>
    </div>
  )
})
