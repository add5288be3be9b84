/**
 * What the words of an edge tell: whether it is the No of a question, in English or Chinese (no, not,
 * refuse, send back; rejected, not passed, not up to standard). A failure is no No.
 */
import type { FlowEdge } from '../../contracts/index.ts'

const NO =
  /^(?:no|not|reject(?:ed|ion|s)?|den(?:y|ied)|refused?|invalid)\b|^(?:\u5426|\u4e0d|\u672a|\u62d2|\u9a73\u56de)/iu
const REJECT =
  /\breject(?:ed|ion|s)?\b|\u62d2\u7edd|\u9a73\u56de|\u4e0d\u901a\u8fc7|\u672a\u901a\u8fc7|\u4e0d\u5408\u683c/iu

/** The label begins with a No or names a rejection. */
export function saysNo({ label }: FlowEdge): boolean {
  const text = (label ?? '').trim()
  return NO.test(text) || REJECT.test(text)
}
