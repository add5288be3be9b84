/** What would change: counts by directory, every path in order, and the difference of the one that is open. */
import { type ReactNode, useMemo, useState } from 'react'
import { useSay } from '../app/settings.tsx'
import { Badge, Empty, Section } from '../parts/basics.tsx'
import { Rows } from '../parts/rows.tsx'
import { PathName, Said } from '../parts/text.tsx'
import { type FolderRow, type TreeRow, treeRows } from './change-tree.ts'
import { Counts } from './counts.tsx'
import {
  byFolder,
  firstOpened,
  inOrder,
  kindOf,
  type QuestionChange,
  sharedFolder,
  type WholeQuestion,
  wordOf,
} from './question.ts'

const ROW_HEIGHT = 32
const FEW = 12

interface ChangesProps {
  readonly question: WholeQuestion
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
  /** What is shown of the path that is open. */
  readonly children?: (path: string) => ReactNode
}

export function Changes({ question, chosen, onChosen, children }: ChangesProps) {
  const say = useSay()
  const changes = useMemo(() => inOrder(question.changes), [question.changes])
  const [open, setOpen] = useState(() => firstOpened(changes))
  const [closed, setClosed] = useState(NOTHING)
  const rows = useMemo(() => treeRows(changes, closed), [changes, closed])
  const folders = useMemo(() => byFolder(changes), [changes])
  const shared = useMemo(() => sharedFolder(changes.map(({ path }) => path)), [changes])
  const choose = (row: TreeRow): void => {
    const next = new Set(chosen)
    const isChosen = isRowChosen(row, chosen)
    for (const { path } of pathsOf(row)) isChosen ? next.delete(path) : next.add(path)
    onChosen(next)
  }
  const fold = ({ key }: TreeRow, isOpen: boolean): void => {
    const next = new Set(closed)
    isOpen ? next.delete(key) : next.add(key)
    setClosed(next)
  }
  if (changes.length === 0) {
    return (
      <Section title={say('changes.title')}>
        <Empty title={say('changes.none')}>{say('changes.none_says')}</Empty>
      </Section>
    )
  }
  return (
    <Section title={say('changes.title')}>
      {shared !== '' && (
        <p className="quiet shared">
          {say('changes.below')} <PathName path={shared} />
        </p>
      )}
      {changes.length > FEW && folders.length > 1 && (
        <ul className="folders" aria-label={say('changes.by_folder')}>
          {folders.map(({ folder, counts }) => (
            <li key={folder}>
              <Said>{folder}</Said> <Counts effects={counts} />
            </li>
          ))}
        </ul>
      )}
      {question.has_parts && (
        <p className="quiet">
          {say('changes.choose')} <span className="by-key">{say('changes.choose_key')}</span>
        </p>
      )}
      <Rows<TreeRow>
        label={say('changes.title')}
        items={rows}
        height={ROW_HEIGHT}
        keyOf={({ key }) => key}
        current={open}
        onOpen={(row) => (row.change === null ? fold(row, !row.isOpen) : setOpen(row.change.path))}
        tree={{ levelOf: ({ level }) => level, openOf: isFolderOpen, onFold: fold }}
        {...(question.has_parts
          ? { isChosen: (row) => isRowChosen(row, chosen), onChoose: choose }
          : {})}
        className={`change-rows ${rows.length <= FEW ? 'few' : ''}`}
      >
        {(row) => (
          <TreeLine
            row={row}
            isChosen={question.has_parts ? isRowChosen(row, chosen) : null}
            onChoose={() => choose(row)}
          />
        )}
      </Rows>
      {open !== null && children?.(open)}
    </Section>
  )
}

const NOTHING: ReadonlySet<string> = new Set()

function isFolderOpen(row: TreeRow): boolean | null {
  return row.change === null ? row.isOpen : null
}

function pathsOf(row: TreeRow): readonly QuestionChange[] {
  return row.change === null ? row.below : [row.change]
}

function isRowChosen(row: TreeRow, chosen: ReadonlySet<string>): boolean {
  return pathsOf(row).every(({ path }) => chosen.has(path))
}

const INDENT_REM = 1.1

interface LineProps {
  readonly row: TreeRow
  readonly isChosen: boolean | null
  readonly onChoose: () => void
}

function TreeLine({ row, isChosen, onChoose }: LineProps) {
  return (
    <div
      className={`change-row change-${row.change === null ? 'folder' : kindOf(row.change)}`}
      style={{ marginLeft: `${row.level * INDENT_REM}rem` }}
    >
      {isChosen !== null && (
        <span
          className="mark"
          aria-hidden="true"
          data-chosen={isChosen}
          onClick={(event) => {
            event.stopPropagation()
            onChoose()
          }}
        />
      )}
      {row.change === null ? (
        <FolderWords row={row} />
      ) : (
        <ChangeWords change={row.change} name={row.name} />
      )}
    </div>
  )
}

function FolderWords({ row }: { readonly row: FolderRow }) {
  const say = useSay()
  const [first] = row.below
  return (
    <>
      <span className="change-fold" aria-hidden="true">
        {row.isOpen ? '▾' : '▸'}
      </span>
      <PathName path={row.name} />
      {first !== undefined && (
        <span className="quiet">{say(`counts.${wordOf(first)}`, { count: row.below.length })}</span>
      )}
    </>
  )
}

function ChangeWords({ change, name }: { readonly change: QuestionChange; readonly name: string }) {
  const say = useSay()
  return (
    <>
      <span className="change-word">{say(`change.${wordOf(change)}`)}</span>
      <PathName path={name} />
      {change.deferred && <Badge tone="high">{say('change.deferred')}</Badge>}
    </>
  )
}
