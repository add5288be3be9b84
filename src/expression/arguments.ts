/** How many arguments a call has. */
import { showName } from '../base/index.ts'
import type { LowerContext } from './lower.ts'
import type { CallNode } from './syntax.ts'

/** Returns whether a call has the wanted number of arguments. Reports a fault if not. */
export function hasCount(
  lowering: LowerContext,
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
