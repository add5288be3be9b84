/** Yes to several questions of one shape. Each is listed, and each gets a signature of its own. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reads } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { RiskBadge } from '../parts/basics.tsx'
import { Ago, Said } from '../parts/text.tsx'
import type { AnswerProps } from './answer-dialogs.tsx'
import { Counts } from './counts.tsx'

export function AlikeDialog({ question, ...props }: AnswerProps) {
  const say = useSay()
  const { shape } = question
  const { data = [] } = useQuery({ ...reads.alike(shape ?? ''), enabled: shape !== null })
  const [answered, setAnswered] = useState(0)
  // The question of this page comes last: its answer closes the page.
  const alike = data.toSorted(
    (left, right) => Number(left.id === question.id) - Number(right.id === question.id),
  )
  const approveAll = async (): Promise<void> => {
    for (const [index, { id, result_digest }] of alike.entries()) {
      await proven('approveQuestion', { params: { id }, body: { result_digest } })
      setAnswered(index + 1)
    }
  }
  return (
    <AskDialog
      {...props}
      title={say('alike.title', { count: alike.length })}
      action={say('alike.act', { count: alike.length })}
      isReady={alike.length > 0}
      act={approveAll}
    >
      <p>{say('alike.says')}</p>
      <ol className="listed">
        {alike.map((one) => (
          <li key={one.id}>
            <RiskBadge risk={one.risk} />{' '}
            <code>
              <Said>{one.what}</Said>
            </code>{' '}
            <Counts effects={one.effects} /> <Ago at={one.asked_at} />
          </li>
        ))}
      </ol>
      {answered > 0 && <p role="status">{say('alike.answered', { count: answered })}</p>}
    </AskDialog>
  )
}
