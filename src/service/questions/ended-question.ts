/** What became of a question that no longer waits, in words and with the command to type now. */
import { type Fault, fault } from '../../base/index.ts'
import type { Confirmation, Evaluation, Proposal } from '../../contracts/index.ts'
import { principalText } from '../../ledger/index.ts'
import type { WholeFact } from '../../store/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { actWords } from '../records/proposal-record.ts'
import { pendingId } from './questions.ts'

/** Null when no question of this act was answered, expired or superseded. */
export async function endedQuestion(view: LedgerView, actionId: string): Promise<Fault | null> {
  const answer = await view.factOf('confirmation_v1', actionId)
  if (answer === null) return null
  const proposed = await view.factOf('proposal_v1', actionId)
  const proposal = proposed === null ? null : await view.originalOf(proposed)
  // The original of a proposal is one.
  const act = proposal === null ? 'the act' : `\`${actWords(proposal as Proposal)}\``
  // A fact is of its contract.
  const ended = answer.payload as Confirmation
  if (ended.superseded_by !== undefined) return superseded(view, ended, ended.superseded_by, act)
  return fault(CODES[ended.answer], actionId, null, wordsOf(ended, answer, act))
}

const CODES = {
  EXPIRED: 'confirm.expired',
  DENIED: 'confirm.denied',
  APPROVED: 'confirm.used',
} as const

function wordsOf(ended: Confirmation, { fact }: WholeFact, act: string) {
  const { answer, action_id: id, answered_at, expires_at } = ended
  const by = principalText(fact.principal)
  switch (answer) {
    case 'EXPIRED':
      return {
        message: `the question about ${act} expired at ${expires_at}: it was not answered in time, and nothing was changed`,
        hint: 'run the command again; its new question is shown by `writ inbox`',
      }
    case 'DENIED':
      return {
        message: `${by} denied ${act} at ${answered_at}; nothing was changed`,
        hint: 'run the command again to be asked again',
      }
    case 'APPROVED':
      return {
        message: `${by} approved ${act} at ${answered_at}`,
        hint: `\`writ show ${id}\` tells what became of it`,
      }
    default:
      return answer satisfies never
  }
}

async function superseded(
  view: LedgerView,
  { action_id, answered_at }: Confirmation,
  by: string,
  act: string,
): Promise<Fault> {
  const newest = await newestAfter(view, by)
  const open = (await view.standing()).question(newest)
  const evaluated = await view.factOf('evaluation_v1', action_id)
  // A fact is of its contract.
  const session = (evaluated?.payload as Evaluation | undefined)?.session
  const isOfSession = session !== undefined
  const isAsked = open !== null || (await view.factOf('decision_v1', newest)) !== null
  if (isOfSession && !isAsked) {
    const message = `the question about ${act} ended at ${answered_at} without an answer: the session took back what it was about, or the real files changed meanwhile; nothing of it was changed`
    const hint = `\`writ session show ${session.session_id}\` tells what is pending, and names conflicts`
    return fault('confirm.superseded', action_id, null, { message, hint })
  }
  const why = isOfSession
    ? 'what is pending in the session changed, and nothing of this question was made real'
    : 'the same command was run again, and nothing of this run was changed'
  const message = `the question about ${act} was superseded by ${newest} at ${answered_at}: ${why}`
  const id = open === null ? newest : pendingId(open)
  const hint =
    open === null
      ? `\`writ show ${id}\` tells what became of it`
      : `answer it: \`writ approve ${id}\``
  return fault('confirm.superseded', action_id, null, { message, hint })
}

/** The last of the questions that each took the place of the one before. */
async function newestAfter(view: LedgerView, first: string): Promise<string> {
  const seen = new Set([first])
  for (let newest = first; ; ) {
    const answer = await view.factOf('confirmation_v1', newest)
    // A fact is of its contract.
    const next = (answer?.payload as Confirmation | undefined)?.superseded_by
    if (next === undefined || seen.has(next)) return newest
    seen.add(next)
    newest = next
  }
}
