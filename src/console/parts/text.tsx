/** Texts and names that come from actors or files: unseen characters are written out, never obeyed. */
import { Fragment, useEffect, useState } from 'react'
import { visible, visibleName } from '../../base/index.ts'
import { type SayWords, useSettings } from '../app/settings.tsx'

/** A text of one line that an actor wrote. */
export function Said({ children }: { readonly children: string }) {
  return <bdi>{visible(children)}</bdi>
}

/** A message in which backticks mark what is typed. */
export function Coded({ children }: { readonly children: string }) {
  return children.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message keep their places
    index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
  )
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
  const cut = shown.lastIndexOf('/', shown.length - 2) + 1
  return (
    <bdi className="path">
      <span className="path-folder">{shown.slice(0, cut)}</span>
      <span className="path-name">{shown.slice(cut)}</span>
    </bdi>
  )
}

/** By language; making one takes longer than using it. */
const moments = new Map<string, Intl.DateTimeFormat>()

function momentWords(at: string, tag: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'medium' } as const
  const format = moments.get(tag) ?? new Intl.DateTimeFormat(tag, style)
  moments.set(tag, format)
  return format.format(new Date(at))
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LOOK_MS = 20_000

/** One timer for all that show how long ago something was. */
const watchers = new Set<() => void>()
let timer: number | null = null

function watchTime(look: () => void): () => void {
  watchers.add(look)
  timer ??= window.setInterval(() => {
    for (const one of watchers) one()
  }, LOOK_MS)
  return () => {
    watchers.delete(look)
    if (watchers.size > 0 || timer === null) return
    window.clearInterval(timer)
    timer = null
  }
}

function distanceWords(seconds: number, say: SayWords): string {
  const size = Math.abs(seconds)
  if (size === 0) return say('time.now')
  const way = seconds < 0 ? 'ago' : 'in'
  if (size < MINUTE) return say(`time.${way}.second`, { count: size })
  if (size < HOUR) return say(`time.${way}.minute`, { count: Math.round(size / MINUTE) })
  if (size < 2 * DAY) return say(`time.${way}.hour`, { count: Math.round(size / HOUR) })
  return say(`time.${way}.day`, { count: Math.round(size / DAY) })
}

/** How far a moment is from now, with the local time for who points at it. */
export function Ago({ at }: { readonly at: string }) {
  const { tag, say } = useSettings()
  const [now, setNow] = useState(() => Date.now())
  const [title, setTitle] = useState<string>()
  useEffect(() => watchTime(() => setNow(Date.now())), [])
  const point = (): void => setTitle(momentWords(at, tag))
  return (
    <time dateTime={at} title={title} onPointerEnter={point}>
      {distanceWords(Math.round((Date.parse(at) - now) / 1000), say)}
    </time>
  )
}

/** When something ends, as date and time of here, and how long that is. */
export function Deadline({ at }: { readonly at: string }) {
  return (
    <>
      {minuteOf(at)} (<Ago at={at} />)
    </>
  )
}

/** The minute of a moment here, the same in every language; nothing has to be loaded for it. */
function minuteOf(at: string): string {
  const moment = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  const day = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()].map(two).join('-')
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}`
}

export function Moment({ at }: { readonly at: string }) {
  const { tag } = useSettings()
  return (
    <time dateTime={at} title={at}>
      {momentWords(at, tag)}
    </time>
  )
}
