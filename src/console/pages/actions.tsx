/** What was done, the newest first; words that are typed narrow the list. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Input, Label, SearchField } from 'react-aria-components'
import type { ActDocument } from '../../api/index.ts'
import { client } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { actPaths } from '../parts/act-paths.ts'
import { Empty, PageHead, Press, StatusBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { RollBackSince } from '../parts/roll-back-since.tsx'
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
  const query = useInfiniteQuery({
    queryKey: ['actions', 'pages'],
    // The first page begins at the newest action.
    initialPageParam: null as string | null, // Later ones at a moment.
    queryFn: async ({ pageParam }) => {
      const until = pageParam === null ? {} : { until: pageParam }
      return (await client.listActions({ query: { limit: LIMIT, ...until } })).value.actions
    },
    // The page before ends with the moment at which the next one begins.
    getNextPageParam: (page) => (page.length < LIMIT ? null : page.at(-1)?.at),
  })
  const [words, setWords] = useState('')
  const [isRollingBack, setRollingBack] = useState(false)
  const { hasNextPage, isFetchingNextPage } = query
  return (
    <div className="page page-list">
      <PageHead title={say('actions.title')}>
        <SearchField value={words} onChange={setWords} className="search">
          <Label>{say('search')}</Label>
          <Input placeholder={say('actions.search')} />
        </SearchField>
        {hasNextPage && (
          <Press isPending={isFetchingNextPage} onPress={() => query.fetchNextPage()}>
            {say('actions.older')}
          </Press>
        )}
        <Press onPress={() => setRollingBack(true)}>{say('rollback.title')}</Press>
      </PageHead>
      {isRollingBack && <RollBackSince onClose={() => setRollingBack(false)} />}
      <Found query={query}>
        {({ pages }) => {
          const shown = once(pages.flat()).filter((act) => matches(act, words))
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

/** Acts of the moment at which one page ends are in the next one too. */
function once(acts: readonly ActDocument[]): readonly ActDocument[] {
  return [...new Map(acts.map((act) => [act.action_id, act])).values()]
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
