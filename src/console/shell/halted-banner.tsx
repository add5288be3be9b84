/** On every page while everything is halted: who halted it, when and why, and how to end it. */
import { useQuery } from '@tanstack/react-query'
import { OctagonX } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { reads } from '../app/queries.ts'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'
import { ResumeDialog } from '../parts/resume-dialog.tsx'
import { Ago, Said } from '../parts/text.tsx'

export function HaltedBanner() {
  // The page itself is drawn first.
  return useDeferredValue(true, false) && <Banner />
}

function Banner() {
  const say = useSay()
  const { data: newest = null } = useQuery(reads.halt())
  const [isResuming, setResuming] = useState(false)
  if (newest === null || newest.record.payload.state !== 'HALTED') return null
  const { kind, id, namespace } = newest.principal
  const { reason = '' } = newest.record.payload
  return (
    <section className="halted" aria-label={say('halted.title')}>
      <OctagonX aria-hidden="true" />
      <div className="grow">
        <p>
          <strong>{say('halted.title')}</strong> <Said>{`${kind}:${id}@${namespace}`}</Said>{' '}
          <Ago at={newest.occurred_at} />
        </p>
        {reason !== '' && (
          <p>
            <Said>{reason}</Said>
          </p>
        )}
        <p>{say('halt.says')}</p>
      </div>
      <Press onPress={() => setResuming(true)}>{say('resume.act')}</Press>
      {isResuming && <ResumeDialog onClose={() => setResuming(false)} />}
    </section>
  )
}
