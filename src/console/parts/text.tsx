/** Texts and names that come from actors or files: unseen characters are written out, never obeyed. */
import { useEffect, useState } from 'react'
import { FormattedDate, FormattedRelativeTime } from 'react-intl'
import { visible, visibleName } from '../../base/index.ts'

/** A text of one line that an actor wrote. */
export function Said({ children }: { readonly children: string }) {
  return <bdi>{visible(children)}</bdi>
}

/** Several lines that an actor or a command wrote. */
export function SaidLines({ children }: { readonly children: string }) {
  return <bdi className="lines">{visibleLines(children)}</bdi>
}

export function visibleLines(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .split('\t')
        .map((cell) => visible(cell))
        .join('\t'),
    )
    .join('\n')
}

/** The name of a file; the last part is what people look for. */
export function PathName({ path }: { readonly path: string }) {
  const shown = visibleName(path)
  const cut = shown.lastIndexOf('/') + 1
  return (
    <bdi className="path">
      <span className="path-folder">{shown.slice(0, cut)}</span>
      <span className="path-name">{shown.slice(cut)}</span>
    </bdi>
  )
}

/** One for all: making one takes longer than using it. */
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LOOK_MS = 20_000

/** How far a moment is from now, with the local time as its title. */
export function Ago({ at }: { readonly at: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_MS)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.round((Date.parse(at) - now) / 1000)
  const size = Math.abs(seconds)
  const [value, unit] =
    size < MINUTE
      ? ([Math.sign(seconds) * size, 'second'] as const)
      : size < HOUR
        ? ([Math.round(seconds / MINUTE), 'minute'] as const)
        : size < 2 * DAY
          ? ([Math.round(seconds / HOUR), 'hour'] as const)
          : ([Math.round(seconds / DAY), 'day'] as const)
  return (
    <time dateTime={at} title={LOCAL.format(new Date(at))}>
      <FormattedRelativeTime value={value} unit={unit} numeric="auto" />
    </time>
  )
}

export function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      <FormattedDate value={at} dateStyle="medium" timeStyle="medium" />
    </time>
  )
}
