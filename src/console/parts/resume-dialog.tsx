/** Ends a halt. */
import { proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from './ask-dialog.tsx'

export function ResumeDialog({ onClose }: { readonly onClose: () => void }) {
  const say = useSay()
  return (
    <AskDialog
      title={say('resume.title')}
      action={say('resume.act')}
      act={() => proven('resume', {})}
      onClose={onClose}
    >
      <p>{say('resume.says')}</p>
    </AskDialog>
  )
}
