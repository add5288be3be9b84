/** Yes, no, and yes from now on. */
import { useState } from 'react'
import { Label, TextArea, TextField } from 'react-aria-components'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { RiskBadge } from '../parts/basics.tsx'
import { PathName, Said } from '../parts/text.tsx'
import { Counts } from './counts.tsx'
import { RunsLater, UndoWords } from './later.tsx'
import {
  grantedPlace,
  inOrder,
  named,
  type QuestionChange,
  type WholeQuestion,
  wordOf,
} from './question.ts'

export interface AnswerProps {
  readonly question: WholeQuestion
  readonly onDone: () => Promise<void>
  readonly onClose: () => void
}

const SHOWN_DIGITS = 19

/** What the passkey signs: this question with exactly these effects. */
export function Signed({ digest }: { readonly digest: string }) {
  const say = useSay()
  return (
    <p className="quiet">
      {say('approve.signed')} <code>{digest.slice(0, SHOWN_DIGITS)}</code>
    </p>
  )
}

const LISTED_MAX = 50
/** Deletions that are named before the answer. */
const NAMED_MAX = 5

/** The first paths of a list, with what happens to each; the page behind the dialog has all of them. */
export function ChangeList({ changes }: { readonly changes: readonly QuestionChange[] }) {
  const say = useSay()
  return (
    <ul className="listed">
      {changes.slice(0, LISTED_MAX).map((change) => (
        <li key={change.path}>
          <strong className={wordOf(change)}>{say(`change.${wordOf(change)}`)}</strong>{' '}
          <PathName path={named(change)} />
        </li>
      ))}
    </ul>
  )
}

export function ApproveDialog({ question, ...props }: AnswerProps) {
  const say = useSay()
  const { id, result_digest, effects, risk, changes } = question
  const deferred = changes.filter((change) => change.deferred)
  const deleted = inOrder(changes).filter((change) => wordOf(change) === 'deleted')
  return (
    <AskDialog
      {...props}
      title={say('approve.title')}
      action={say('approve.act')}
      act={() => proven('approveQuestion', { params: { id }, body: { result_digest } })}
    >
      <p>
        <RiskBadge risk={risk} /> <Counts effects={effects} changes={changes} />
      </p>
      {deleted.length > 0 && (
        <>
          <p className="deleted">{say('approve.deleted')}</p>
          <ChangeList changes={deleted.slice(0, NAMED_MAX)} />
          {deleted.length > NAMED_MAX && (
            <p className="quiet">{say('more', { count: deleted.length - NAMED_MAX })}</p>
          )}
        </>
      )}
      {deferred.length > 0 && (
        <>
          <p className="warns">{say('approve.deferred', { count: deferred.length })}</p>
          <ul className="listed">
            {deferred.slice(0, LISTED_MAX).map((change) => (
              <li key={change.path}>
                <PathName path={change.path} />: <RunsLater question={question} change={change} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <UndoWords question={question} />
      </p>
      <Signed digest={result_digest} />
    </AskDialog>
  )
}

export function DenyDialog({ question, ...props }: AnswerProps) {
  const say = useSay()
  const [reason, setReason] = useState('')
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  return (
    <AskDialog
      {...props}
      title={say('deny.title')}
      action={say('deny.act')}
      look="danger"
      act={() => proven('denyQuestion', { params: { id: question.id }, body })}
    >
      <p>{say('deny.says')}</p>
      <TextField value={reason} onChange={setReason} className="field" autoFocus>
        <Label>{say('deny.reason')}</Label>
        <TextArea rows={3} />
      </TextField>
    </AskDialog>
  )
}

export function AlwaysDialog({ question, ...props }: AnswerProps) {
  const say = useSay()
  const { id, result_digest, always } = question
  const place = grantedPlace(question)
  return (
    <AskDialog
      {...props}
      title={say('always.title')}
      action={say('always.act')}
      act={() =>
        proven('approveQuestion', { params: { id }, body: { result_digest, always: true } })
      }
    >
      <p>{say('always.says')}</p>
      <p className="grant">
        <Said>{always?.agent ?? ''}</Said> →{' '}
        {place === null ? <code>{always?.glob}</code> : <PathName path={place} />}
      </p>
      <p>
        {say(`always.${reachOf(always?.glob ?? '')}`)}. {place === null && say('always.workspace')}
      </p>
      <p className="quiet">
        {say('always.bounds', { days: always?.days ?? 0, acts: always?.acts ?? 0 })}
      </p>
      <Signed digest={result_digest} />
    </AskDialog>
  )
}

function reachOf(glob: string): 'file' | 'flat' | 'deep' {
  if (glob.endsWith('/**')) return 'deep'
  return glob.endsWith('/*') ? 'flat' : 'file'
}
