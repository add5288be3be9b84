/** What became of recent actions that are similar to a question: of one kind, and begun by the same program. */
import { actsOf } from '../../history/index.ts'
import { operationTitle } from '../../words/index.ts'
import { findQuestion } from './questions.ts'
import type { Handler } from './route-call.ts'

const LOOKED_AT = 200
const SHOWN = 5
/** Outcomes that say what a person or the gate thought of an action. */
const ENDED: ReadonlySet<string> = new Set([
  'promoted',
  'denied',
  'undone',
  'expired',
  'blocked',
  'put back',
])

export const listSimilar: Handler<'listSimilar'> = async (call) => {
  const { question, stream } = await findQuestion(call)
  const { descriptor } = question.proposal
  const program = firstWord(operationTitle(question.proposal))
  const query = { stream, limit: LOOKED_AT, order: 'newest_first' } as const
  const acts = await actsOf(call.home.ledger, query, LOOKED_AT)
  const similar = acts.flatMap(({ id, outcome, at, proposal }) => {
    if (proposal === null || id === question.actionId || !ENDED.has(outcome)) return []
    const what = operationTitle(proposal.payload)
    const isSimilar =
      proposal.payload.descriptor.action_type === descriptor.action_type &&
      firstWord(what) === program
    return isSimilar ? [{ action_id: id, what, status: outcome, at }] : []
  })
  const outcomes = [...ENDED].flatMap((status) => {
    const count = similar.filter((one) => one.status === status).length
    return count === 0 ? [] : [{ status, count }]
  })
  return { value: { looked_at: acts.length, outcomes, actions: similar.slice(0, SHOWN) } }
}

/** `npm`, `rm`, the program of an agent, a kind of act. */
function firstWord(what: string): string {
  return what.split(/\s/, 1)[0] ?? what
}
