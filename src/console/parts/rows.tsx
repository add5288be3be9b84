/** A long list of which only the rows in view are in the page; `j` and `k` move through it. */
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../app/keys.ts'

interface RowsProps<T> {
  readonly label: string
  /** Those not read yet are undefined; `onView` says which are looked at. */
  readonly items: readonly (T | undefined)[]
  readonly onView?: (first: number, last: number) => void
  readonly height: number
  readonly keyOf: (item: T) => string
  readonly children: (item: T) => ReactNode
  readonly onOpen?: (item: T) => void
  /** Rows that are chosen; with it the space key chooses. */
  readonly chosen?: ReadonlySet<string>
  readonly onChoose?: (item: T) => void
  readonly current?: string | null
  readonly className?: string
}

/** Pixels of the list's own lines. */
const BORDERS = 2
/** Rows drawn above and below those in view. */
const MORE = 6

interface View {
  readonly first: number
  readonly last: number
}

/** Which rows of one height are in view. */
function useView(place: RefObject<HTMLDivElement | null>, count: number, height: number): View {
  const [{ top, size }, setSeen] = useState({ top: 0, size: window.innerHeight })
  useEffect(() => {
    const list = place.current
    if (list === null) return
    // By steps of rows: between them the same rows are in view.
    const look = (): void => {
      const next = { top: Math.floor(list.scrollTop / height), size: list.clientHeight }
      setSeen((old) => (old.top === next.top && old.size === next.size ? old : next))
    }
    list.addEventListener('scroll', look, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(list)
    return () => {
      list.removeEventListener('scroll', look)
      sizes.disconnect()
    }
  }, [place, height])
  const first = Math.max(0, Math.min(top, count - 1) - MORE)
  const last = Math.min(count - 1, top + Math.ceil(size / height) + MORE)
  return { first, last }
}

export function Rows<T>(props: RowsProps<T>) {
  const { items, height, keyOf, onOpen, onChoose, chosen } = props
  const place = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const { first, last } = useView(place, items.length, height)
  const { onView } = props
  useEffect(() => onView?.(first, last), [onView, first, last])
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, to))
    setActive(next)
    const list = place.current
    if (list === null) return
    const [above, below] = [next * height, (next + 1) * height - list.clientHeight]
    list.scrollTop = Math.max(below, Math.min(above, list.scrollTop))
    list.focus({ preventScroll: true })
  }
  const withActive = (act?: (item: T) => void) => (): void => {
    const item = items[active]
    if (item !== undefined) act?.(item)
  }
  useKeys({ j: () => move(active + 1), k: () => move(active - 1) })
  const keys = new Map([
    ['ArrowDown', () => move(active + 1)],
    ['ArrowUp', () => move(active - 1)],
    ['Home', () => move(0)],
    ['End', () => move(items.length - 1)],
    ['Enter', withActive(onOpen)],
    [' ', withActive(onChoose ?? onOpen)],
  ])
  const name = useMemo(() => props.label.replaceAll(/\W+/g, '-'), [props.label])
  const idOf = (index: number): string => `${name}-${index}`
  return (
    <div
      ref={place}
      className={`rows ${props.className ?? ''}`}
      style={{ maxHeight: items.length * height + BORDERS }}
      role="listbox"
      aria-label={props.label}
      aria-multiselectable={chosen !== undefined}
      aria-activedescendant={items.length > 0 ? idOf(active) : undefined}
      tabIndex={0}
      onKeyDown={(event) => {
        const act = keys.get(event.key)
        if (act === undefined) return
        event.preventDefault()
        act()
      }}
    >
      <div className="rows-all" role="presentation" style={{ height: items.length * height }}>
        {items.slice(first, last + 1).map((item, row) => {
          const index = first + row
          if (item === undefined) return null
          const key = keyOf(item)
          const isSelected = chosen === undefined ? props.current === key : chosen.has(key)
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys of its rows
            <div
              key={key}
              id={idOf(index)}
              role="option"
              tabIndex={-1}
              aria-selected={isSelected}
              aria-posinset={index + 1}
              aria-setsize={items.length}
              className="row"
              data-active={index === active}
              data-current={props.current === key}
              style={{ height, transform: `translateY(${index * height}px)` }}
              onClick={() => {
                setActive(index)
                onOpen?.(item)
              }}
            >
              {props.children(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
