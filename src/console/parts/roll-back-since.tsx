/** Takes back everything that changed since a moment, after the service said what that would restore. */
import { useRef, useState } from 'react'
import { Input, Label, TextField } from 'react-aria-components'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from './ask-dialog.tsx'
import { PathName } from './text.tsx'

const LISTED_MAX = 50
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

interface Restored {
  readonly restored: readonly string[]
}

/** A moment as the field for local times has it. */
function localText(ms: number): string {
  const shifted = ms - new Date(ms).getTimezoneOffset() * MINUTE_MS
  return new Date(shifted).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length)
}

export function RollBackSince({ onClose }: { readonly onClose: () => void }) {
  const say = useSay()
  const [moment, setMoment] = useState(() => localText(Date.now() - HOUR_MS))
  const [shown, setShown] = useState<readonly string[] | null>(null)
  /** The first dialog ends with the second one, and not with none. */
  const isShown = useRef(false)
  const ms = Date.parse(moment)
  const since = Number.isNaN(ms) ? '' : new Date(ms).toISOString()
  if (shown !== null) {
    return (
      <AskDialog
        title={say('rollback.ask')}
        action={say('rollback.act')}
        look="danger"
        isReady={shown.length > 0}
        act={() => proven('rollBackSince', { body: { since } })}
        onClose={onClose}
      >
        <p>{say('undo.restores', { count: shown.length })}</p>
        <ul className="listed">
          {shown.slice(0, LISTED_MAX).map((path) => (
            <li key={path}>
              <PathName path={path} />
            </li>
          ))}
        </ul>
        {shown.length > LISTED_MAX && (
          <p className="quiet">{say('more', { count: shown.length - LISTED_MAX })}</p>
        )}
      </AskDialog>
    )
  }
  return (
    <AskDialog
      title={say('rollback.title')}
      action={say('rollback.preview')}
      isReady={since !== ''}
      act={async () => {
        const answer = await proven('rollBackSince', { body: { since, dry_run: true } })
        isShown.current = true
        // The command that restores answers with these fields.
        setShown((answer as unknown as Restored).restored)
      }}
      onClose={() => !isShown.current && onClose()}
    >
      <p>{say('rollback.says')}</p>
      <TextField className="field" type="datetime-local" value={moment} onChange={setMoment}>
        <Label>{say('rollback.since')}</Label>
        <Input />
      </TextField>
    </AskDialog>
  )
}
