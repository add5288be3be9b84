/** What participants answered attempt by attempt, and the versions of what they made. */
import { useSay } from '../app/settings.tsx'
import { Badge, Section } from '../parts/basics.tsx'
import { Ago, PathName, Said } from '../parts/text.tsx'

export interface AttemptAnswer {
  readonly seq: number
  readonly at: string
  readonly node_id: string
  /** Whether it could be read as an answer. */
  readonly valid: boolean
  readonly kind: string | null
  readonly errors: readonly unknown[] | null
}

export function Attempts({ outputs }: { readonly outputs: readonly AttemptAnswer[] }) {
  const say = useSay()
  if (outputs.length === 0) return null
  return (
    <Section title={say('flow.outputs')}>
      <ol className="facts">
        {outputs.map(({ seq, at, node_id, valid, kind, errors }) => (
          <li key={seq} className="fact">
            <Badge tone={valid ? 'low' : 'high'}>
              {say(valid ? 'flow.output_valid' : 'flow.output_invalid')}
            </Badge>{' '}
            <strong>
              <Said>{node_id}</Said>
            </strong>{' '}
            <Said>{kind ?? ''}</Said>{' '}
            <span className="quiet">
              <Ago at={at} />
            </span>
            {errors !== null && errors.length > 0 && (
              <p>
                <Said>{errors.map((error) => wordsOf(error)).join('; ')}</Said>
              </p>
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}

function wordsOf(error: unknown): string {
  return typeof error === 'string' ? error : JSON.stringify(error)
}

interface Version {
  readonly path: string
  readonly digest: string
  readonly seq: number
}

export interface NodeArtifact {
  readonly node_id: string
  readonly versions: readonly Version[]
  readonly approved: Version | null
}

const SHOWN_DIGITS = 19

export function Artifacts({ artifacts }: { readonly artifacts: readonly NodeArtifact[] }) {
  const say = useSay()
  const made = artifacts.filter(({ versions }) => versions.length > 0)
  if (made.length === 0) return null
  return (
    <Section title={say('flow.artifacts')}>
      <ul className="facts">
        {made.flatMap(({ node_id, versions, approved }) =>
          versions.map(({ path, digest, seq }, index) => (
            <li key={`${node_id} ${seq}`} className="fact">
              <strong>
                <Said>{node_id}</Said>
              </strong>{' '}
              {say('flow.version', { number: index + 1 })} <PathName path={path} />{' '}
              <code>{digest.slice(0, SHOWN_DIGITS)}</code>{' '}
              {approved?.seq === seq && <Badge tone="low">{say('flow.version_approved')}</Badge>}
            </li>
          )),
        )}
      </ul>
    </Section>
  )
}
