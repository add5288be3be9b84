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
  /** Whether a row is chosen; with it the space key chooses. */
  readonly isChosen?: (item: T) => boolean
  readonly onChoose?: (item: T) => void
  /** The rows are a tree: how deep each is, and whether it is open; null where nothing is below it. */
  readonly tree?: TreeProps<T>
  readonly current?: string | null
  readonly className?: string
}

interface TreeProps<T> {
  readonly levelOf: (item: T) => number
  readonly openOf: (item: T) => boolean | null
  readonly onFold: (item: T, isOpen: boolean) => void
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
  const { items, height, keyOf, onOpen, onChoose, isChosen, tree } = props
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
  if (tree !== undefined) {
    keys.set('ArrowRight', withActive(folds(tree, true)))
    keys.set('ArrowLeft', withActive(folds(tree, false)))
  }
  const name = useMemo(() => props.label.replaceAll(/\W+/g, '-'), [props.label])
  const idOf = (index: number): string => `${name}-${index}`
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is one of the two below
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role is one of the two below
    <div
      ref={place}
      className={`rows ${props.className ?? ''}`}
      style={{ maxHeight: items.length * height + BORDERS }}
      role={tree === undefined ? 'listbox' : 'tree'}
      aria-label={props.label}
      aria-multiselectable={isChosen !== undefined}
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
          return (
            <Row
              key={key}
              id={idOf(index)}
              place={{ index, height, count: items.length }}
              tree={
                tree === undefined ? null : { level: tree.levelOf(item), isOpen: tree.openOf(item) }
              }
              isSelected={isChosen === undefined ? props.current === key : isChosen(item)}
              isActive={index === active}
              isCurrent={props.current === key}
              onClick={() => {
                setActive(index)
                onOpen?.(item)
              }}
            >
              {props.children(item)}
            </Row>
          )
        })}
      </div>
    </div>
  )
}

/** What opens or closes a row below which there is something. */
function folds<T>({ openOf, onFold }: TreeProps<T>, isOpen: boolean): (item: T) => void {
  return (item) => {
    const now = openOf(item)
    if (now !== null && now !== isOpen) onFold(item, isOpen)
  }
}

interface RowProps {
  readonly id: string
  readonly place: { readonly index: number; readonly height: number; readonly count: number }
  readonly tree: { readonly level: number; readonly isOpen: boolean | null } | null
  readonly isSelected: boolean
  readonly isActive: boolean
  readonly isCurrent: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

function Row({ id, place, tree, isSelected, isActive, isCurrent, onClick, children }: RowProps) {
  const { index, height, count } = place
  const role =
    tree === null
      ? { role: 'option', 'aria-posinset': index + 1, 'aria-setsize': count }
      : {
          role: 'treeitem',
          'aria-level': tree.level + 1,
          ...(tree.isOpen === null ? {} : { 'aria-expanded': tree.isOpen }),
        }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys of its rows
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is one of the two above
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role is one of the two above
    <div
      {...role}
      id={id}
      tabIndex={-1}
      aria-selected={isSelected}
      className="row"
      data-active={isActive}
      data-current={isCurrent}
      style={{ height, transform: `translateY(${index * height}px)` }}
      onClick={onClick}
    >
      {children}
    </div>
  )
}
