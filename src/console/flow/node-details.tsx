/** One node of a run: its state, what it made, what that would change, and what was said about it. */
import { useQuery } from '@tanstack/react-query'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Pairs, Section, StatusBadge, sayOf } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { PathName, Said, SaidLines } from '../parts/text.tsx'

interface Artifact {
  readonly path: string
  readonly content: string
}

interface StagedChange {
  readonly path: string
  readonly change: string
}

export function NodeDetails({ run, node }: { readonly run: string; readonly node: string }) {
  const say = useSay()
  const query = useQuery(reads.node(run, node))
  return (
    <Section title={say('flow.details')}>
      <Found query={query}>
        {(shown) => (
          <>
            <Pairs
              rows={[
                [say('flow.node'), <Said key="t">{shown.title}</Said>],
                [say('flow.kind'), <Said key="k">{shown.kind}</Said>],
                [say('flow.status'), <StatusBadge key="s" status={shown.status} />],
                [say('flow.attempts'), shown.attempts],
              ]}
            />
            {/* The command that shows a node answers with these fields. */}
            <Made artifact={shown.artifact as Artifact | null} />
            <Staged changes={shown.changes as readonly StagedChange[]} />
          </>
        )}
      </Found>
    </Section>
  )
}

function Made({ artifact }: { readonly artifact: Artifact | null }) {
  const say = useSay()
  return (
    <>
      <h3>{say('flow.artifact')}</h3>
      {artifact === null ? (
        <p className="quiet">{say('flow.no_artifact')}</p>
      ) : (
        <>
          <p>
            <PathName path={artifact.path} />
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys */}
          <pre className="output" tabIndex={0}>
            <SaidLines>{artifact.content}</SaidLines>
          </pre>
        </>
      )}
    </>
  )
}

function Staged({ changes }: { readonly changes: readonly StagedChange[] }) {
  const say = useSay()
  if (changes.length === 0) return null
  return (
    <>
      <h3>{say('flow.staged')}</h3>
      <ul className="listed">
        {changes.map(({ path, change }) => (
          <li key={path}>
            <strong className={change}>{sayOf(say, 'change', change)}</strong>{' '}
            <PathName path={path} />
          </li>
        ))}
      </ul>
    </>
  )
}
