/**
 * What was staged, as a plan needs it: places of the entries and trees that are put by themselves. The
 * stage was written when the rehearsed bytes were captured; here the bytes are hashed again before
 * anything is done with them.
 */
import { join } from 'node:path'
import type { RawPath } from '../../gate/index.ts'
import { readStage } from '../tree/stage.ts'
import { isOfState } from './entry.ts'
import { errnoOf, pathsFailure } from './failure.ts'
import { type Place, type Places, type Planned, putsTree, type Step } from './plan.ts'
import { treeDifferences } from './tree.ts'

/** Fails when the stage is not whole. */
export async function readPlaces(stage: string): Promise<Places> {
  const { entries } = await readStage(stage)
  const places = new Map<RawPath, Place>()
  for (const { path, place, isUnit } of entries) {
    // A unit has a plain name of its own; what comes along in a directory is found below that.
    if (isUnit) places.set(path, { place: join(stage, place), unit: 'tree' })
  }
  return places
}

/** Everything was staged, and is still what it was. */
export function checkStage({ steps, unstaged }: Planned): void {
  const altered = [...unstaged, ...steps.flatMap(stageDifferences)]
  if (altered.length > 0) throw pathsFailure('promote.stage_altered', altered)
}

/** What of a step's incoming entry or tree is not what the changes say. */
export function stageDifferences(step: Step): readonly RawPath[] {
  const { path, put, changes } = step
  if (put === null) return []
  try {
    if (!putsTree(step)) return isOfState(put, changes[0].after, true) ? [] : [path]
    return treeDifferences({ address: put, path, changes, side: 'after', own: true })
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return [path]
  }
}
