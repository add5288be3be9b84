/** Sessions of coding agents: what runs, what is pending, what each did, and undo next to each act. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { ActDocument } from '../../api/index.ts'
import { reads } from '../app/queries.ts'
import { type client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Empty, Found, PageHead, Pairs, Press, Section, StatusBadge } from '../parts/basics.tsx'
import { Ago, PathName, Said, SaidLines } from '../parts/text.tsx'
import { UndoDialog } from '../parts/undo-dialog.tsx'

export function SessionsPage() {
  const say = useSay()
  const query = useQuery(reads.sessions())
  return (
    <div className="page">
      <PageHead title={say('sessions.title')} />
      <Found query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty title={say('sessions.empty')}>{say('sessions.empty_says')}</Empty>
          ) : (
            <ul className="cards">
              {sessions.map((one) => (
                <li key={one.session_id} className="section">
                  <h2>
                    <StatusBadge status={one.state} />{' '}
                    <Link to="/sessions/$id" params={{ id: one.session_id }}>
                      <Said>{one.agent}</Said>
                    </Link>
                  </h2>
                  <p className="quiet">
                    <Ago at={one.started_at} /> · <PathName path={one.workspace} /> ·{' '}
                    {say('sessions.settles', { count: one.settles })}
                  </p>
                  {one.question !== null && (
                    <Link to="/questions/$id" params={{ id: one.question }}>
                      {say('sessions.question')}
                    </Link>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Found>
    </div>
  )
}

export function SessionPage() {
  const say = useSay()
  const { id } = useParams({ from: '/inside/sessions/$id' })
  const query = useQuery(reads.session(id))
  return (
    <div className="page">
      <PageHead title={say('session.title')}>
        <code>{id}</code>
      </PageHead>
      <Found query={query}>
        {(session) =>
          'pending' in session ? (
            <Running id={id} session={session} />
          ) : (
            <Section title={say('session.facts')}>
              <pre className="output">
                <SaidLines>{JSON.stringify(session.facts, null, 1)}</SaidLines>
              </pre>
            </Section>
          )
        }
      </Found>
      <Timeline id={id} />
    </div>
  )
}

type Session = Awaited<ReturnType<typeof client.showSession>>['value']
type OpenSession = Extract<Session, { readonly pending: unknown }>
type Order = 'settleSession' | 'stopSession' | 'discardSession'

function Running({ id, session }: { readonly id: string; readonly session: OpenSession }) {
  const say = useSay()
  const [order, setOrder] = useState<Order | null>(null)
  const body = order === 'discardSession' ? { all: true } : {}
  const use = (session as { readonly use?: unknown }).use // Shown as it is recorded.
  return (
    <Section title={say('session.pending')} note={<StatusBadge status={session.state} />}>
      {session.pending.length === 0 && <p className="quiet">{say('session.nothing')}</p>}
      <ul className="listed">
        {session.pending.slice(0, 100).map(({ path, change, why }) => (
          <li key={path}>
            <strong>{change}</strong> <PathName path={path} /> <Said>{why}</Said>
          </li>
        ))}
      </ul>
      {use !== undefined && (
        <Pairs rows={[[say('session.use'), <code key="u">{JSON.stringify(use)}</code>]]} />
      )}
      <div className="buttons">
        <Press onPress={() => setOrder('settleSession')}>{say('session.settle')}</Press>
        <Press onPress={() => setOrder('discardSession')}>{say('session.discard')}</Press>
        <Press look="danger" onPress={() => setOrder('stopSession')}>
          {say('session.stop')}
        </Press>
      </div>
      {order !== null && (
        <AskDialog
          title={say(`session.ask.${order}`)}
          action={say('with_passkey')}
          act={() => proven(order, { params: { id }, body })}
          onClose={() => setOrder(null)}
        />
      )}
    </Section>
  )
}

/** Acts of the session among the recent ones. */
function Timeline({ id }: { readonly id: string }) {
  const say = useSay()
  const query = useQuery(reads.actions(200))
  const { data: own = [] } = useQuery(reads.sessionActs(id))
  const [undone, setUndone] = useState<ActDocument | null>(null)
  return (
    <Section title={say('session.acts')}>
      <Found query={query}>
        {(actions) => {
          const acts = actions.filter((act) => own.includes(act.action_id))
          if (acts.length === 0) return <p className="quiet">{say('session.no_acts')}</p>
          return (
            <ol className="steps">
              {acts.map((act) => (
                <li key={act.action_id}>
                  <StatusBadge status={act.status} />
                  <Link to="/actions/$id" params={{ id: act.action_id }}>
                    <Said>{act.what ?? act.action_id}</Said>
                  </Link>
                  <Ago at={act.at} />
                  {act.status === 'promoted' && (
                    <Press look="quiet" onPress={() => setUndone(act)}>
                      <Undo2 aria-hidden="true" /> {say('undo')}
                    </Press>
                  )}
                </li>
              ))}
            </ol>
          )
        }}
      </Found>
      {undone !== null && <UndoDialog act={undone} onClose={() => setUndone(null)} />}
    </Section>
  )
}
