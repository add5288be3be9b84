/** What was done, the newest first; words that are typed narrow the list. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Input, Label, SearchField } from 'react-aria-components'
import type { ActDocument } from '../../api/index.ts'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { actPaths } from '../parts/act-paths.ts'
import { Empty, PageHead, StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Rows } from '../parts/rows.tsx'
import { Ago, Said } from '../parts/text.tsx'
import { Counts } from '../question/counts.tsx'

const LIMIT = 200
const ROW_HEIGHT = 64

function matches(act: ActDocument, words: string): boolean {
  const { what, action_id, by, status, proposal } = act
  const intent = proposal?.payload.descriptor.intent_summary ?? ''
  const paths = actPaths(act).join(' ')
  const text = `${what ?? ''} ${action_id} ${by.kind}:${by.id}@${by.namespace} ${status} ${intent} ${paths}`
  const lower = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

export function ActionsPage() {
  const say = useSay()
  const query = useQuery(reads.actions(LIMIT))
  const [words, setWords] = useState('')
  return (
    <div className="page page-list">
      <PageHead title={say('actions.title')}>
        <SearchField value={words} onChange={setWords} className="search">
          <Label>{say('search')}</Label>
          <Input placeholder={say('actions.search')} />
        </SearchField>
      </PageHead>
      <Found query={query}>
        {(actions) => {
          const shown = actions.filter((act) => matches(act, words))
          return shown.length === 0 ? (
            <Empty title={say('actions.empty')}>{say('actions.empty_says')}</Empty>
          ) : (
            <ActionRows actions={shown} />
          )
        }}
      </Found>
    </div>
  )
}

function ActionRows({ actions }: { readonly actions: readonly ActDocument[] }) {
  const say = useSay()
  const navigate = useNavigate()
  return (
    <Rows
      label={say('actions.title')}
      items={actions}
      height={ROW_HEIGHT}
      keyOf={({ action_id }) => action_id}
      onOpen={({ action_id }) => void navigate({ to: '/actions/$id', params: { id: action_id } })}
    >
      {({ what, action_id, status, at, by, result }) => (
        <div className="inbox-row">
          <div className="inbox-line">
            <StatusBadge status={status} />
            <code className="what">
              <Said>{what ?? action_id}</Said>
            </code>
          </div>
          <div className="inbox-line quiet">
            <span className="who">
              <Said>{`${by.kind}:${by.id}`}</Said>
            </span>
            <Ago at={at} />
            {result !== null && <Counts effects={result.payload.diff.counts} />}
          </div>
        </div>
      )}
    </Rows>
  )
}
