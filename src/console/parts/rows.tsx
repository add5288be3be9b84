/** A long list of which only the rows in view are in the page; `j` and `k` move through it. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
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

const OVERSCAN = 6

export function Rows<T>(props: RowsProps<T>) {
  const { items, height, keyOf, onOpen, onChoose, chosen } = props
  const place = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const view = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
  })
  const shown = view.getVirtualItems()
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0]
  const { onView } = props
  useEffect(() => onView?.(first, last), [onView, first, last])
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, to))
    setActive(next)
    view.scrollToIndex(next)
    place.current?.focus({ preventScroll: true })
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
  const idOf = (index: number): string => `${props.label}-${index}`.replaceAll(/\W+/g, '-')
  return (
    <div
      ref={place}
      className={`rows ${props.className ?? ''}`}
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
      <div className="rows-all" role="presentation" style={{ height: view.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const item = items[index]
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
              style={{ height, transform: `translateY(${start}px)` }}
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
