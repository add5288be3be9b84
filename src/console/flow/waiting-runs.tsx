/** Runs of flows that wait for a person, in the inbox: what each waits for, and where to answer. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Section, StatusBadge } from '../parts/basics.tsx'
import { Ago, Said } from '../parts/text.tsx'

const SHOWN_MAX = 10

type Run = Awaited<ReturnType<ReturnType<typeof reads.runs>['queryFn']>>[number]

interface Stop {
  readonly title: string
  readonly says: string
  readonly next?: readonly string[]
}

/** The newest runs that stopped and go on after an answer; those that wait for a time are not among them. */
export function useWaitingRuns(): readonly (readonly [Run, readonly Stop[]])[] {
  const { data: runs = [] } = useQuery(reads.runs())
  const stopped = runs.filter(({ status }) => status === 'WAITING' || status === 'BLOCKED')
  const shown = useQueries({
    queries: stopped.slice(0, SHOWN_MAX).map(({ run_id }) => reads.run(run_id)),
  })
  return stopped.slice(0, SHOWN_MAX).flatMap((run, index) => {
    // The command that shows a run answers with these fields.
    const stops = (shown[index]?.data?.stops ?? []) as readonly Stop[]
    const asked = stops.filter(({ next = [] }) => next.length > 0)
    return asked.length === 0 ? [] : [[run, asked] as const]
  })
}

export function WaitingRuns() {
  const say = useSay()
  const waiting = useWaitingRuns()
  if (waiting.length === 0) return null
  return (
    <Section title={say('flows.waiting', { count: waiting.length })}>
      <ul className="facts">
        {waiting.map(([{ run_id, title, status, started_at }, stops]) => (
          <li key={run_id} className="fact">
            <p>
              <StatusBadge status={status} />{' '}
              <Link to="/flows/$id" params={{ id: run_id }}>
                <Said>{title}</Said>
              </Link>{' '}
              <span className="quiet">
                <Ago at={started_at} />
              </span>
            </p>
            {stops.map((stop) => (
              <p key={`${stop.title} ${stop.says}`}>
                <strong>
                  <Said>{stop.title}</Said>
                </strong>{' '}
                <Said>{stop.says}</Said>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  )
}
