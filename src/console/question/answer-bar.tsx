/** The answers that a person can give; each is proved with a passkey and recorded before it is shown. */
import { Ban, Check, CheckCheck, Repeat, Scissors } from 'lucide-react'
import { useState } from 'react'
import { useKeys } from '../app/keys.ts'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'
import { AlikeDialog } from './alike-dialog.tsx'
import { AlwaysDialog, ApproveDialog, DenyDialog } from './answer-dialogs.tsx'
import { PartDialog } from './part-dialog.tsx'
import type { WholeQuestion } from './question.ts'

interface BarProps {
  readonly question: WholeQuestion
  readonly chosen: ReadonlySet<string>
  readonly onDone: () => void
}

type Open = 'approve' | 'deny' | 'part' | 'alike' | 'always'

export function AnswerBar({ question, chosen, onDone }: BarProps) {
  const say = useSay()
  const [open, setOpen] = useState<Open | null>(null)
  useKeys({ a: () => setOpen(chosen.size > 0 ? 'part' : 'approve'), d: () => setOpen('deny') })
  const { approvals } = question
  const shared = { question, onDone, onClose: () => setOpen(null) }
  return (
    <div className="answer-bar" role="toolbar" aria-label={say('answer.label')}>
      {approvals !== null && (
        <span className="quiet">
          {say('answer.several', { needed: approvals.needed, given: approvals.given.length })}
        </span>
      )}
      <Press look="danger" onPress={() => setOpen('deny')}>
        <Ban aria-hidden="true" /> {say('deny')} <kbd>d</kbd>
      </Press>
      <span className="grow" />
      {question.always !== null && (
        <Press onPress={() => setOpen('always')}>
          <Repeat aria-hidden="true" /> {say('always')}
        </Press>
      )}
      <Press onPress={() => setOpen('alike')}>
        <CheckCheck aria-hidden="true" /> {say('alike')}
      </Press>
      {chosen.size > 0 ? (
        <Press look="main" onPress={() => setOpen('part')}>
          <Scissors aria-hidden="true" /> {say('part', { count: chosen.size })} <kbd>a</kbd>
        </Press>
      ) : (
        <Press look="main" onPress={() => setOpen('approve')}>
          <Check aria-hidden="true" /> {say('approve')} <kbd>a</kbd>
        </Press>
      )}
      {open === 'approve' && <ApproveDialog {...shared} />}
      {open === 'deny' && <DenyDialog {...shared} />}
      {open === 'always' && <AlwaysDialog {...shared} />}
      {open === 'alike' && <AlikeDialog {...shared} />}
      {open === 'part' && <PartDialog {...shared} chosen={chosen} />}
    </div>
  )
}
