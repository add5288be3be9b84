/** The buttons of a question, below everything else. */
import { Ban, Check, CheckCheck, Repeat, Scissors } from 'lucide-react'
import { useSay } from '../app/settings.tsx'
import { Press } from '../parts/basics.tsx'
import type { WholeQuestion } from './question.ts'

export const ANSWERS = ['approve', 'deny', 'part', 'alike', 'always'] as const
export type AnswerName = (typeof ANSWERS)[number]

interface ButtonsProps {
  readonly question: WholeQuestion
  /** How many paths are chosen. */
  readonly chosen: number
  /** How many wait that are alike, this one among them; 0 while that is not known. */
  readonly alike?: number
  readonly onAnswer: (answer: AnswerName) => void
}

export function AnswerButtons({ question, chosen, alike = 0, onAnswer }: ButtonsProps) {
  const say = useSay()
  const { approvals, always, changes } = question
  return (
    <div className="answer-bar" role="toolbar" aria-label={say('answer.label')}>
      {approvals !== null && (
        <span className="quiet">
          {say('answer.several', { needed: approvals.needed, given: approvals.given.length })}
        </span>
      )}
      <Press look="danger" onPress={() => onAnswer('deny')}>
        <Ban aria-hidden="true" /> {say('deny')} <kbd>d</kbd>
      </Press>
      <span className="grow" />
      {always !== null && (
        <Press onPress={() => onAnswer('always')}>
          <Repeat aria-hidden="true" /> {say('always')}
        </Press>
      )}
      {alike > 1 && (
        <Press onPress={() => onAnswer('alike')}>
          <CheckCheck aria-hidden="true" />{' '}
          {say(chosen > 0 ? 'alike.whole' : 'alike', { count: alike })}
        </Press>
      )}
      {chosen > 0 ? (
        <Press look="main" onPress={() => onAnswer('part')}>
          <Scissors aria-hidden="true" /> {say('part', { count: chosen })} <kbd>a</kbd>
        </Press>
      ) : (
        <Press look="main" onPress={() => onAnswer('approve')}>
          <Check aria-hidden="true" /> {say('approve', { count: changes.length })} <kbd>a</kbd>
        </Press>
      )}
    </div>
  )
}
