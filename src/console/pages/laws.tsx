/** The laws in force and what humans granted. Nothing here changes a law. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Badge, PageHead, Press, Section } from '../parts/basics.tsx'
import { Found, Problem } from '../parts/found.tsx'
import { ResumeDialog } from '../parts/resume-dialog.tsx'
import { Said, SaidLines } from '../parts/text.tsx'

export function LawsPage() {
  const say = useSay()
  const query = useQuery(reads.laws())
  const [isResuming, setResuming] = useState(false)
  return (
    <div className="page">
      <PageHead title={say('laws.title')}>
        <Press onPress={() => setResuming(true)}>{say('resume.act')}</Press>
      </PageHead>
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
                    <th>{say('laws.level')}</th>
                    <th>{say('laws.does')}</th>
                    <th>{say('laws.origin')}</th>
                  </tr>
                </thead>
                <tbody>
                  {laws.map(({ policy_id, tier, violation_action, origin }) => (
                    <tr key={policy_id}>
                      <td>
                        <Said>{policy_id}</Said>
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
      <Grants />
      <Trial />
      {isResuming && <ResumeDialog onClose={() => setResuming(false)} />}
    </div>
  )
}

interface Grant {
  readonly grant_id: string
}

function Grants() {
  const say = useSay()
  const query = useQuery(reads.grants())
  const [revoked, setRevoked] = useState<string | null>(null)
  return (
    <Section title={say('grants.title')}>
      <Found query={query}>
        {(grants) => (
          <>
            {grants.length === 0 && <p className="quiet">{say('grants.none')}</p>}
            <ul className="facts">
              {/* The command that lists grants names each by its id. */}
              {(grants as readonly Grant[]).map((grant) => (
                <li key={grant.grant_id} className="fact">
                  <SaidLines>{JSON.stringify(grant, null, 1)}</SaidLines>
                  <Press onPress={() => setRevoked(grant.grant_id)}>{say('grants.revoke')}</Press>
                </li>
              ))}
            </ul>
          </>
        )}
      </Found>
      {revoked !== null && (
        <AskDialog
          title={say('grants.ask')}
          action={say('with_passkey')}
          act={() => proven('revokeGrant', { params: { id: revoked } })}
          onClose={() => setRevoked(null)}
        />
      )}
    </Section>
  )
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
        <div role="status">
          <p>
            {say('laws.tried', {
              count: testing.data.proposals,
              changed: testing.data.changed.length,
            })}
          </p>
          <pre className="output">
            <SaidLines>{JSON.stringify(testing.data.changed, null, 1)}</SaidLines>
          </pre>
        </div>
      )}
    </Section>
  )
}
