/** What a person answers where a run waits for them. */
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Press } from '../parts/basics.tsx'

interface AnswersProps {
  readonly run: string
  readonly node: string
  readonly kind: string
}

type Answer =
  | 'approveNode'
  | 'rejectNode'
  | 'retry'
  | 'abandon'
  | 'provided'
  | 'unblock'
  | 'skipNode'
  | 'document'

/** The answers by what the run stopped for. */
const ANSWERS: Readonly<Record<string, readonly Answer[]>> = {
  decision: ['approveNode', 'rejectNode'],
  approval: ['approveNode', 'rejectNode'],
  input: ['document', 'provided'],
  participant: ['retry', 'abandon'],
  blocked: ['unblock', 'skipNode'],
  failed: ['retry', 'abandon', 'skipNode'],
  refused: ['retry', 'abandon', 'skipNode'],
}

export function NodeAnswers({ run, node, kind }: AnswersProps) {
  const say = useSay()
  const [open, setOpen] = useState<Answer | null>(null)
  return (
    <div className="buttons">
      {(ANSWERS[kind] ?? []).map((answer) => (
        <Press key={answer} onPress={() => setOpen(answer)}>
          {say(`flow.answer.${answer}`)}
        </Press>
      ))}
      {open !== null && (
        <AnswerDialog run={run} node={node} answer={open} onClose={() => setOpen(null)} />
      )}
    </div>
  )
}

const WITH_COMMENT: ReadonlySet<Answer> = new Set(['approveNode', 'rejectNode', 'skipNode'])

function AnswerDialog(props: {
  readonly run: string
  readonly node: string
  readonly answer: Answer
  readonly onClose: () => void
}) {
  const say = useSay()
  const { run, node, answer, onClose } = props
  const [text, setText] = useState('')
  const params = { id: run, node }
  const act = (): Promise<unknown> => {
    if (answer === 'approveNode')
      return proven('approveNode', { params, body: text === '' ? {} : { comment: text } })
    if (answer === 'rejectNode') return proven('rejectNode', { params, body: { comment: text } })
    if (answer === 'skipNode') return proven('skipNode', { params, body: { comment: text } })
    if (answer === 'document') return proven('answerNode', { params, body: { file: text } })
    return proven('answerNode', { params, body: { word: answer } })
  }
  const hasText = WITH_COMMENT.has(answer) || answer === 'document'
  const isReady = !hasText || answer === 'approveNode' || text.trim() !== ''
  return (
    <AskDialog
      title={say(`flow.answer.${answer}`)}
      action={say('with_passkey')}
      isReady={isReady}
      act={act}
      onClose={onClose}
    >
      {hasText && (
        <TextField value={text} onChange={setText} className="field" autoFocus>
          <Label>{say(answer === 'document' ? 'flow.document' : 'flow.comment')}</Label>
          <TextArea rows={answer === 'document' ? 10 : 3} />
        </TextField>
      )}
    </AskDialog>
  )
}
