/** One action: its steps with times, what it changed, why it was decided so, its facts and proofs; undo. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { ActDocument } from '../../api/index.ts'
import { useKeys } from '../app/keys.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import type { ShownFact } from '../ledger/search.ts'
import { actPaths } from '../parts/act-paths.ts'
import { Empty, Pairs, Press, Section, StatusBadge } from '../parts/basics.tsx'
import { FactRow } from '../parts/fact-row.tsx'
import { Found } from '../parts/found.tsx'
import { LawList } from '../parts/law-list.tsx'
import { Moment, PathName, Said, SaidLines } from '../parts/text.tsx'
import { UndoDialog } from '../parts/undo-dialog.tsx'
import type { MessageKey } from '../words/en.ts'

export function ActionPage() {
  const { id } = useParams({ from: '/inside/actions/$id' })
  const query = useQuery(reads.action(id))
  return <Found query={query}>{(act) => <WholeAction act={act} />}</Found>
}

function WholeAction({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  const [isUndoing, setUndoing] = useState(false)
  const canUndo = act.status === 'promoted'
  useKeys({ u: () => canUndo && setUndoing(true) })
  return (
    <div className="page">
      <p className="crumb">
        <Link to="/actions">
          <ArrowLeft aria-hidden="true" /> {say('nav.actions')}
        </Link>
      </p>
      <header className="page-head">
        <h1>
          <StatusBadge status={act.status} /> <Said>{act.what ?? act.action_id}</Said>
        </h1>
        {canUndo && (
          <Press onPress={() => setUndoing(true)}>
            <Undo2 aria-hidden="true" /> {say('undo')} <kbd>u</kbd>
          </Press>
        )}
      </header>
      <div className="action-columns">
        <div>
          <Steps act={act} />
          <Touched act={act} />
        </div>
        <div>
          <About act={act} />
          <Explained act={act} />
          <FactsOf act={act} />
        </div>
      </div>
      {isUndoing && <UndoDialog act={act} onClose={() => setUndoing(false)} />}
    </div>
  )
}

interface Step {
  readonly name: MessageKey
  readonly at: string
  readonly words: string
}

/** The steps that the facts of an action tell, in the order of its life. */
function stepsOf({
  proposal,
  result,
  decision,
  answers,
  promotion,
  requests,
  rollback,
}: ActDocument): readonly Step[] {
  const steps: Step[] = []
  const add = (name: MessageKey, at: string, words: string): number =>
    steps.push({ name, at, words })
  if (proposal !== null) add('step.proposed', proposal.at, `${proposal.by.kind}:${proposal.by.id}`)
  if (result !== null) {
    const { execution } = result.payload
    add('step.rehearsed', execution.started_at, '')
    add('step.ended', execution.ended_at, execution.status)
    add('step.compared', result.at, '')
  }
  if (decision !== null)
    add('step.decided', decision.at, `${decision.payload.decision} ${decision.payload.code}`)
  for (const answer of answers) {
    if (answer === null) continue
    add('step.answered', answer.at, `${answer.payload.answer} · ${answer.by.kind}:${answer.by.id}`)
  }
  if (promotion !== null) add('step.promoted', promotion.at, '')
  for (const request of requests)
    if (request !== null) add('step.sent', request.at, request.payload.state)
  if (rollback !== null) add('step.undone', rollback.at, `${rollback.by.kind}:${rollback.by.id}`)
  return steps
}

function Steps({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  return (
    <Section title={say('steps.title')}>
      <ol className="steps">
        {stepsOf(act).map(({ name, at, words }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: recorded steps keep their places
          <li key={index}>
            <span className="step-name">{say(name)}</span> <Said>{words}</Said>
            <span className="quiet">
              <Moment at={at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

const PATHS_MAX = 100

function Touched({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  const paths = act.promotion === null ? [] : actPaths(act)
  const total = act.promotion?.payload.paths ?? 0
  return (
    <Section title={say('touched.title')}>
      {paths.length === 0 && <Empty title={say('touched.none')}>{say('touched.none_says')}</Empty>}
      <ul className="listed">
        {paths.slice(0, PATHS_MAX).map((path) => (
          <li key={path}>
            <PathName path={path} />
          </li>
        ))}
      </ul>
      {total > PATHS_MAX && (
        <p>{say('more', { count: total - Math.min(paths.length, PATHS_MAX) })}</p>
      )}
    </Section>
  )
}

function About({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  const { descriptor } = act.proposal?.payload ?? {}
  return (
    <Section title={say('about.title')}>
      <Pairs
        rows={[
          [
            say('about.by'),
            <Said key="b">{`${act.by.kind}:${act.by.id}@${act.by.namespace}`}</Said>,
          ],
          [say('about.id'), <code key="i">{act.action_id}</code>],
          [say('about.stream'), <Said key="s">{act.stream}</Said>],
          [
            say('question.own_words'),
            <SaidLines key="w">{descriptor?.intent_summary ?? '–'}</SaidLines>,
          ],
        ]}
      />
    </Section>
  )
}

function Explained({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  const query = useQuery(reads.explanation(act.action_id, act.stream))
  return (
    <Section title={say('laws.fired')}>
      <LawList query={query} showsRemedies />
    </Section>
  )
}

function FactsOf({ act }: { readonly act: ActDocument }) {
  const say = useSay()
  const query = useQuery(reads.factsOf(act.stream, act.action_id))
  return (
    <Section title={say('facts.title')}>
      <Found query={query}>
        {(facts) => (
          <ul className="facts">
            {/* The service lists facts with these fields. */}
            {(facts as readonly ShownFact[]).map((fact) => (
              <FactRow key={fact.seq} stream={act.stream} fact={fact} />
            ))}
          </ul>
        )}
      </Found>
    </Section>
  )
}
