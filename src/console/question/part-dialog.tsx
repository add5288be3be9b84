/** Yes to a part: the service judges it by itself first, and says what would be left. */
import { useQuery } from '@tanstack/react-query'
import { client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { RiskBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Said } from '../parts/text.tsx'
import { type AnswerProps, ChangeList, Signed } from './answer-dialogs.tsx'
import { Counts } from './counts.tsx'
import { UndoWords } from './later.tsx'

export function PartDialog({
  question,
  chosen,
  ...props
}: AnswerProps & { readonly chosen: ReadonlySet<string> }) {
  const say = useSay()
  const { id } = question
  const only = [...chosen].sort()
  const part = useQuery({
    queryKey: ['part', id, question.result_digest, only],
    queryFn: async () => (await client.showPart({ params: { id }, body: { only } })).value,
    retry: false,
  })
  const result_digest = part.data?.result_digest ?? ''
  return (
    <AskDialog
      {...props}
      title={say('part.title')}
      action={say('part.act')}
      isReady={part.data !== undefined}
      act={() => proven('approveQuestion', { params: { id }, body: { result_digest, only } })}
    >
      <Found query={part}>
        {({ effects, risk, reasons, changes, left }) => (
          <>
            <p>
              <RiskBadge risk={risk} /> <Counts effects={effects} changes={changes} />
            </p>
            <p>{say('part.why')}</p>
            <ul>
              {/* What is left out is listed below. */}
              {reasons
                .filter(({ code }) => code !== 'effect.not_taken')
                .map(({ code, words }) => (
                  <li key={code}>
                    <Said>{words}</Said>
                  </li>
                ))}
            </ul>
            <p>{say('part.taken')}</p>
            <ChangeList changes={changes} />
            <p>
              {say('part.left', { count: left.length })}{' '}
              {left.length > 0 &&
                say(question.asked_by.session === null ? 'part.rest_dropped' : 'part.rest_session')}
            </p>
            <ChangeList changes={question.changes.filter(({ path }) => left.includes(path))} />
            <p>
              <UndoWords question={{ ...question, changes }} />
            </p>
            <Signed digest={result_digest} />
          </>
        )}
      </Found>
    </AskDialog>
  )
}
