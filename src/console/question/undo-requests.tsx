/** Requests of actors that an action is taken back; a person approves or denies each with a passkey. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { reads } from '../app/queries.ts'
import { type client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Press, Section } from '../parts/basics.tsx'
import { Ago, Deadline, Said } from '../parts/text.tsx'

type Request = Awaited<ReturnType<typeof client.listUndoRequests>>['value']['undo_requests'][number]

export function UndoRequests() {
  const say = useSay()
  const { data = [] } = useQuery(reads.undoRequests())
  const [open, setOpen] = useState<readonly ['yes' | 'no', Request] | null>(null)
  if (data.length === 0) return null
  return (
    <Section title={say('undo.requests', { count: data.length })}>
      <ul className="facts">
        {data.map((one) => (
          <li key={one.id} className="fact">
            <p>
              <strong>
                <Said>{one.asked_by}</Said>
              </strong>{' '}
              {say('undo.asks')}{' '}
              <Link to="/actions/$id" params={{ id: one.action_id }}>
                <Said>{one.what}</Said>
              </Link>{' '}
              <span className="quiet">
                <Ago at={one.at} /> · {say('inbox.expires')} <Deadline at={one.expires_at} />
              </span>
            </p>
            <blockquote className="intent">
              <span className="intent-mark">{say('question.own_words')}</span>
              <Said>{one.reason}</Said>
            </blockquote>
            <div className="buttons">
              <Press look="danger" onPress={() => setOpen(['no', one])}>
                {say('undo.keep')}
              </Press>
              <Press look="main" onPress={() => setOpen(['yes', one])}>
                {say('undo.take_back')}
              </Press>
            </div>
          </li>
        ))}
      </ul>
      {open !== null && (
        <UndoAnswer answer={open[0]} request={open[1]} onClose={() => setOpen(null)} />
      )}
    </Section>
  )
}

function UndoAnswer(props: {
  readonly answer: 'yes' | 'no'
  readonly request: Request
  readonly onClose: () => void
}) {
  const say = useSay()
  const [reason, setReason] = useState('')
  const { answer, request, onClose } = props
  const { id, stream, what } = request
  const isYes = answer === 'yes'
  const body = { stream, ...(isYes || reason.trim() === '' ? {} : { reason: reason.trim() }) }
  return (
    <AskDialog
      title={say(isYes ? 'undo.ask' : 'undo.deny_ask')}
      action={say(isYes ? 'undo.act' : 'deny.act')}
      look={isYes ? 'main' : 'danger'}
      act={() => proven(isYes ? 'approveUndo' : 'denyUndo', { params: { id }, body })}
      onClose={onClose}
    >
      <p>
        <code>
          <Said>{what}</Said>
        </code>
      </p>
      {!isYes && (
        <TextField value={reason} onChange={setReason} className="field" autoFocus>
          <Label>{say('deny.reason')}</Label>
          <TextArea rows={3} />
        </TextField>
      )}
    </AskDialog>
  )
}
