/**
 * Ids that a shell offers at the tab key: questions that wait and acts, newest first. Read from the
 * records alone, so that a key press ends nothing, recovers nothing and opens no sandbox.
 */
import type { Confirmation, Decision } from '../../contracts/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import type { CommandCall } from '../call/command.ts'
import { streamsToRead, withHistory } from '../call/home.ts'
import { questionId } from '../effects/question-text.ts'
import { openFact } from '../history/facts.ts'
import { shortId } from '../history/short-id.ts'

export const ID_KINDS = ['questions', 'acts'] as const
export type IdKind = (typeof ID_KINDS)[number]

/** More than a shell shows at once. */
const NEWEST = 100

export async function knownIds(call: CommandCall, kind: IdKind): Promise<readonly string[]> {
  return withHistory(call, async (session) => {
    const ids = new Set<string>()
    for (const stream of await streamsToRead(session, call)) {
      const decisions = await newest<Decision>(session.ledger, stream, 'decision_v1')
      if (kind === 'acts') for (const { action_id } of decisions) ids.add(shortId(action_id))
      else for (const id of await questions(session.ledger, stream, decisions)) ids.add(id)
    }
    return [...ids]
  })
}

/** The last decision about an act asks, and no answer is recorded. */
async function questions(
  ledger: LedgerReader,
  stream: string,
  decisions: readonly Decision[],
): Promise<readonly string[]> {
  const answers = await newest<Confirmation>(ledger, stream, 'confirmation_v1')
  const seen = new Set(answers.map(({ action_id }) => action_id))
  return decisions.flatMap(({ action_id, decision, result_digest }) => {
    if (seen.has(action_id)) return []
    seen.add(action_id)
    const isAsked = decision === 'CONFIRM' && result_digest !== undefined
    return isAsked ? [questionId({ resultDigest: result_digest })] : []
  })
}

async function newest<T>(
  ledger: LedgerReader,
  stream: string,
  type: string,
): Promise<readonly T[]> {
  const page = await ledger.store.find({ stream, type, limit: NEWEST, order: 'newest_first' })
  const opened = await Promise.all(page.facts.map(({ text }) => openFact(ledger, text)))
  // The store judged the record by its contract; only one that is gone is null.
  return opened.flatMap(({ payload }) => (payload === null ? [] : [payload as T]))
}
