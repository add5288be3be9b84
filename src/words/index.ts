/**
 * Room: words. What acts, questions and amounts are in words, with nothing in them that a terminal
 * obeys. Sees base, contracts, gate, machine and service.
 */
export { counted, countsText, grouped, sizeText } from './amount.ts'
export {
  askText,
  commandLine,
  operationLines,
  operationTitle,
  resultText,
  undoSentText,
} from './operation-text.ts'
export {
  type AskedQuestion,
  failureText,
  headJson,
  reasonWords,
} from './question-words.ts'
export { visible, visibleLine, visibleName, visiblePath } from './visible.ts'
