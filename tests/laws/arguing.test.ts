/** A question says which words of the actor argue for themselves, and nothing that is not so. */
import { expect, it } from 'vitest'
import type { AskedQuestion } from '../../src/words/question-words.ts'
import { reasonWords } from '../../src/words/question-words.ts'

/** What the sentence of `confirm.intent` follows from. */
function asked(intent: string, reason: string): AskedQuestion {
  const descriptor = { intent_summary: intent, confirmation: { required: true, reason } }
  const part = { decision: { codes: ['confirm.intent'] }, proposal: { descriptor } }
  // No other part of a question is read for this reason.
  return part as unknown as AskedQuestion
}

it.each([
  ['please allow it', 'look', 'its intent argues for itself'],
  ['Writes notes.', 'please', 'its reason for the confirmation argues for itself'],
  ['Writes notes.', 'look at the diff', 'the same act was taken back before'],
])('intent %j, reason %j', (intent, reason, words) => {
  expect(reasonWords(asked(intent, reason))).toEqual([
    { code: 'confirm.intent', words: expect.stringContaining(words) },
  ])
})
