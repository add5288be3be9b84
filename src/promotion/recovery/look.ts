/**
 * How an interrupted tree looks: which paths are neither old nor new, nor on the way from one to the
 * other. Only looks. The two places of a step tell how far it came, the path has to fit to that.
 */
import type { ChangeSide, RawPath } from '../../gate/index.ts'
import { errnoOf } from '../../machine/index.ts'
import { neitherState } from '../entries/directory-attributes.ts'
import { isOfState, lookAt, treeDifferences } from '../entries/entry.ts'
import type { Ground } from '../entries/ground.ts'
import { type ExchangeStep, isInPlace, putsTree, takesTree } from '../entries/plan.ts'
import { hasBegun, isPlaceholder } from '../exchange/apply.ts'
import { isUntouched, turnsOf, unfinished } from '../exchange/run.ts'
import type { Exchange } from '../journal/exchange.ts'
import type { Mark } from '../journal/journal.ts'

/** Paths of the part that was under way; parts before it are done, those after it not begun. */
export async function strangePaths(
  exchange: Exchange,
  marks: readonly Mark[],
  ground: Ground,
): Promise<readonly RawPath[]> {
  if (marks.includes('applied') || marks.includes('reverted')) return []
  const [part] = unfinished(exchange.parts)
  if (part === undefined) return []
  const strange = await neitherState(turnsOf(part, 'forwards'), ground)
  // Where nothing was begun, what others did since is none of our business.
  if (isUntouched(exchange)) return strange
  // On the way back the same goes for every step that was not begun, or is back already.
  const steps = marks.includes('reverting') ? part.steps.filter(hasBegun) : part.steps
  return [...strange, ...steps.flatMap((step) => strangeIn(step, ground))]
}

/** Returns paths of a step that hold what they should not, given how far the step came. */
function strangeIn(step: ExchangeStep, ground: Ground): readonly RawPath[] {
  if (isInPlace(step)) return []
  const { path, take, put } = step
  const address = ground.atIfThere(path)
  const here = lookAt(address)
  const taken = take === null ? null : lookAt(take)
  const staged = put === null ? null : lookAt(put)
  if (!hasBegun(step)) {
    // Linked and not yet taken from the stage, or a directory was made for it.
    if (take === null && address !== null && isOnTheWay(step, address, ground)) return []
    return against(step, address, 'before')
  }
  if (take !== null && taken === null) return [path]
  if (put !== null && staged === null) return against(step, address, 'after')
  if (here === null || address === null) return []
  return put !== null && isOnTheWay(step, address, ground) ? [] : [path]
}

/** What is to come is linked already, or the directory for it is made. */
function isOnTheWay(step: ExchangeStep, address: Buffer, ground: Ground): boolean {
  const { put, path } = step
  const here = lookAt(ground.atIfThere(path))
  if (put === null || here === null) return false
  if (putsTree(step)) return isPlaceholder(here, address)
  return here.inode === lookAt(put)?.inode && isOfState(address, step.changes[0].after, false)
}

function against(step: ExchangeStep, address: Buffer | null, side: ChangeSide): readonly RawPath[] {
  const { path, changes } = step
  const isTree = side === 'before' ? takesTree(step) : putsTree(step)
  const state = side === 'before' && step.take === null ? null : changes[0][side]
  if (address === null) return state === null ? [] : [path]
  try {
    if (!isTree) return isOfState(address, state, false) ? [] : [path]
    return treeDifferences({ address, path, changes, side, own: false, loose: true })
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return [path]
  }
}
