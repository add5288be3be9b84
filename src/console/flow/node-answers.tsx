/** What a person answers where a run waits for them: the answers that the service names for this stop. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Press } from '../parts/basics.tsx'
import { type NodeAnswer, namedAnswers } from './named-answers.ts'

interface AnswersProps {
  readonly run: string
  readonly node: string
  /** The commands that the service names as the next step. */
  readonly next: readonly string[]
}

export function NodeAnswers({ run, node, next }: AnswersProps) {
  const say = useSay()
  const [open, setOpen] = useState<NodeAnswer | null>(null)
  return (
    <div className="buttons">
      {namedAnswers(next).map((answer) => (
        <Press key={answer} onPress={() => setOpen(answer)}>
          {say(`flow.answer.${answer}`)}
        </Press>
      ))}
      {open === 'document' && <WorkDialog run={run} node={node} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'document' && (
        <WordDialog run={run} node={node} answer={open} onClose={() => setOpen(null)} />
      )}
    </div>
  )
}

interface DialogProps {
  readonly run: string
  readonly node: string
  readonly onClose: () => void
}

const WITH_COMMENT: ReadonlySet<NodeAnswer> = new Set(['approveNode', 'rejectNode', 'skipNode'])

function WordDialog(props: DialogProps & { readonly answer: Exclude<NodeAnswer, 'document'> }) {
  const say = useSay()
  const { run, node, answer, onClose } = props
  const [text, setText] = useState('')
  const params = { id: run, node }
  const act = (): Promise<unknown> => {
    if (answer === 'approveNode')
      return proven('approveNode', { params, body: text === '' ? {} : { comment: text } })
    if (answer === 'rejectNode') return proven('rejectNode', { params, body: { comment: text } })
    if (answer === 'skipNode') return proven('skipNode', { params, body: { comment: text } })
    return proven('answerNode', { params, body: { word: answer } })
  }
  const hasText = WITH_COMMENT.has(answer)
  return (
    <AskDialog
      title={say(`flow.answer.${answer}`)}
      action={say('with_passkey')}
      isReady={!hasText || answer === 'approveNode' || text.trim() !== ''}
      act={act}
      onClose={onClose}
    >
      {hasText && (
        <TextField value={text} onChange={setText} className="field" autoFocus>
          <Label>{say('flow.comment')}</Label>
          <TextArea rows={3} />
        </TextField>
      )}
    </AskDialog>
  )
}

/** The work of a human participant: the template that the service hands out, with the text filled in. */
function WorkDialog({ run, node, onClose }: DialogProps) {
  const say = useSay()
  const [text, setText] = useState('')
  const { data } = useQuery(reads.node(run, node))
  // The template of work has these fields.
  const template = data?.answer?.template as { readonly artifact?: object } | undefined
  const file = { ...template, artifact: { ...template?.artifact, content: text } }
  return (
    <AskDialog
      title={say('flow.answer.document')}
      action={say('with_passkey')}
      isReady={template?.artifact !== undefined && text.trim() !== ''}
      act={() => proven('answerNode', { params: { id: run, node }, body: { file } })}
      onClose={onClose}
    >
      <TextField value={text} onChange={setText} className="field" autoFocus>
        <Label>{say('flow.document')}</Label>
        <TextArea rows={10} />
      </TextField>
    </AskDialog>
  )
}
