/** One session in the list: what it does now, what is pending, what it used. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reads } from '../app/queries.ts'
import type { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Pairs, StatusBadge } from '../parts/basics.tsx'
import { Ago, PathName, Said } from '../parts/text.tsx'
import { MILLION } from './session-parts.tsx'

type KeptSession = Awaited<ReturnType<typeof client.listSessions>>['value']['sessions'][number]

export function SessionCard({ session }: { readonly session: KeptSession }) {
  const say = useSay()
  const { session_id: id, agent, state, started_at, workspace, settles } = session
  const { data: shown } = useQuery(reads.session(id))
  const open = shown !== undefined && 'pending' in shown ? shown : null
  return (
    <section className="section" aria-label={agent}>
      <h2>
        <StatusBadge status={state} />{' '}
        <Link to="/sessions/$id" params={{ id }}>
          <Said>{agent}</Said>
        </Link>
      </h2>
      <p className="quiet">
        <Ago at={started_at} /> · <PathName path={workspace} /> ·{' '}
        {say('sessions.settles', { count: settles })}
      </p>
      <Pairs
        rows={[
          [say('sessions.now'), <Now key="n" session={session} />],
          [
            say('session.pending'),
            open === null ? '…' : say('sessions.pending', { count: open.pending.length }),
          ],
          ...(open === null ? [] : ([[say('session.tokens'), usedWords(open.use.model)]] as const)),
        ]}
      />
    </section>
  )

  function usedWords(model: NonNullable<typeof open>['use']['model']): string {
    const { input_tokens: input, output_tokens: output, cost_micros: cost } = model
    const tokens = say('session.token_counts', { input, output })
    return cost === undefined
      ? tokens
      : `${tokens} · ${say('sessions.cost', { cost: cost / MILLION })}`
  }
}

/** Its question, or else the newest act on record. */
function Now({ session }: { readonly session: KeptSession }) {
  const say = useSay()
  const { session_id: id, question, state } = session
  const { data: actions = [] } = useQuery(reads.actions(ACTS))
  const { data: own = [] } = useQuery(reads.sessionActs(id))
  if (question !== null) {
    return (
      <Link to="/questions/$id" params={{ id: question }}>
        {say('sessions.question')}
      </Link>
    )
  }
  const last = actions.find(({ action_id }) => own.includes(action_id))
  const words = say(state === 'running' ? 'sessions.works' : 'sessions.ended')
  if (last === undefined) return words
  return (
    <>
      {words}, {say('sessions.last')}{' '}
      <Link to="/actions/$id" params={{ id: last.action_id }}>
        <Said>{last.what ?? last.action_id}</Said>
      </Link>{' '}
      <StatusBadge status={last.status} /> <Ago at={last.at} />
    </>
  )
}

const ACTS = 200
