/** Yes to a part: the service judges it by itself first, and says what would be left. */
import { useQuery } from '@tanstack/react-query'
import { client, proven } from '../app/service.ts'
import { useSay } from '../app/settings.tsx'
import { AskDialog } from '../parts/ask-dialog.tsx'
import { Found, RiskBadge } from '../parts/basics.tsx'
import { PathName, Said } from '../parts/text.tsx'
import { type AnswerProps, Signed } from './answer-dialogs.tsx'
import { Counts } from './counts.tsx'

const LISTED_MAX = 50

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
            <p>{say('part.left', { count: left.length })}</p>
            <ul className="listed">
              {left.slice(0, LISTED_MAX).map((path) => (
                <li key={path}>
                  <PathName path={path} />
                </li>
              ))}
            </ul>
            <Signed digest={result_digest} />
          </>
        )}
      </Found>
    </AskDialog>
  )
}
