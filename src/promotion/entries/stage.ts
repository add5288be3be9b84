/**
 * What was staged, as a plan needs it: places of the entries and trees that are put by themselves. The
 * stage was written when the rehearsed bytes were captured; here the bytes are hashed again before
 * anything is done with them.
 */

import { join } from 'node:path'
import type { ChangeSide, RawPath } from '../../gate/index.ts'
import { errnoOf } from '../../machine/index.ts'
import { readStage } from '../../tree/index.ts'
import { isOfState, treeDifferences } from './entry.ts'
import { pathsFailure } from './failure.ts'
import {
  type ExchangeStep,
  type Place,
  type PlannedSteps,
  type PlanPlaces,
  putsTree,
  takesTree,
} from './plan.ts'

/** Fails when the stage is not whole. */
export function readPlaces(stage: string): PlanPlaces {
  const { entries } = readStage(stage, ({ isUnit }) => isUnit)
  const places = new Map<RawPath, Place>()
  for (const { path, place } of entries) {
    // A unit has a plain name of its own; what comes along in a directory is found below that.
    places.set(path, { place: join(stage, place), unit: 'tree' })
  }
  return places
}

/** Fails unless everything was staged and is unchanged since. */
export function checkStage({ steps, unstaged }: PlannedSteps): void {
  const altered = [...unstaged, ...steps.flatMap(stageDifferences)]
  if (altered.length > 0) throw pathsFailure('promote.stage_altered', altered)
}

/** Returns the paths of a step's staged entry or tree that differ from the changes. */
export function stageDifferences(step: ExchangeStep): readonly RawPath[] {
  return step.put === null ? [] : differencesAt(step, step.put, 'after', putsTree(step))
}

/** Returns the paths of a step's displaced entry or tree that differ from the changes. */
export function takenDifferences(step: ExchangeStep): readonly RawPath[] {
  return step.take === null ? [] : differencesAt(step, step.take, 'before', takesTree(step))
}

function differencesAt(
  { path, changes }: ExchangeStep,
  address: string,
  side: ChangeSide,
  isTree: boolean,
): readonly RawPath[] {
  try {
    if (!isTree) return isOfState(address, changes[0][side], true) ? [] : [path]
    return treeDifferences({ address, path, changes, side, own: true })
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return [path]
  }
}
