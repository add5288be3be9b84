/** How many arguments a call has. */
import { showName } from '../base/index.ts'
import type { Lowering } from './lower.ts'
import type { CallNode } from './syntax.ts'

/** Whether as many arguments stand there as wanted; tells when not. */
export function hasCount(
  lowering: Lowering,
  node: CallNode,
  found: number,
  wanted: number,
): boolean {
  if (found === wanted) return true
  const count = wanted === 1 ? '1 argument' : `${wanted} arguments`
  const message = `${showName(node.name)} takes ${count}, found ${found}`
  lowering.refuse('expression.arguments', node.at, message)
  return false
}
