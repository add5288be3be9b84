/** Tasks for the field, their receipts, and a form that issues one. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Badge, Empty, Found, PageHead, Press, Section, StatusBadge } from '../parts/basics.tsx'
import { Said, SaidLines } from '../parts/text.tsx'
import { IssueForm } from '../tasks/issue-form.tsx'

export function TasksPage() {
  const say = useSay()
  const query = useQuery(reads.tasks())
  const [isIssuing, setIssuing] = useState(false)
  return (
    <div className="page">
      <PageHead title={say('tasks.title')}>
        <Press look="main" onPress={() => setIssuing(true)}>
          {say('tasks.issue')}
        </Press>
      </PageHead>
      {isIssuing && <IssueForm onClose={() => setIssuing(false)} />}
      <Found query={query}>
        {(tasks) =>
          tasks.length === 0 ? (
            <Empty title={say('tasks.empty')}>{say('tasks.empty_says')}</Empty>
          ) : (
            <Section title={say('tasks.title')}>
              <ul className="facts">
                {tasks.map(({ act_task_id, receipts, status }) => (
                  <li key={act_task_id} className="fact">
                    <StatusBadge status={status} />{' '}
                    <Link to="/tasks/$id" params={{ id: act_task_id }}>
                      <Said>{act_task_id}</Said>
                    </Link>{' '}
                    <span className="quiet">{say('tasks.receipts', { count: receipts })}</span>
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      </Found>
    </div>
  )
}

export function TaskPage() {
  const say = useSay()
  const { id } = useParams({ from: '/inside/tasks/$id' })
  const query = useQuery(reads.task(id))
  return (
    <div className="page">
      <PageHead title={id} />
      <Found query={query}>
        {({ status, integrity_report, facts }) => (
          <Section title={say('tasks.facts')} note={<StatusBadge status={status} />}>
            <p>
              <Badge tone={integrity_report.ok ? 'low' : 'critical'}>
                {say(integrity_report.ok ? 'tasks.intact' : 'tasks.broken')}
              </Badge>
            </p>
            {facts.map((fact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: recorded facts keep their places
              <pre className="output" key={index}>
                <SaidLines>{JSON.stringify(fact, null, 1)}</SaidLines>
              </pre>
            ))}
          </Section>
        )}
      </Found>
    </div>
  )
}
