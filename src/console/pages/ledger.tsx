/** The ledger: streams, facts, and the whole history verified in this browser. */
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Input, Label, SearchField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { foundFacts } from '../ledger/search.ts'
import { Badge, Empty, Loading, PageHead, Pairs, Press, Section } from '../parts/basics.tsx'
import { FactRow } from '../parts/fact-row.tsx'
import { Found, Problem } from '../parts/found.tsx'

export function LedgerPage() {
  const say = useSay()
  const query = useQuery(reads.streams())
  return (
    <div className="page">
      <PageHead title={say('ledger.title')} />
      <p className="quiet">{say('ledger.says')}</p>
      <Found query={query}>
        {(streams) => (
          <>
            {streams.map(({ stream, size }) => (
              <Stream key={stream} stream={stream} size={size} />
            ))}
          </>
        )}
      </Found>
    </div>
  )
}

function Stream({ stream, size }: { readonly stream: string; readonly size: number }) {
  const say = useSay()
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title={stream} note={say('ledger.size', { count: size })}>
      <Verification stream={stream} />
      <Press look="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        {say('ledger.facts')}
      </Press>
      {isOpen && <Facts stream={stream} />}
    </Section>
  )
}

function Verification({ stream }: { readonly stream: string }) {
  const say = useSay()
  const [progress, setProgress] = useState<readonly [number, number]>([0, 0])
  const checking = useMutation({
    mutationFn: async () => {
      const { checkStream } = await import('../ledger/check.ts')
      return checkStream(stream, (done, size) => setProgress([done, size]))
    },
  })
  const found = checking.data
  const isGood = found?.isRootEqual === true && found.signedBy.length > 0
  return (
    <>
      <Press onPress={() => checking.mutate()} isPending={checking.isPending}>
        <ShieldCheck aria-hidden="true" /> {say('ledger.verify')}
      </Press>
      {checking.isPending && (
        <span role="status">
          {say('ledger.progress', { done: progress[0], size: progress[1] })}
        </span>
      )}
      {found !== undefined && (
        <div role="status">
          <p>
            <Badge tone={isGood ? 'low' : 'critical'}>
              {say(isGood ? 'ledger.good' : 'ledger.bad')}
            </Badge>
          </p>
          <Pairs
            rows={[
              [say('ledger.hashed'), say('ledger.size', { count: found.size })],
              [say('ledger.root'), <code key="r">{found.root}</code>],
              [say('ledger.signed'), found.signedBy.join(', ')],
            ]}
          />
        </div>
      )}
      {checking.error !== null && <Problem error={checking.error} />}
    </>
  )
}

function Facts({ stream }: { readonly stream: string }) {
  const say = useSay()
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words.trim())
  const query = useInfiniteQuery({
    queryKey: ['ledger', 'facts', stream, wanted],
    // The first page begins at the newest fact.
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) => foundFacts(stream, wanted, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    // Older pages are left out again, so that the page stays small.
    maxPages: 2,
    placeholderData: keepPreviousData,
  })
  const facts = query.data?.pages.flatMap((page) => page.facts) ?? []
  return (
    <>
      <SearchField value={words} onChange={setWords} className="search">
        <Label>{say('search')}</Label>
        <Input placeholder={say('ledger.search')} />
      </SearchField>
      {query.error !== null && <Problem error={query.error} />}
      {query.isFetching && <Loading />}
      {query.data !== undefined && facts.length === 0 && (
        <Empty title={say('ledger.none')}>{say('ledger.none_says')}</Empty>
      )}
      <ul className="facts">
        {facts.map((fact) => (
          <FactRow key={fact.seq} stream={stream} fact={fact} />
        ))}
      </ul>
      {query.hasNextPage && (
        <Press isPending={query.isFetching} onPress={() => query.fetchNextPage()}>
          {say('ledger.older')}
        </Press>
      )}
    </>
  )
}
