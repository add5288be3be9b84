/** The answers that a person can give; each is proved with a passkey and recorded before it is shown. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { takePress } from '../app/first-press.ts'
import { useKeys } from '../app/keys.ts'
import { reads } from '../app/queries.ts'
import { AlikeDialog } from './alike-dialog.tsx'
import { ANSWERS, AnswerButtons, type AnswerName } from './answer-buttons.tsx'
import { AlwaysDialog, ApproveDialog, DenyDialog } from './answer-dialogs.tsx'
import { PartDialog } from './part-dialog.tsx'
import type { WholeQuestion } from './question.ts'

interface BarProps {
  readonly question: WholeQuestion
  readonly chosen: ReadonlySet<string>
  readonly onDone: () => Promise<void>
}

export function AnswerBar({ question, chosen, onDone }: BarProps) {
  const [open, setOpen] = useState<AnswerName | null>(null)
  useEffect(() => setOpen(takePress(ANSWERS)), [])
  useKeys({ a: () => setOpen(chosen.size > 0 ? 'part' : 'approve'), d: () => setOpen('deny') })
  const { data: alike } = useQuery(reads.alike(question.shape))
  const shared = { question, onDone, onClose: () => setOpen(null) }
  return (
    <>
      <AnswerButtons
        question={question}
        chosen={chosen.size}
        alike={alike?.length ?? 0}
        onAnswer={setOpen}
      />
      {open === 'approve' && <ApproveDialog {...shared} />}
      {open === 'deny' && <DenyDialog {...shared} />}
      {open === 'always' && <AlwaysDialog {...shared} />}
      {open === 'alike' && <AlikeDialog {...shared} />}
      {open === 'part' && <PartDialog {...shared} chosen={chosen} />}
    </>
  )
}
