/** Small parts that every page uses. */
import { AlertTriangle, Inbox, LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, type ButtonProps } from 'react-aria-components'
import { ProblemError } from '../../api/index.ts'
import { type SayWords, useSay } from '../app/settings.tsx'
import { en, type MessageKey } from '../words/en.ts'
import { Said } from './text.tsx'

export function Press({
  look = 'plain',
  ...props
}: ButtonProps & { readonly look?: 'plain' | 'main' | 'danger' | 'quiet' }) {
  return <Button {...props} className={`press press-${look}`} />
}

export function Badge({ tone, children }: { readonly tone: string; readonly children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>
}

/** A message by a name that the service gave; its own word where the catalogue has none. */
export function sayOf(say: SayWords, family: string, name: string): string {
  const key = `${family}.${name.toLowerCase().replaceAll(/[ -]/g, '_')}`
  return Object.hasOwn(en, key) ? say(key as MessageKey) : name // Just looked up.
}

export function RiskBadge({ risk }: { readonly risk: string }) {
  const say = useSay()
  return <Badge tone={risk.toLowerCase()}>{sayOf(say, 'risk', risk)}</Badge>
}

export function StatusBadge({ status }: { readonly status: string }) {
  const say = useSay()
  return (
    <Badge tone={`is-${status.toLowerCase().replaceAll(' ', '-')}`}>
      {sayOf(say, 'status', status)}
    </Badge>
  )
}

export function Section(props: {
  readonly title: string
  readonly note?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className="section" aria-label={props.title}>
      <h2>
        {props.title}
        {props.note !== undefined && <span className="note">{props.note}</span>}
      </h2>
      {props.children}
    </section>
  )
}

export function PageHead({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ReactNode
}) {
  return (
    <header className="page-head">
      <h1>{title}</h1>
      {children}
    </header>
  )
}

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <div className="empty">
      <Inbox aria-hidden="true" />
      <p className="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  )
}

export function Loading() {
  const say = useSay()
  return (
    <p className="loading" role="status">
      <LoaderCircle aria-hidden="true" /> {say('loading')}
    </p>
  )
}

const NAMES: Readonly<Record<string, MessageKey>> = {
  NotAllowedError: 'problem.passkey_cancelled',
  TypeError: 'problem.unreachable',
}

/** What went wrong, what to do next, and the code last. */
export function Problem({ error }: { readonly error: unknown }) {
  const say = useSay()
  const problem = error instanceof ProblemError ? error.problem : null
  const name = error instanceof Error ? error.name : ''
  const words = problem?.detail ?? say(NAMES[name] ?? 'problem.unexpected')
  return (
    <div className="problem" role="alert">
      <AlertTriangle aria-hidden="true" />
      <div>
        <p className="problem-words">
          <Said>{words}</Said>
        </p>
        {problem?.hint !== undefined && (
          <p>
            <Said>{problem.hint}</Said>
          </p>
        )}
        {problem?.violations?.slice(0, 10).map(({ path, message }) => (
          <p key={`${path} ${message}`}>
            <code>{path}</code> <Said>{message}</Said>
          </p>
        ))}
        <p className="code">{problem?.code ?? name}</p>
      </div>
    </div>
  )
}

interface Asked {
  readonly isPending: boolean
  readonly error: unknown
  readonly data?: unknown
}

/** Shows what a query found, or that it is under way, or why it failed. */
export function Found<T>({
  query,
  children,
}: {
  readonly query: Asked & { readonly data: T | undefined }
  readonly children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error !== null) return <Problem error={query.error} />
  return <Loading />
}

/** Names and values, one a line. */
export function Pairs({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="pairs">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
