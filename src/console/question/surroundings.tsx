/** What a person weighs besides the changes: who, why, laws, hosts, what can be undone, and before. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Pairs, Section, StatusBadge, sayOf } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { LawList } from '../parts/law-list.tsx'
import { Ago, Said, SaidLines } from '../parts/text.tsx'
import { UndoWords } from './later.tsx'
import { type WholeQuestion, whyNoAlways } from './question.ts'

interface Asked {
  readonly question: WholeQuestion
}

export function Surroundings({ question }: Asked) {
  return (
    <>
      <Why question={question} />
      <Who question={question} />
      <Network question={question} />
      <Undo question={question} />
      <Outcome question={question} />
    </>
  )
}

/** Below the changes: what the laws say, and what became of others. */
export function Grounds({ question }: Asked) {
  return (
    <>
      <Laws question={question} />
      <Before question={question} />
    </>
  )
}

function Why({ question }: Asked) {
  const say = useSay()
  const { risk, proposal } = question
  const said = proposal.descriptor.risk_level
  const noAlways = whyNoAlways(question)
  return (
    <Section title={say('why.title')}>
      <p>
        {said === risk ? say('risk.same', { said }) : say('risk.weighed', { said, weighed: risk })}
      </p>
      <ul className="reasons">
        {question.reasons.map(({ code, words }) => (
          <li key={code}>
            <Said>{words}</Said> <code className="code">{code}</code>
          </li>
        ))}
      </ul>
      {noAlways !== null && <p className="quiet">{say(`always.${noAlways}`)}</p>}
    </Section>
  )
}

function Who({ question }: Asked) {
  const say = useSay()
  const { asked_by, confinement, custody, stream } = question
  const { agent, principal, run, session, at } = asked_by
  return (
    <Section title={say('who.title')}>
      <Pairs
        rows={[
          [say('who.principal'), <Said key="p">{principal}</Said>],
          [say('who.agent'), agent === null ? say('who.no_agent') : <Said key="a">{agent}</Said>],
          [
            say('who.session'),
            session === null ? (
              say('who.no_session')
            ) : (
              <Link key="s" to="/sessions/$id" params={{ id: session }}>
                <Said>{session}</Said>
              </Link>
            ),
          ],
          ...(run === null
            ? []
            : ([
                [
                  say('who.run'),
                  <Link key="r" to="/flows/$id" params={{ id: run.run_id }}>
                    <Said>{`${run.run_id} · ${run.node_id}`}</Said>
                  </Link>,
                ],
              ] as const)),
          [say('who.kind'), <Said key="k">{question.kind}</Said>],
          [say('who.bounded'), sayOf(say, 'confinement', confinement ?? '–')],
          [say('who.custody'), `${sayOf(say, 'custody', custody)} · ${stream}`],
          [say('who.since'), <Ago key="t" at={at} />],
          ...approvedRow(),
        ]}
      />
    </Section>
  )

  function approvedRow(): readonly (readonly [string, ReactNode])[] {
    const given = question.approvals?.given ?? []
    return given.length === 0 ? [] : [[say('who.approved'), <ApprovedBy key="y" given={given} />]]
  }
}

function ApprovedBy({ given }: { readonly given: readonly { by: string; at: string }[] }) {
  return given.map(({ by, at }) => (
    <span key={by} className="block">
      <Said>{by}</Said>, <Ago at={at} />
    </span>
  ))
}

function Network({ question }: Asked) {
  const say = useSay()
  const { network, held = [] } = question.result.side_effects
  return (
    <Section title={say('network.title')}>
      {network.length === 0 && <p className="quiet">{say('network.none')}</p>}
      <ul className="hosts">
        {network.map(({ host, port, outcome, method, count = 1, bytes_sent }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the record is never sorted or changed
          <li key={index}>
            <code>
              <Said>{`${method === undefined ? '' : `${method} `}${host}:${port}`}</Said>
            </code>{' '}
            <StatusBadge status={outcome} />{' '}
            <span className="quiet">{say('network.sent', { count, bytes: bytes_sent })}</span>
          </li>
        ))}
      </ul>
      {held.length > 0 && <p className="warns">{say('network.held', { count: held.length })}</p>}
      <ul className="hosts">
        {held.map(({ step_id, method, url, body_bytes, compensation }) => (
          <li key={step_id}>
            <code>
              <Said>{`${method} ${url}`}</Said>
            </code>{' '}
            <span className="quiet">
              {say('diff.bytes', { count: body_bytes })} ·{' '}
              {compensation === undefined ? say('network.final') : say('network.compensated')}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Undo({ question }: Asked) {
  const say = useSay()
  return (
    <Section title={say('undo.title')}>
      <p>
        <UndoWords question={question} />
      </p>
    </Section>
  )
}

function Outcome({ question }: Asked) {
  const say = useSay()
  const { execution, outputs, resources } = question.result
  const text = [outputs.stdout, outputs.stderr].filter((one) => one !== '').join('\n')
  return (
    <Section title={say('outcome.title')}>
      <p>
        <StatusBadge status={execution.status} />{' '}
        <span className="quiet">
          {say('outcome.took', {
            ms: Math.round(resources.duration_ms),
            exit: execution.exit_code ?? '–',
          })}
        </span>
      </p>
      {text !== '' && (
        <details>
          <summary>{say('outcome.output')}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long output is scrolled by keys */}
          <pre className="output" tabIndex={0}>
            <SaidLines>{text}</SaidLines>
          </pre>
        </details>
      )}
    </Section>
  )
}

function Laws({ question }: Asked) {
  const say = useSay()
  const query = useQuery(reads.explanation(question.action_id, question.stream))
  return (
    <Section title={say('laws.fired')}>
      <LawList query={query} />
    </Section>
  )
}

/** The service looks for similar ones, and counts what became of them. */
function Before({ question }: Asked) {
  const say = useSay()
  const query = useQuery(reads.similar(question.id))
  return (
    <Section title={say('before.title')}>
      <Found query={query}>
        {({ looked_at, outcomes, actions }) => (
          <>
            <p className="quiet">
              {outcomes.length === 0
                ? say('before.none', { count: looked_at })
                : say('before.some', {
                    count: looked_at,
                    similar: outcomes.reduce((sum, { count }) => sum + count, 0),
                  })}{' '}
              {outcomes
                .map(({ status, count }) => `${count} ${sayOf(say, 'became', status)}`)
                .join(', ')}
            </p>
            <ul className="before">
              {actions.map(({ action_id, status, what, at }) => (
                <li key={action_id}>
                  <Link to="/actions/$id" params={{ id: action_id }}>
                    {what === question.what ? say('before.same') : <Said>{what}</Said>}
                  </Link>{' '}
                  {sayOf(say, 'became', status)} (<Ago at={at} />)
                </li>
              ))}
            </ul>
          </>
        )}
      </Found>
    </Section>
  )
}
