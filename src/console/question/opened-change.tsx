/** One path of a question as it is and as it would be: its difference, or its pictures. */
import { useQuery } from '@tanstack/react-query'
import { Columns2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Loading, Press } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { PathName, Said } from '../parts/text.tsx'
import { hexLines } from './hex-lines.ts'
import { RunsLater } from './later.tsx'
import { named, type WholeQuestion } from './question.ts'

const DiffText = lazy(async () => ({ default: (await import('./diff-text.tsx')).DiffText }))

export function OpenedChange({
  question,
  path,
}: {
  readonly question: WholeQuestion
  readonly path: string
}) {
  const say = useSay()
  const change = question.changes.find((one) => one.path === path)
  const query = useQuery(reads.change(question.id, question.result_digest, path))
  return (
    <section className="opened" aria-label={say('diff.label')}>
      <p className="opened-head">
        <PathName path={change === undefined ? path : named(change)} />
      </p>
      {change?.deferred === true && (
        <p className="warns">
          <RunsLater question={question} change={change} />
        </p>
      )}
      <Found query={query}>
        {({ before, after }) => <Sides before={before} after={after} path={path} />}
      </Found>
    </section>
  )
}

type Side = NonNullable<Awaited<ReturnType<ReturnType<typeof reads.change>['queryFn']>>['before']>

function Sides(props: {
  readonly before: Side | null
  readonly after: Side | null
  readonly path: string
}) {
  const say = useSay()
  const { before, after } = props
  const notes = [before, after].flatMap((side) =>
    side?.note == null ? [] : [say(`diff.${side.note}`)],
  )
  const [isBeside, setBeside] = useState(false)
  const isCompared = before?.text != null && after?.text != null
  const isText = [before, after].every((side) => side === null || side.text !== null)
  return (
    <>
      <p className="quiet sides">
        <SideWords name={say('diff.before')} side={before} />
        {' → '}
        <SideWords name={say('diff.after')} side={after} />
        {[...new Set(notes)].map((note) => (
          <span key={note} className="warns">
            {note}
          </span>
        ))}
      </p>
      <Pictures before={before} after={after} />
      <Bytes name={say('diff.before')} side={before} />
      <Bytes name={say('diff.after')} side={after} />
      {isText && (
        <>
          {isCompared && (
            <Press look="quiet" onPress={() => setBeside(!isBeside)}>
              <Columns2 aria-hidden="true" /> {say(isBeside ? 'diff.unified' : 'diff.beside')}
            </Press>
          )}
          <Suspense fallback={<Loading />}>
            <DiffText
              before={before?.text ?? ''}
              after={after?.text ?? ''}
              label={say('diff.label')}
              isBeside={isCompared && isBeside}
            />
          </Suspense>
        </>
      )}
    </>
  )
}

/** The first bytes of what is no text, as a hex editor shows them. */
function Bytes({ name, side }: { readonly name: string; readonly side: Side | null }) {
  const say = useSay()
  if (side?.hex == null || side.hex === '') return null
  const label = say('diff.bytes_of', { name, count: side.hex.length / 2 })
  return (
    <figure className="bytes">
      <figcaption className="quiet">{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys */}
      <pre className="output" tabIndex={0}>
        {hexLines(side.hex)}
      </pre>
    </figure>
  )
}

/** A picture is shown as the browser shows one; it comes with the answer and loads nothing. */
function Pictures({
  before,
  after,
}: {
  readonly before: Side | null
  readonly after: Side | null
}) {
  const say = useSay()
  const shown = (
    [
      ['diff.before', before],
      ['diff.after', after],
    ] as const
  ).flatMap(([key, side]) => (side?.image == null ? [] : [{ name: say(key), image: side.image }]))
  if (shown.length === 0) return null
  return (
    <div className="pictures">
      {shown.map(({ name, image }) => (
        <figure key={name}>
          <img src={image} alt={name} />
          <figcaption>{name}</figcaption>
        </figure>
      ))}
    </div>
  )
}

function SideWords({ name, side }: { readonly name: string; readonly side: Side | null }) {
  const say = useSay()
  if (side === null) return <span>{`${name}: ${say('diff.nothing')}`}</span>
  const { kind, mode, bytes, target } = side
  return (
    <span>
      {`${name}: ${kind} ${mode}, ${say('diff.bytes', { count: bytes })}`}
      {target !== null && <Said>{` → ${target}`}</Said>}
    </span>
  )
}
