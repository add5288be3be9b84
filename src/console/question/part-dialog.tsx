/** Yes to a part: the service judges it by itself first, and says what would be left. */
import { useQuery } from '@tanstack/react-query'
import { client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { RiskBadge } from '../parts/basics.tsx'
import { Found } from '../parts/found.tsx'
import { Said } from '../parts/text.tsx'
import { type AnswerProps, PathList, Signed } from './answer-dialogs.tsx'
import { Counts } from './counts.tsx'

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
        {({ effects, risk, reasons, left }) => (
          <>
            <p>
              <RiskBadge risk={risk} /> <Counts effects={effects} />
            </p>
            <ul>
              {reasons.map(({ code, words }) => (
                <li key={code}>
                  <Said>{words}</Said>
                </li>
              ))}
            </ul>
            <p>{say('part.taken')}</p>
            <PathList paths={only} />
            <p>
              {say('part.left', { count: left.length })}{' '}
              {left.length > 0 &&
                say(question.asked_by.session === null ? 'part.rest_dropped' : 'part.rest_session')}
            </p>
            <PathList paths={left} />
            <Signed digest={result_digest} />
          </>
        )}
      </Found>
    </AskDialog>
  )
}
