/** A fact of the ledger, with its proof checked in this browser on request. */
import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useSay } from '../app/settings.tsx'
import type { ShownFact } from '../ledger/search.ts'
import { Badge, Loading, Press } from './basics.tsx'
import { Problem } from './found.tsx'
import { Ago, Said, SaidLines } from './text.tsx'

const ProofDrawing = lazy(async () => ({
  default: (await import('../ledger/proof-drawing.tsx')).ProofDrawing,
}))

interface FactRowProps {
  readonly stream: string
  readonly fact: ShownFact
}

export function FactRow({ stream, fact }: FactRowProps) {
  const say = useSay()
  const checking = useMutation({
    mutationFn: async () => {
      // The rooms of ledger and contracts are large; they are loaded when a proof is asked for.
      const { checkFact } = await import('../ledger/check.ts')
      return checkFact(stream, fact.seq)
    },
  })
  return (
    <li className="fact">
      <span className="quiet">#{fact.seq}</span> <Said>{fact.record.type}</Said>{' '}
      <Ago at={fact.occurred_at} />
      <Press look="quiet" onPress={() => checking.mutate()} isPending={checking.isPending}>
        {say('facts.prove')}
      </Press>
      {checking.data !== undefined && (
        <>
          <Badge tone={checking.data.isProven ? 'low' : 'critical'}>
            {say(checking.data.isProven ? 'facts.proven' : 'facts.unproven')}
          </Badge>
          <Suspense fallback={<Loading />}>
            <ProofDrawing check={checking.data} />
          </Suspense>
        </>
      )}
      {checking.error !== null && <Problem error={checking.error} />}
      <details>
        <summary>{say('facts.contents')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long contents are scrolled by keys */}
        <pre className="output" tabIndex={0}>
          <SaidLines>{JSON.stringify(fact, null, 1)}</SaidLines>
        </pre>
      </details>
    </li>
  )
}
