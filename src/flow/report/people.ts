/**
 * Who decided what, and when: the reviews of a run with their texts and who gave them, and everything that
 * people said to it.
 */
import type { XiaojingReview } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowFact } from '../state/fact.ts'
import { nodeTitle, oneLine } from './words.ts'

export interface ReviewReport {
  readonly seq: number
  readonly at: string
  readonly node_id: string
  readonly node_title: string
  readonly check_id: string
  readonly check_title: string
  readonly verdict: 'APPROVE' | 'REJECT' | 'PENDING'
  readonly score: number
  /** The principal of the host that gave the review: a person, or a participant by its digest. */
  readonly by: string | null
  /** The words of the command, where the reviewer is one. */
  readonly program?: string
  readonly artifact_digest: string | null
  /** The artifact and the staged changes together; runs before did not note it. */
  readonly version?: string
  /** The files that the judged work changed, of those that the reviewer found; runs before did not note them. */
  readonly changed?: readonly string[]
  readonly changed_count?: number
  /** This reviewer may have run the work: a person's file says `runs_work: true`. */
  readonly runs_work?: true
  /** The score decided, and not the word that the reviewer wrote. */
  readonly is_word_changed: boolean
  readonly summary: string
  readonly suggestions: XiaojingReview['suggestions']
  readonly breakdown: XiaojingReview['breakdown']
}

/** What a person said: a review or work of their own, a decision, or that something may go on. */
export interface PersonReport {
  readonly seq: number
  readonly at: string
  readonly node_id: string
  readonly node_title: string
  readonly principal: string
  readonly said: string
  readonly text: string
}

export function reviewsOf(flow: CompiledFlow, facts: readonly FlowFact[]): readonly ReviewReport[] {
  const given = new GivenAnswers()
  return facts.flatMap((fact) => {
    given.take(fact)
    if (fact.type !== 'flow_event_v1' || fact.payload.kind !== 'reviewed') return []
    const { kind: _, run_id: __, ...review } = fact.payload
    const { by, review: document, changed } = given.of(review.check_id)
    return [
      {
        ...review,
        node_title: nodeTitle(flow, review.node_id),
        check_title: nodeTitle(flow, review.check_id),
        by,
        ...programOf(flow, review.check_id, by),
        ...changed,
        ...(mayRunWork(flow, review.check_id) ? { runs_work: true as const } : {}),
        summary: document?.summary ?? '',
        suggestions: document?.suggestions ?? [],
        breakdown: document?.breakdown ?? [],
      },
    ]
  })
}

/** What a reviewer is started by; a person who answered in its place is named by `by`. */
function programOf(
  { nodes, nodeIndex }: CompiledFlow,
  checkId: string,
  by: string | null,
): Pick<ReviewReport, 'program'> {
  const { reviewer } = nodes[nodeIndex.get(checkId) ?? -1]?.document ?? {}
  if (reviewer === undefined || by?.startsWith('human:') === true) return {}
  return 'command' in reviewer ? { program: oneLine(reviewer.command.join(' ')) } : {}
}

function mayRunWork({ nodes, nodeIndex }: CompiledFlow, checkId: string): boolean {
  const { reviewer } = nodes[nodeIndex.get(checkId) ?? -1]?.document ?? {}
  return reviewer !== undefined && 'runs_work' in reviewer && reviewer.runs_work === true
}

export function peopleOf(flow: CompiledFlow, facts: readonly FlowFact[]): readonly PersonReport[] {
  const given = new GivenAnswers()
  return facts.flatMap((fact) => {
    given.take(fact)
    if (fact.type !== 'flow_event_v1' || fact.payload.kind !== 'event') return []
    const { seq, at, event } = fact.payload
    const told = (node_id: string, principal: string, said: string, text = '') => {
      const node_title = nodeTitle(flow, node_id)
      return [{ seq, at, node_id, node_title, principal, said, text }]
    }
    if (event.type === 'unblocked') return told(event.node_id, event.principal, 'unblock')
    if (event.type === 'human_answer') return told(event.node_id, event.principal, event.answer)
    if (event.type === 'answer_late')
      return told(event.node_id, event.principal, `${event.word} (too late)`, event.text)
    if (event.type !== 'attempt_ended' || !event.principal.startsWith('human:')) return []
    const { review, action } = given.of(event.node_id)
    if (review !== null) {
      const text = [review.summary, ...review.suggestions.map(({ change }) => change)]
      const words = [...new Set(text)].filter((part) => part !== '').join('; ')
      return told(event.node_id, event.principal, review.action_required, words)
    }
    return action === null ? [] : told(event.node_id, event.principal, action)
  })
}

interface GivenAnswer {
  readonly by: string | null
  readonly review: XiaojingReview | null
  /** The result of work. */
  readonly action: string | null
  readonly changed: Pick<ReviewReport, 'changed' | 'changed_count'>
}

const NOTHING: GivenAnswer = { by: null, review: null, action: null, changed: {} }

/** By node: the last answer of its participant, and who gave it. */
class GivenAnswers {
  readonly #answers = new Map<string, GivenAnswer>()

  take({ type, payload }: FlowFact): void {
    if (type === 'participant_output_v1') {
      const { answer, node_id } = payload
      const review = answer?.kind === 'review' ? answer.document : null
      const action = answer?.kind === 'action' ? answer.document.result_type : null
      this.#answers.set(node_id, { ...this.of(node_id), by: null, review, action })
    } else if (type === 'flow_event_v1' && payload.kind === 'event') {
      const { event } = payload
      if (event.type === 'attempt_started') {
        const { changed, changed_count } = event
        const noted = changed === undefined || changed_count === undefined
        this.#answers.set(event.node_id, {
          ...this.of(event.node_id),
          changed: noted ? {} : { changed, changed_count },
        })
      }
      if (event.type !== 'attempt_ended') return
      this.#answers.set(event.node_id, { ...this.of(event.node_id), by: event.principal })
    }
  }

  of(nodeId: string): GivenAnswer {
    return this.#answers.get(nodeId) ?? NOTHING
  }
}
