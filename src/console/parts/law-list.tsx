/** The laws that spoke about an action, with the values that decided. */
import { useSay } from '../app/settings.tsx'
import { Badge } from './basics.tsx'
import { Found } from './found.tsx'
import { Said } from './text.tsx'

interface ExplainedLaw {
  readonly policy_id: string
  readonly tier: number
  readonly action: string
  readonly state: string
  readonly text?: string
  readonly policy_expr: string | null
  readonly deciding: readonly { readonly path: string; readonly value: unknown }[] | null
}

interface Remedy {
  readonly says: string
  readonly command?: string
}

interface Explained {
  readonly laws: readonly unknown[]
  readonly human: readonly unknown[]
}

interface LawListProps {
  readonly query: {
    readonly isPending: boolean
    readonly error: unknown
    readonly data: Explained | undefined
  }
  readonly showsRemedies?: boolean
}

export function LawList({ query, showsRemedies = false }: LawListProps) {
  const say = useSay()
  return (
    <Found query={query}>
      {({ laws, human }) => (
        <>
          {laws.length === 0 && <p className="quiet">{say('laws.none_fired')}</p>}
          <ul className="laws">
            {/* The command that explains answers with these fields. */}
            {(laws as readonly ExplainedLaw[]).map((law) => (
              <LawRow key={law.policy_id} law={law} />
            ))}
          </ul>
          {/* As above. */}
          {showsRemedies && <Remedies human={human as readonly Remedy[]} />}
        </>
      )}
    </Found>
  )
}

/** Whether the condition is no more than the one value that decided, which it then says already. */
function isSaid(
  condition: string | null,
  deciding: NonNullable<ExplainedLaw['deciding']>,
): boolean {
  const [one, ...more] = deciding
  if (condition === null || one === undefined || more.length > 0) return false
  return condition.replaceAll("'", '"') === `${one.path} == ${JSON.stringify(one.value)}`
}

function LawRow({ law }: { readonly law: ExplainedLaw }) {
  const say = useSay()
  const { policy_id, tier, action, text, policy_expr, deciding } = law
  return (
    <li>
      <p>
        <Badge tone={action === 'block' ? 'critical' : 'medium'}>
          {say('laws.tier', { tier })}
        </Badge>{' '}
        <strong>
          <Said>{policy_id}</Said>
        </strong>{' '}
        {text !== undefined && <Said>{text}</Said>}
      </p>
      {policy_expr !== null && (
        <code className="expression">
          <Said>{policy_expr}</Said>
        </code>
      )}
      {deciding !== null && deciding.length > 0 && !isSaid(policy_expr, deciding) && (
        <ul className="deciding" aria-label={say('laws.values')}>
          {deciding.map(({ path, value }) => (
            <li key={path}>
              <code>
                <Said>{`${path} = ${JSON.stringify(value)}`}</Said>
              </code>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function Remedies({ human }: { readonly human: readonly Remedy[] }) {
  const say = useSay()
  if (human.length === 0) return null
  return (
    <>
      <h3>{say('laws.remedies')}</h3>
      <ul>
        {human.map(({ says, command }) => (
          <li key={says}>
            <Said>{says}</Said> {command !== undefined && <code>{command}</code>}
          </li>
        ))}
      </ul>
    </>
  )
}
