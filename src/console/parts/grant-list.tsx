/** What people granted with "always": each is narrow, ends by itself, and can be taken back here. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { reads } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from './ask-dialog.tsx'
import { Press, Section } from './basics.tsx'
import { Found } from './found.tsx'
import { Ago, Said } from './text.tsx'

interface Grant {
  readonly grant_id: string
  /** The question that was answered with it. */
  readonly action_id: string
  readonly agent: string
  readonly glob: string
  readonly given_at: string
  readonly uses: number
  readonly used: number
  readonly until: string
}

export function GrantList() {
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
              {/* The command that lists grants answers with these fields. */}
              {(grants as readonly Grant[]).map((grant) => (
                <li key={grant.grant_id} className="fact">
                  <strong>
                    <Said>{grant.agent}</Said>
                  </strong>{' '}
                  {say('grants.may')}{' '}
                  <code>
                    <Said>{grant.glob}</Said>
                  </code>{' '}
                  <span className="quiet">
                    {say('grants.used', { used: grant.used, uses: grant.uses })} ·{' '}
                    {say('grants.ends')} <Ago at={grant.until} /> ·{' '}
                    <Link to="/actions/$id" params={{ id: grant.action_id }}>
                      {say('grants.given')} <Ago at={grant.given_at} />
                    </Link>
                  </span>{' '}
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
