/** What would change: counts by directory, every path in order, and the difference of the one that is open. */
import { type ReactNode, useMemo, useState } from 'react'
import { useSay } from '../app/settings.tsx'
import { Badge, Empty, Section } from '../parts/basics.tsx'
import { Rows } from '../parts/rows.tsx'
import { PathName, Said } from '../parts/text.tsx'
import { Counts } from './counts.tsx'
import {
  byFolder,
  firstOpened,
  inOrder,
  kindOf,
  named,
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
  const folders = useMemo(() => byFolder(changes), [changes])
  const shared = useMemo(() => sharedFolder(changes.map(({ path }) => path)), [changes])
  const choose = ({ path }: QuestionChange): void => {
    const next = new Set(chosen)
    if (!next.delete(path)) next.add(path)
    onChosen(next)
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
      <Rows
        label={say('changes.title')}
        items={changes}
        height={ROW_HEIGHT}
        keyOf={({ path }) => path}
        current={open}
        onOpen={({ path }) => setOpen(path)}
        {...(question.has_parts ? { chosen, onChoose: choose } : {})}
        className={`change-rows ${changes.length <= FEW ? 'few' : ''}`}
      >
        {(change) => (
          <ChangeRow
            change={change}
            shared={shared}
            isChosen={question.has_parts ? chosen.has(change.path) : null}
            onChoose={() => choose(change)}
          />
        )}
      </Rows>
      {open !== null && children?.(open)}
    </Section>
  )
}

function ChangeRow(props: {
  readonly change: QuestionChange
  readonly shared: string
  readonly isChosen: boolean | null
  readonly onChoose: () => void
}) {
  const say = useSay()
  const { change, shared, isChosen } = props
  const kind = kindOf(change)
  return (
    <div className={`change-row change-${kind}`}>
      {isChosen !== null && (
        <span
          className="mark"
          aria-hidden="true"
          data-chosen={isChosen}
          onClick={(event) => {
            event.stopPropagation()
            props.onChoose()
          }}
        />
      )}
      <span className="change-word">{say(`change.${wordOf(change)}`)}</span>
      <PathName path={named(change, shared)} />
      {change.deferred && <Badge tone="high">{say('change.deferred')}</Badge>}
    </div>
  )
}
