/** Sessions of coding agents: what runs, what is pending, what each did, and undo next to each act. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { visible } from '../../base/index.ts'
import { reads, sessionsRead } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Empty, PageHead, Press, Section, StatusBadge, sayOf } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Ago, Coded, PathName, SaidLines } from '../parts/text.tsx'
import { SessionCard } from '../session/session-card.tsx'
import { type OpenSession, Past, Timeline, Use } from '../session/session-parts.tsx'

export function SessionsPage() {
  const say = useSay()
  const query = useQuery(reads.sessions())
  return (
    <div className="page">
      <PageHead title={say('sessions.title')} />
      <Found query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty title={say('sessions.empty')}>
              <Coded>{say('sessions.empty_says')}</Coded>
            </Empty>
          ) : (
            <ul className="cards">
              {sessions.map((one) => (
                <li key={one.session_id}>
                  <SessionCard session={one} />
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
  const { data: sessions = [] } = useQuery(reads.sessions())
  const kept = sessions.find(({ session_id }) => session_id === id)
  return (
    <div className="page">
      <PageHead title={say('session.title', { agent: visible(kept?.agent ?? '') })}>
        <code>{id}</code>
      </PageHead>
      {kept !== undefined && (
        <p className="quiet">
          <StatusBadge status={kept.state} /> · {say('session.since')} <Ago at={kept.started_at} />{' '}
          · <PathName path={kept.workspace} />
        </p>
      )}
      <Found query={query}>
        {(session) =>
          'pending' in session ? (
            <>
              <Running id={id} session={session} readAt={query.dataUpdatedAt} />
              <Timeline id={id} />
              <Use use={session.use} />
            </>
          ) : (
            <>
              <Timeline id={id} />
              <Past session={session} />
            </>
          )
        }
      </Found>
    </div>
  )
}

type Order = 'settleSession' | 'stopSession' | 'discardSession'
const PENDING_SHOWN = 100

function Running(props: {
  readonly id: string
  readonly session: OpenSession
  readonly readAt: number
}) {
  const say = useSay()
  const { id, session, readAt } = props
  const [order, setOrder] = useState<Order | null>(null)
  const { pending, question, state } = session
  const body = order === 'discardSession' ? { all: true } : {}
  return (
    <Section title={say('session.pending')}>
      {question !== null && (
        <p>
          <Link to="/questions/$id" params={{ id: question }}>
            {say('sessions.question')}
          </Link>
        </p>
      )}
      {pending.length === 0 && <p className="quiet">{say('session.nothing')}</p>}
      <ul className="listed">
        {pending.slice(0, PENDING_SHOWN).map(({ path, change, why }) => (
          <li key={path}>
            <strong className={change}>{sayOf(say, 'change', change)}</strong>{' '}
            <PathName path={path} /> <span className="quiet">{sayOf(say, 'session.why', why)}</span>
          </li>
        ))}
      </ul>
      {pending.length > PENDING_SHOWN && (
        <p className="quiet">{say('more', { count: pending.length - PENDING_SHOWN })}</p>
      )}
      {pending.length > 0 && <PendingDiff id={id} readAt={readAt} />}
      <div className="buttons">
        {pending.length > 0 && (
          <>
            <Press onPress={() => setOrder('settleSession')}>{say('session.settle')}</Press>
            <Press onPress={() => setOrder('discardSession')}>{say('session.discard')}</Press>
          </>
        )}
        {state === 'running' && (
          <Press look="danger" onPress={() => setOrder('stopSession')}>
            {say('session.stop')}
          </Press>
        )}
      </div>
      {pending.length > 0 && (
        <p className="quiet">
          {say('session.settle_says')} {say('session.discard_says')}
        </p>
      )}
      {order !== null && (
        <AskDialog
          title={say(`session.ask.${order}`)}
          action={say('with_passkey')}
          act={async () => {
            await sessionsRead()
            return proven(order, { params: { id }, body })
          }}
          onClose={() => setOrder(null)}
        >
          {order === 'settleSession' && <p>{say('session.settle_says')}</p>}
          {order === 'discardSession' && <p>{say('session.discard_says')}</p>}
        </AskDialog>
      )}
    </Section>
  )
}

/** The lines of what is pending, as the command line prints them; read when they are opened. */
function PendingDiff({ id, readAt }: { readonly id: string; readonly readAt: number }) {
  const say = useSay()
  const [isOpen, setOpen] = useState(false)
  const query = useQuery({ ...reads.sessionDiff(id, readAt), enabled: isOpen })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say('session.diff')}</summary>
      {isOpen && (
        <Found query={query}>
          {(text) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys
            <pre className="output" tabIndex={0}>
              <SaidLines>{text}</SaidLines>
            </pre>
          )}
        </Found>
      )}
    </details>
  )
}
