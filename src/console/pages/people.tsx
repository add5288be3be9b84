/** Who is registered, with which passkeys and tokens, and what people granted. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reads } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { PageHead, Press, Section, StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { GrantList } from '../parts/grant-list.tsx'
import { Ago, Coded, Said } from '../parts/text.tsx'

type Order =
  | { readonly route: 'removePasskey'; readonly id: string }
  | { readonly route: 'revokeToken'; readonly id: string }

interface OrderProps {
  readonly onOrder: (order: Order) => void
}

export function PeoplePage() {
  const say = useSay()
  const [order, setOrder] = useState<Order | null>(null)
  return (
    <div className="page">
      <PageHead title={say('people.title')} />
      <Principals />
      <Passkeys onOrder={setOrder} />
      <Tokens onOrder={setOrder} />
      <GrantList />
      <Witnesses />
      {order !== null && (
        <AskDialog
          title={say(`people.ask.${order.route}`)}
          action={say('with_passkey')}
          look="danger"
          act={() => proven(order.route, { params: { id: order.id } })}
          onClose={() => setOrder(null)}
        />
      )}
    </div>
  )
}

interface Witness {
  readonly name: string
  readonly url?: string
}

function Witnesses() {
  const say = useSay()
  const query = useQuery(reads.witnesses())
  return (
    <Section title={say('people.witnesses')}>
      <Found query={query}>
        {(witnesses) =>
          witnesses.length === 0 ? (
            <p className="quiet">
              <Coded>{say('people.no_witnesses')}</Coded>
            </p>
          ) : (
            <ul className="facts">
              {/* The command that lists witnesses answers with these fields. */}
              {(witnesses as readonly Witness[]).map(({ name, url = '' }) => (
                <li key={name} className="fact">
                  <Said>{name}</Said>{' '}
                  <code>
                    <Said>{url}</Said>
                  </code>
                </li>
              ))}
            </ul>
          )
        }
      </Found>
    </Section>
  )
}

function Principals() {
  const say = useSay()
  const query = useQuery(reads.principals())
  const { data: passkeys = [] } = useQuery(reads.passkeys())
  const keysOf = (name: string): number =>
    passkeys.filter((one) => one.removed_at === null && nameOf(one.principal) === name).length
  return (
    <Section title={say('people.principals')}>
      <Found query={query}>
        {({ principals }) => (
          <div className="scroll">
            <table className="table">
              <thead>
                <tr>
                  <th>{say('people.name')}</th>
                  <th>{say('people.credential')}</th>
                  <th>{say('people.tokens')}</th>
                </tr>
              </thead>
              <tbody>
                {principals.map(({ credential, tokens, ...principal }) => {
                  const name = nameOf(principal)
                  const keys = keysOf(name)
                  return (
                    <tr key={name}>
                      <td>
                        <Said>{name}</Said>
                      </td>
                      <td>
                        <Said>{credential}</Said>
                        {keys > 0 && `, ${say('people.passkey_count', { count: keys })}`}
                      </td>
                      <td>{tokens}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </div>
        )}
      </Found>
      <p className="quiet">{say('people.add')}</p>
    </Section>
  )
}

function nameOf({ kind, id, namespace }: Record<'kind' | 'id' | 'namespace', string>): string {
  return `${kind}:${id}@${namespace}`
}

function Passkeys({ onOrder }: OrderProps) {
  const say = useSay()
  const query = useQuery(reads.passkeys())
  return (
    <Section title={say('people.passkeys')}>
      <Found query={query}>
        {(passkeys) => (
          <ul className="facts">
            {passkeys.map(({ passkey_id, name, added_at, removed_at }) => (
              <li key={passkey_id} className="fact">
                <strong>
                  <Said>{name}</Said>
                </strong>{' '}
                <Ago at={added_at} />{' '}
                {removed_at === null ? (
                  <Press
                    look="quiet"
                    onPress={() => onOrder({ route: 'removePasskey', id: passkey_id })}
                  >
                    {say('people.remove')}
                  </Press>
                ) : (
                  <StatusBadge status="revoked" />
                )}
              </li>
            ))}
          </ul>
        )}
      </Found>
    </Section>
  )
}

function Tokens({ onOrder }: OrderProps) {
  const say = useSay()
  const query = useQuery(reads.tokens())
  return (
    <Section title={say('people.tokens')}>
      <Found query={query}>
        {(tokens) => (
          <ul className="facts">
            {tokens.length === 0 && <li className="quiet">{say('people.no_tokens')}</li>}
            {tokens.map(({ token_id, principal, created_at, scopes, status, use }) => (
              <li key={token_id} className="fact">
                <Said>{nameOf(principal)}</Said>{' '}
                {use === 'browser' && <span className="quiet">{say('people.browser')} </span>}
                <code>{token_id}</code> <StatusBadge status={status} /> <Ago at={created_at} />{' '}
                {scopes !== null && <Said>{scopes.join(', ')}</Said>}{' '}
                {status !== 'revoked' && (
                  <Press
                    look="quiet"
                    onPress={() => onOrder({ route: 'revokeToken', id: token_id })}
                  >
                    {say('people.revoke')}
                  </Press>
                )}
              </li>
            ))}
          </ul>
        )}
      </Found>
    </Section>
  )
}
