/** Takes an action back, after showing what is restored. */
import type { ActDocument } from '../../api/index.ts'
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { actPaths } from './act-paths.ts'
import { AskDialog } from './ask-dialog.tsx'
import { PathName, Said } from './text.tsx'

const LISTED_MAX = 50

interface UndoProps {
  readonly act: Pick<ActDocument, 'action_id' | 'stream' | 'what' | 'promotion' | 'result'>
  readonly onClose: () => void
}

export function UndoDialog({ act, onClose }: UndoProps) {
  const say = useSay()
  const paths = actPaths(act)
  const total = act.promotion?.payload.paths ?? paths.length
  const { action_id: id, stream } = act
  return (
    <AskDialog
      title={say('undo.ask')}
      action={say('undo.act')}
      act={() => proven('rollBackAction', { params: { id }, body: { stream } })}
      onClose={onClose}
    >
      <p>
        <code>
          <Said>{act.what ?? id}</Said>
        </code>
      </p>
      <p>{say('undo.restores', { count: total })}</p>
      <ul className="listed">
        {paths.slice(0, LISTED_MAX).map((path) => (
          <li key={path}>
            <PathName path={path} />
          </li>
        ))}
      </ul>
    </AskDialog>
  )
}
