/** What is on record about a session: what it used, its events, its acts with undo next to each. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { ActDocument } from '../../api/index.ts'
import { reads } from '../app/queries.ts'
import type { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Pairs, Press, Section, StatusBadge, sayOf } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Ago, Coded, PathName, Said } from '../parts/text.tsx'
import { UndoDialog } from '../parts/undo-dialog.tsx'
import { Counts } from '../question/counts.tsx'

type Session = Awaited<ReturnType<typeof client.showSession>>['value']
export type OpenSession = Extract<Session, { readonly pending: unknown }>
type PastSession = Extract<Session, { readonly facts: unknown }>

/** Cost is counted in millionths of the unit of the prices. */
export const MILLION = 1_000_000

export function Use({ use }: { readonly use: OpenSession['use'] }) {
  const say = useSay()
  const { requests, failures, input_tokens, output_tokens, cost_micros, unpriced = 0 } = use.model
  return (
    <Section title={say('session.use')}>
      <Pairs
        rows={[
          [say('session.requests'), say('session.request_counts', { requests, failures })],
          [
            say('session.tokens'),
            say('session.token_counts', { input: input_tokens, output: output_tokens }),
          ],
          [
            say('session.cost'),
            cost_micros === undefined ? (
              <Coded key="p">{say('session.no_prices')}</Coded>
            ) : (
              say('session.cost_counts', { cost: cost_micros / MILLION, unpriced })
            ),
          ],
          [
            say('network.title'),
            use.network.length === 0 ? (
              say('session.no_hosts')
            ) : (
              <ul key="h" className="hosts">
                {use.network.map(({ host, passed, refused, failed, bytes_sent }) => (
                  <li key={host}>
                    <code>
                      <Said>{host}</Said>
                    </code>{' '}
                    {say('session.host', { passed, refused: refused + failed, bytes: bytes_sent })}
                  </li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
    </Section>
  )
}

/** A session that is over: its events, and what it used. */
export function Past({ session }: { readonly session: PastSession }) {
  const say = useSay()
  const { facts } = session
  const used = facts.findLast(({ model }) => model !== undefined)
  return (
    <>
      <Section title={say('session.facts')}>
        <ol className="steps">
          {facts.map(({ event, at, agent, ended, paths = [] }) => (
            <li key={`${event} ${at}`}>
              <span className="step-name">{sayOf(say, 'session.event', event)}</span>
              <span>
                <Said>{[agent, ended].filter((word) => word !== undefined).join(' ')}</Said>
                {paths.slice(0, 20).map((path) => (
                  <span key={path} className="block">
                    <PathName path={path} />
                  </span>
                ))}
              </span>
              <Ago at={at} />
            </li>
          ))}
        </ol>
      </Section>
      {used?.model !== undefined && (
        <Use use={{ model: used.model, network: used.network ?? [] }} />
      )}
    </>
  )
}

/** Acts of the session among the recent ones. */
export function Timeline({ id }: { readonly id: string }) {
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
            <ol className="steps acts">
              {acts.map((act) => (
                <li key={act.action_id}>
                  <StatusBadge status={act.status} />
                  <ActName act={act} />
                  {act.result !== null && <Counts effects={act.result.payload.diff.counts} />}
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

/** An act that waits leads to its question. */
function ActName({ act }: { readonly act: ActDocument }) {
  const { action_id: id, what, status } = act
  const to = status === 'waiting' ? '/questions/$id' : '/actions/$id'
  return (
    <Link to={to} params={{ id }}>
      <Said>{what ?? id}</Said>
    </Link>
  )
}
