/** The report of a run for people: each way with the values that its guard read, versions, reviews, totals. */
import { useQuery } from '@tanstack/react-query'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Badge, Pairs, Press, Section } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Ago, Said, SaidLines } from '../parts/text.tsx'
import { Artifacts, type AttemptAnswer, Attempts, type NodeArtifact } from './run-attempts.tsx'

interface Transition {
  readonly edge_id: string
  readonly seq: number
  readonly at: string
  readonly source: string
  readonly target: string
  readonly guard: string | null
  readonly values: Readonly<Record<string, unknown>>
  readonly result: string
  readonly fired: boolean
}

interface Review {
  readonly seq: number
  readonly node_title: string
  readonly check_title: string
  readonly verdict: string
  readonly score: number
  readonly summary: string
  readonly at: string
}

interface VersionDiff {
  readonly node_id: string
  readonly path: string
  readonly seq: number
  readonly lines: readonly string[]
}

/** The fields of the report that people look at first; all of it can be saved. */
interface RunReport {
  readonly totals: {
    readonly attempts: number
    readonly seconds: number
    readonly tokens: number
    readonly toolCalls: number
    readonly rejections: number
  }
  readonly transitions: readonly Transition[]
  readonly reviews: readonly Review[]
  readonly outputs: readonly AttemptAnswer[]
  readonly artifacts: readonly NodeArtifact[]
  readonly diffs: readonly VersionDiff[]
}

export function Report({ run }: { readonly run: string }) {
  const query = useQuery(reads.report(run))
  return (
    <Found query={query}>
      {(answered) => {
        const report = answered as unknown as RunReport // What `writ flow report --json` prints.
        return (
          <>
            <Ways transitions={report.transitions} />
            <Attempts outputs={report.outputs} />
            <Reviews reviews={report.reviews} />
            <Artifacts artifacts={report.artifacts} />
            <Versions diffs={report.diffs} />
            <Totals report={report} run={run} />
          </>
        )
      }}
    </Found>
  )
}

function Ways({ transitions }: { readonly transitions: readonly Transition[] }) {
  const say = useSay()
  return (
    <Section title={say('flow.ways')}>
      {transitions.length === 0 && <p className="quiet">{say('flow.no_ways')}</p>}
      <ol className="facts">
        {transitions.map(({ edge_id, seq, at, source, target, guard, values, result, fired }) => (
          <li key={seq} className="fact">
            <Badge tone={fired ? 'low' : 'medium'}>{say(fired ? 'flow.taken' : 'flow.shut')}</Badge>{' '}
            <strong>
              <Said>{`${source} → ${target}`}</Said>
            </strong>{' '}
            <span className="quiet">
              <Said>{edge_id}</Said> <Ago at={at} />
            </span>
            {guard !== null && (
              <code className="expression">
                <Said>{`${guard} = ${result}`}</Said>
              </code>
            )}
            <ul className="deciding" aria-label={say('flow.values')}>
              {Object.entries(values).map(([path, value]) => (
                <li key={path}>
                  <code>
                    <Said>{`${path} = ${JSON.stringify(value)}`}</Said>
                  </code>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function Reviews({ reviews }: { readonly reviews: readonly Review[] }) {
  const say = useSay()
  if (reviews.length === 0) return null
  return (
    <Section title={say('flow.reviews')}>
      <ul className="reasons">
        {reviews.map(({ seq, node_title, check_title, verdict, score, summary, at }) => (
          <li key={seq}>
            <Badge tone={verdict === 'APPROVE' ? 'low' : 'high'}>{`${verdict} ${score}`}</Badge>{' '}
            <Said>{`${check_title} → ${node_title}`}</Said>{' '}
            <span className="quiet">
              <Ago at={at} />
            </span>
            <p>
              <Said>{summary}</Said>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Each later version of an artifact against the one before it. */
function Versions({ diffs }: { readonly diffs: readonly VersionDiff[] }) {
  const say = useSay()
  if (diffs.length === 0) return null
  return (
    <Section title={say('flow.versions')}>
      {diffs.map(({ node_id, path, seq, lines }) => (
        <figure key={seq} className="version">
          <figcaption>
            <strong>
              <Said>{node_id}</Said>
            </strong>{' '}
            <Said>{path}</Said>
          </figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys */}
          <pre className="output" tabIndex={0}>
            {lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: recorded lines keep their places
              <span key={index} className={`line line-${SIGNS[line.charAt(0)] ?? 'same'}`}>
                <SaidLines>{line}</SaidLines>
              </span>
            ))}
          </pre>
        </figure>
      ))}
    </Section>
  )
}

const SIGNS: Readonly<Record<string, string>> = { '+': 'added', '-': 'deleted' }

function Totals({ report, run }: { readonly report: RunReport; readonly run: string }) {
  const say = useSay()
  const { attempts, seconds, tokens, toolCalls, rejections } = report.totals
  return (
    <Section title={say('flow.report')}>
      <Pairs
        rows={[
          [say('flow.attempts'), attempts],
          [say('flow.seconds'), seconds.toFixed(1)],
          [say('session.tokens'), tokens],
          [say('flow.tools'), toolCalls],
          [say('flow.rejections'), rejections],
        ]}
      />
      <Press onPress={() => save(`${run}.json`, JSON.stringify(report, null, 2))}>
        {say('flow.save')}
      </Press>
    </Section>
  )
}

function save(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
