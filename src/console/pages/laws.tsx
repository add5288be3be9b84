/** The laws in force, why a decision was made, and what another text would have decided. Nothing here acts. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { visible } from '../../base/index.ts'
import { reads } from '../app/queries.ts'
import { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { Badge, PageHead, Press, Section, sayOf } from '../parts/basics.tsx'
import { Found, Problem } from '../parts/found.tsx'
import { LawList } from '../parts/law-list.tsx'
import { Said } from '../parts/text.tsx'

export function LawsPage() {
  const say = useSay()
  const query = useQuery(reads.laws())
  return (
    <div className="page">
      <PageHead title={say('laws.title')} />
      <Found query={query}>
        {({ laws, in_force }) => (
          <Section
            title={say('laws.in_force')}
            note={in_force === true ? say('laws.accepted') : say('laws.not_accepted')}
          >
            <div className="scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>{say('laws.law')}</th>
                    <th>{say('laws.says')}</th>
                    <th>{say('laws.level')}</th>
                    <th>{say('laws.does')}</th>
                    <th>{say('laws.origin')}</th>
                  </tr>
                </thead>
                <tbody>
                  {laws.map(({ policy_id, text = '', tier, violation_action, origin }) => (
                    <tr key={policy_id}>
                      <td>
                        <Said>{policy_id}</Said>
                      </td>
                      <td className="law-words">
                        <Said>{text}</Said>
                      </td>
                      <td>{tier}</td>
                      <td>
                        <Badge tone={violation_action === 'block' ? 'critical' : 'medium'}>
                          {violation_action}
                        </Badge>
                      </td>
                      <td>
                        <Said>{origin}</Said>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Section>
        )}
      </Found>
      <Explain />
      <Trial />
    </div>
  )
}

const RECENT = 50

/** Which laws and values decided about one of the newest actions. */
function Explain() {
  const say = useSay()
  const { data: actions = [] } = useQuery(reads.actions(RECENT))
  const [chosen, setChosen] = useState('')
  const act = actions.find(({ action_id }) => action_id === chosen)
  return (
    <Section title={say('laws.explain')}>
      <label className="field">
        {say('laws.action')}
        <select value={chosen} onChange={(event) => setChosen(event.target.value)}>
          <option value="">–</option>
          {actions.map(({ action_id, status, what }) => (
            <option key={action_id} value={action_id}>
              {`${visible(what ?? action_id)} (${sayOf(say, 'status', status)})`}
            </option>
          ))}
        </select>
      </label>
      {act !== undefined && <Explained id={act.action_id} stream={act.stream} />}
    </Section>
  )
}

function Explained({ id, stream }: { readonly id: string; readonly stream: string }) {
  const query = useQuery(reads.explanation(id, stream))
  return <LawList query={query} showsRemedies />
}

interface ChangedDecision {
  readonly action_id: string
  readonly from: string
  readonly to: string
  readonly policy_id: string | null
}

/** What would have changed over past proposals, if a text were the law. */
function Trial() {
  const say = useSay()
  const [text, setText] = useState('')
  const testing = useMutation({
    mutationFn: async () => (await client.testLaws({ body: { laws: text } })).value,
  })
  return (
    <Section title={say('laws.trial')}>
      <p className="quiet">{say('laws.trial_says')}</p>
      <TextField value={text} onChange={setText} className="field">
        <Label>{say('laws.text')}</Label>
        <TextArea rows={6} spellCheck="false" />
      </TextField>
      <Press
        isDisabled={text.trim() === ''}
        isPending={testing.isPending}
        onPress={() => testing.mutate()}
      >
        {say('laws.try')}
      </Press>
      {testing.error !== null && <Problem error={testing.error} />}
      {testing.data !== undefined && (
        <Tried
          proposals={testing.data.proposals}
          // The command that tries laws names these of each decision.
          changed={testing.data.changed as readonly ChangedDecision[]}
        />
      )}
    </Section>
  )
}

interface TriedProps {
  readonly proposals: number
  readonly changed: readonly ChangedDecision[]
}

function Tried({ proposals, changed }: TriedProps) {
  const say = useSay()
  const { data: actions = [] } = useQuery(reads.actions(ACTIONS_MAX))
  const names = new Map(actions.map(({ action_id, what }) => [action_id, what]))
  return (
    <div role="status">
      <p>{say('laws.tried', { count: proposals, changed: changed.length })}</p>
      {changed.length > 0 && (
        <div className="scroll">
          <table className="table">
            <thead>
              <tr>
                <th>{say('laws.action')}</th>
                <th>{say('laws.was')}</th>
                <th>{say('laws.would')}</th>
                <th>{say('laws.because')}</th>
              </tr>
            </thead>
            <tbody>
              {changed.slice(0, ROWS_MAX).map(({ action_id, from, to, policy_id }) => (
                <tr key={action_id}>
                  <td>
                    <Link to="/actions/$id" params={{ id: action_id }}>
                      <Said>{names.get(action_id) ?? action_id}</Said>
                    </Link>
                  </td>
                  <td>{from}</td>
                  <td>{to}</td>
                  <td>
                    <Said>{policy_id ?? '–'}</Said>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {changed.length > ROWS_MAX && (
        <p className="quiet">{say('more', { count: changed.length - ROWS_MAX })}</p>
      )}
    </div>
  )
}

const ACTIONS_MAX = 200
const ROWS_MAX = 100
