/**
 * Turns a list of changes into steps. A step takes away the entry at a path, puts the staged entry there,
 * or both. A directory that comes or goes whole is one step with everything below it. A step that only
 * changes the attributes of a directory does neither.
 *
 * INVARIANT (one step a path): no two steps of a plan name the same path, and none lies below a
 *   directory that another one takes or puts whole, but below one that another one puts empty.
 * Pure: places are names, nothing is looked at.
 */
import { join } from 'node:path'
import {
  type Change,
  type ChangeSide,
  isSameState,
  parentOfRaw,
  type RawPath,
} from '../../gate/index.ts'
import { errnoOf } from '../../machine/index.ts'
import { readStage } from '../../tree/index.ts'
import { isOfState, treeDifferences } from './entry.ts'
import { pathsFailure } from './failure.ts'

export interface ExchangeStep {
  readonly path: RawPath
  /** Where that which is at the path goes; null when there is nothing. */
  readonly take: string | null
  /** Where that which comes to the path lies; null when nothing comes. */
  readonly put: string | null
  /** The path's own change first, then those below it that go the same way. */
  readonly changes: readonly [Change, ...Change[]]
}

/** Where the rehearsed bytes of a path lie. */
export interface Place {
  /** Absolute. */
  readonly place: string
  /** `tree`: with everything below it. `entry`: by itself; a directory is empty. */
  readonly unit: 'entry' | 'tree'
}

export type PlanPlaces = ReadonlyMap<RawPath, Place>

export interface PlannedSteps {
  readonly steps: readonly ExchangeStep[]
  /** Paths that nothing was staged for. */
  readonly unstaged: readonly RawPath[]
}

interface Unit {
  readonly path: RawPath
  readonly take: string | null
  readonly put: string | null
  readonly changes: [Change, ...Change[]]
}

/** The changes are sorted by path; what is taken away goes to `kept` and a number. */
export function planSteps(
  changes: readonly Change[],
  staged: PlanPlaces,
  kept: string,
): PlannedSteps {
  const steps: Unit[] = []
  const unstaged: RawPath[] = []
  /** For every directory that lies in a whole tree: the step that moves the tree. */
  const whole = new Map<RawPath, Unit>()
  for (const change of changes) {
    const { path } = change
    const over = whole.get(parentOfRaw(path))
    if (over !== undefined) {
      over.changes.push(change)
      if (isDirectory(change)) whole.set(path, over)
      continue
    }
    const place = staged.get(path)
    const unit = unitOf(change, place, `${kept}${steps.length}`)
    if (isPut(change) && unit.put === null) unstaged.push(path)
    steps.push(unit)
    if (movesWhole(change, place)) whole.set(path, unit)
  }
  return { steps, unstaged }
}

function isDirectory({ before, after }: Change): boolean {
  return before?.kind === 'directory' || after?.kind === 'directory'
}

function unitOf(change: Change, place: Place | undefined, kept: string): Unit {
  return {
    path: change.path,
    take: isTaken(change) ? kept : null,
    put: isPut(change) ? (place?.place ?? null) : null,
    changes: [change],
  }
}

/** A directory that stays one stays where it is. */
function isTaken({ before, after }: Change): boolean {
  return before !== null && !(before.kind === 'directory' && after?.kind === 'directory')
}

function isPut({ before, after }: Change): boolean {
  return after !== null && !(before?.kind === 'directory' && after.kind === 'directory')
}

function movesWhole(change: Change, place: Place | undefined): boolean {
  if (!isTaken(change) && !isPut(change)) return false
  if (change.before?.kind === 'directory') return true
  return change.after?.kind === 'directory' && place?.unit === 'tree'
}

/** Whether a step changes a directory in place. */
export function isInPlace({ take, put }: ExchangeStep): boolean {
  return take === null && put === null
}

export function takesTree({ take, changes: [own] }: ExchangeStep): boolean {
  return take !== null && own.before?.kind === 'directory'
}

export function putsTree({ put, changes: [own] }: ExchangeStep): boolean {
  return put !== null && own.after?.kind === 'directory'
}

/**
 * Returns the steps that undo the given ones: entries that came go, and entries that were taken away come
 * back. `stays` selects directories that came and are left; `more` are further directories that go.
 */
export function planReverse(
  steps: readonly ExchangeStep[],
  kept: string,
  stays: (path: RawPath) => boolean = () => false,
  more: readonly Change[] = [],
): PlannedSteps {
  const staged = new Map<RawPath, Place>()
  for (const step of steps) {
    if (step.take === null) continue
    staged.set(step.path, { place: step.take, unit: takesTree(step) ? 'tree' : 'entry' })
  }
  const changes = [...steps.flatMap((step) => step.changes), ...more].filter(
    ({ path, before, after }) => !(before === null && after?.kind === 'directory' && stays(path)),
  )
  const reversed = changes.map(({ path, before, after }) => ({
    path,
    before: after,
    after: before,
  }))
  return planSteps(reversed.sort(byPath), staged, kept)
}

export function byPath(one: Change, other: Change): number {
  return one.path < other.path ? -1 : 1
}

/** What several plans, one after the other, come to for each path. */
export function netChanges(plans: readonly (readonly ExchangeStep[])[]): Change[] {
  const all = plans.flat().flatMap(({ changes }) => changes)
  // One plan names no path twice.
  const net = plans.length === 1 ? all : [...joined(all).values()]
  return net.filter(({ before, after }) => !isSameState(before, after)).sort(byPath)
}

function joined(changes: readonly Change[]): ReadonlyMap<RawPath, Change> {
  const net = new Map<RawPath, Change>()
  for (const change of changes) {
    const { path, after } = change
    const known = net.get(path)
    net.set(path, known === undefined ? change : { path, before: known.before, after })
  }
  return net
}

/**
 * What was staged, as a plan needs it: places of the entries and trees that are put by themselves.
 * The stage was written when the rehearsed bytes were captured; here the bytes are hashed again
 * before anything is done with them. Fails when the stage is not whole.
 */
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
