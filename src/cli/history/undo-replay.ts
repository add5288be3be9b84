/**
 * Replay of answers to requests for an undo (L-9): each answer has an earlier request that was open then,
 * a human gave it, and an act is asked back by the principal who proposed it.
 */
import type { UndoRequest } from '../../contracts/index.ts'
import { type OpenedFact, principalText, type Replay, type Replayer } from '../../ledger/index.ts'

export const replayUndo: Replayer = async (fact, payload, lookup) => {
  // The store judged the record by its contract before it was written.
  const { request_id, event, action_id } = payload as UndoRequest
  const before = (facts: readonly OpenedFact[]) => facts.filter(({ seq }) => seq < fact.seq)
  const { stream, principal } = fact
  if (event === 'ASKED') {
    const [proposed] = before(await lookup.ofAction(stream, 'proposal_v1', action_id))
    const isOwn =
      proposed !== undefined && principalText(proposed.principal) === principalText(principal)
    return isOwn ? { kind: 'equal' } : differs(event, 'not an act of the principal who asks')
  }
  const earlier = before(await lookup.ofAction(stream, 'undo_request_v1', action_id))
    // The lookup gives these requests only.
    .map(({ payload }) => payload as UndoRequest | null)
    .filter((one) => one?.request_id === request_id)
  const [asked, ...answers] = earlier
  if (asked?.event !== 'ASKED') return differs(event, 'no request was open')
  if (answers.length > 0) return differs(event, 'the request was answered before')
  const isOver = Date.parse(asked.expires_at ?? '') <= Date.parse(fact.occurred_at)
  if (event === 'EXPIRED') return isOver ? { kind: 'equal' } : differs(event, 'it was not over')
  if (principal.kind !== 'human') return differs(event, 'no human answered')
  return isOver ? differs(event, 'the request was over') : { kind: 'equal' }
}

function differs(event: string, computed: string): Replay {
  return { kind: 'different', recorded: { event }, computed: { event: computed } }
}
