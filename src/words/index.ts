/**
 * Room: words. What acts, questions and amounts are in words, with nothing in them that a terminal
 * obeys. Sees base, contracts, gate, machine and service.
 */
export { visible, visibleLine, visibleName } from '../base/index.ts'
export { counted, countsText, grouped, sizeText } from './amount.ts'
export { EDIT_SCRIPT } from './edit-script.ts'
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
export { visiblePath } from './visible.ts'
