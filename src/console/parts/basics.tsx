/** Small parts that every page uses. */
import { Inbox, LoaderCircle } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { type SayWords, useSay } from '../app/settings.tsx'
import { en, type MessageKey } from '../words/en.ts'

interface PressProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'onClick'> {
  readonly look?: 'plain' | 'main' | 'danger' | 'quiet'
  readonly isDisabled?: boolean
  /** What it began is under way: it keeps the focus and does nothing. */
  readonly isPending?: boolean
  readonly onPress?: () => void
}

export function Press(props: PressProps) {
  const { look = 'plain', isDisabled = false, isPending = false, onPress, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      className={`press press-${look}`}
      disabled={isDisabled}
      aria-disabled={isPending || undefined}
      onClick={(event) => {
        if (isPending) event.preventDefault()
        else onPress?.()
      }}
    />
  )
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
