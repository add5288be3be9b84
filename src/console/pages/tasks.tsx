/** Tasks for the field, their receipts, and a form that issues one. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { visible } from '../../base/index.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import {
  Badge,
  Empty,
  PageHead,
  Pairs,
  Press,
  Section,
  StatusBadge,
  sayOf,
} from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Ago, Coded, Moment, Said, SaidLines } from '../parts/text.tsx'
import { DeviceList } from '../tasks/device-list.tsx'
import { IssueForm } from '../tasks/issue-form.tsx'
import { BY_PEOPLE, StateMap } from '../tasks/state-map.tsx'

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
            <Empty title={say('tasks.empty')}>
              <Coded>{say('tasks.empty_says')}</Coded>
            </Empty>
          ) : (
            <TaskList tasks={tasks} />
          )
        }
      </Found>
      <DeviceList />
    </div>
  )
}

type Task = Awaited<ReturnType<ReturnType<typeof reads.tasks>['queryFn']>>[number]

/** The map of states, and the tasks of all states or of the one that was chosen. */
function TaskList({ tasks }: { readonly tasks: readonly Task[] }) {
  const say = useSay()
  const [chosen, setChosen] = useState<string | null>(null)
  const counts = new Map<string, number>()
  for (const task of tasks) counts.set(stateOf(task), (counts.get(stateOf(task)) ?? 0) + 1)
  const shown = tasks.filter((task) => chosen === null || stateOf(task) === chosen)
  return (
    <>
      <Section title={say('tasks.map')}>
        <StateMap counts={counts} chosen={chosen} onChoose={setChosen} />
      </Section>
      <Section title={say('tasks.title')}>
        <ul className="facts">
          {shown.slice(0, ROWS_MAX).map(({ act_task_id, receipts, status, dispatch }) => (
            <li key={act_task_id} className="fact">
              <StatusBadge status={status} />{' '}
              <Link to="/tasks/$id" params={{ id: act_task_id }}>
                <Said>{act_task_id}</Said>
              </Link>{' '}
              {dispatch !== null && (
                <>
                  <Said>{dispatch.device}</Said> · {sayOf(say, 'dispatch', dispatch.state)}{' '}
                </>
              )}
              <span className="quiet">{say('tasks.receipts', { count: receipts })}</span>
            </li>
          ))}
        </ul>
        {shown.length > ROWS_MAX && (
          <p className="quiet">{say('more', { count: shown.length - ROWS_MAX })}</p>
        )}
      </Section>
    </>
  )
}

const ROWS_MAX = 100

function stateOf({ dispatch }: Task): string {
  return dispatch?.state ?? BY_PEOPLE
}

interface TaskFact {
  readonly seq: number
  readonly occurred_at: string
  readonly record: {
    readonly type: string
    readonly payload: {
      readonly action_type?: string
      readonly status?: string
      readonly target?: { readonly kind: string; readonly ref: string }
      readonly issuer?: Person
      readonly executor_id?: Person
      readonly parameters?: Readonly<Record<string, unknown>>
      readonly observed_parameters?: Readonly<Record<string, unknown>>
      readonly time_window?: { readonly start_ts: number; readonly end_ts: number }
    }
  }
}

interface Person {
  readonly kind: string
  readonly id: string
}

export function TaskPage() {
  const say = useSay()
  const { id } = useParams({ from: '/inside/tasks/$id' })
  const query = useQuery(reads.task(id))
  return (
    <div className="page">
      <PageHead title={id} />
      <Found query={query}>
        {({ status, integrity_report, facts, dispatch }) => (
          <Section title={say('tasks.facts')} note={<StatusBadge status={status} />}>
            <p>
              <Badge tone={integrity_report.ok ? 'low' : 'critical'}>
                {say(integrity_report.ok ? 'tasks.intact' : 'tasks.broken')}
              </Badge>
            </p>
            {dispatch !== null && (
              <Pairs
                rows={[
                  [say('tasks.device'), <Said key="d">{dispatch.device}</Said>],
                  [say('tasks.way'), <span key="w">{sayOf(say, 'dispatch', dispatch.state)}</span>],
                ]}
              />
            )}
            {/* Facts of a task and its receipts have these fields. */}
            {(facts as readonly TaskFact[]).map((fact) => (
              <TaskRecord key={fact.seq} fact={fact} />
            ))}
          </Section>
        )}
      </Found>
    </div>
  )
}

/** The task as it was issued, or a receipt of it. */
function TaskRecord({ fact }: { readonly fact: TaskFact }) {
  const say = useSay()
  const { type, payload } = fact.record
  const isReceipt = type.includes('receipt')
  const who = payload.executor_id ?? payload.issuer
  const values = payload.observed_parameters ?? payload.parameters ?? {}
  return (
    <article className="task-fact">
      <h3>{say(isReceipt ? 'tasks.receipt' : 'tasks.task')}</h3>
      <Pairs
        rows={[
          [
            say(isReceipt ? 'tasks.by' : 'tasks.issued_by'),
            who && <Said>{`${who.kind}:${who.id}`}</Said>,
          ],
          ...(payload.status === undefined
            ? []
            : ([[say('flow.status'), <StatusBadge key="s" status={payload.status} />]] as const)),
          ...(payload.action_type === undefined
            ? []
            : ([[say('tasks.type'), <Said key="a">{payload.action_type}</Said>]] as const)),
          ...(payload.target === undefined
            ? []
            : ([
                [
                  say('tasks.ref'),
                  <Said key="r">{`${payload.target.kind} ${payload.target.ref}`}</Said>,
                ],
              ] as const)),
          ...(payload.time_window === undefined
            ? []
            : ([
                [
                  say('tasks.window'),
                  <span key="w">
                    <Moment at={new Date(payload.time_window.start_ts).toISOString()} /> –{' '}
                    <Moment at={new Date(payload.time_window.end_ts).toISOString()} />
                  </span>,
                ],
              ] as const)),
          ...Object.entries(values).map(
            ([name, value]) =>
              [visible(name), <Said key={name}>{JSON.stringify(value)}</Said>] as const,
          ),
          [say('tasks.recorded'), <Ago key="t" at={fact.occurred_at} />],
        ]}
      />
      <details>
        <summary>{say('facts.contents')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys */}
        <pre className="output" tabIndex={0}>
          <SaidLines>{JSON.stringify(fact, null, 1)}</SaidLines>
        </pre>
      </details>
    </article>
  )
}
