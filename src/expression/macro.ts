/**
 * `exists` and `all`: `||` and `&&` over the items of a list, each item under a name. Macros do not
 * nest, so that the cost stays linear in the list.
 */
import { showName } from '../base/index.ts'
import {
  type Evaluator,
  elementOf,
  type Frame,
  kindOf,
  type LocalRead,
  type Read,
  sayType,
} from './environment.ts'
import type { LowerContext } from './lower.ts'
import { bool, type Lowered, UNKNOWN } from './lowered.ts'
import { charge } from './operator.ts'
import { chainOf, itemPath, sayPath } from './path.ts'
import { type CallNode, type Node, sizeOf } from './syntax.ts'
import { both, Failure, fail } from './value.ts'

/** `list.exists(x, condition)` and `list.all(x, condition)`: `||` and `&&` over the items. */
export function macro(lowering: LowerContext, node: CallNode, target: Node): Lowered {
  const { at, name, args } = node
  const [variable, condition] = args
  if (!hasCount(lowering, node, args.length, 2)) return UNKNOWN
  if (variable?.kind !== 'name' || condition === undefined) {
    const message = `${showName(name)} begins with a name for the item, such as \`x\``
    return lowering.refuse('expression.arguments', variable?.at ?? at, message)
  }
  if (lowering.local !== null) {
    const message = `${showName(name)} inside another macro is left out, so that the cost stays linear`
    return lowering.refuse('expression.unsupported', at, message)
  }
  if (Object.hasOwn(lowering.environment.variables, variable.name)) {
    const message = `${showName(variable.name)} has a meaning already`
    return lowering.refuse('expression.arguments', variable.at, message)
  }
  const list = lowering.lower(target)
  const element = kindOf(list.type) === 'any' ? 'any' : elementOf(list.type)
  if (element === null) {
    return lowering.refuse(
      'expression.type',
      at,
      `${showName(name)} goes over a list, not ${sayType(list.type)}`,
    )
  }
  lowering.local = { name: variable.name, type: element }
  const run = lowering.condition(condition)
  lowering.local = null
  const chain = chainOf(target)
  const path = chain === null ? 'item' : sayPath(chain.root, chain.steps)
  const weight = 4 + sizeOf(condition)
  return bool(overItems(list.run, run, name === 'exists', { path, at, weight }))
}

/**
 * Keeps the reads of the settling item. If no item settles, the list as a whole decides, together with
 * what the condition read outside its items.
 */
function overItems(
  list: Evaluator,
  condition: Evaluator,
  settling: boolean,
  { path, at, weight }: { path: string; at: number; weight: number },
): Evaluator {
  return (frame) => {
    const { reads } = frame
    const mark = reads.length
    const items = list(frame)
    if (items instanceof Failure) return items
    if (!Array.isArray(items)) return fail('expression.overload', at, 'what is here is no list')
    const first = reads.length
    let start = first
    frame.localList = path
    let failure: Failure | null = null
    for (let index = 0; index < items.length; index++) {
      const spent = charge(frame, weight, at)
      if (spent !== null) return spent
      frame.local = items[index]
      frame.localIndex = index
      const value = condition(frame)
      if (value === settling) {
        reads.splice(mark, start - mark)
        placeItem(frame, mark)
        return settling
      }
      start = keepCommon(reads, first, start)
      if (value instanceof Failure) failure = both(failure, value)
    }
    return failure ?? !settling
  }
}

/** Adds the item's index to the reads of the settling item. Adds a read of the item if there is none. */
function placeItem(frame: Frame, from: number): void {
  const { reads } = frame
  const item = itemPath(frame)
  let isRead = false
  for (let index = from; index < reads.length; index++) {
    const read = reads[index] as Read | LocalRead // `index` is below the length.
    if (!('isLocal' in read)) continue
    reads[index] = { path: item + read.path, value: read.value }
    isRead = true
  }
  if (!isRead) reads.push({ path: item, value: frame.local })
}

/** Drops reads of the item from `start` on, and repeats of what is kept since `first`. */
function keepCommon(reads: Frame['reads'], first: number, start: number): number {
  let end = start
  for (let index = start; index < reads.length; index++) {
    const read = reads[index] as Read | LocalRead // `index` is below the length.
    if ('isLocal' in read || isListed(reads, first, end, read.path)) continue
    reads[end++] = read
  }
  reads.length = end
  return end
}

function isListed(reads: Frame['reads'], from: number, to: number, path: string): boolean {
  for (let index = from; index < to; index++) if (reads[index]?.path === path) return true
  return false
}

/**
 * How many arguments a call has.
 *
 * Returns whether a call has the wanted number of arguments. Reports a fault if not.
 */
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
