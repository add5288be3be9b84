/** Which changes a settle leaves out: those that wait, were refused, or could not be promoted just now. */
import { type Change, isBelow, type RawPath } from '../gate/index.ts'
import type { PendingScan } from '../view/index.ts'
import { isStill, stateOf, statesOf, withoutRows } from './pending-part.ts'
import type { SessionMemory } from './session-files.ts'
import type { SettleCause } from './settled.ts'

export interface Hindered {
  readonly states: Readonly<Record<string, string>>
  readonly untilMs: number
}

/** Tells changes that wait or were refused as they are. */
export function settledIn(
  { question, refused }: SessionMemory,
  isOvertaken: boolean,
): (change: Change) => boolean {
  const asked = question === null || isOvertaken ? {} : question.states
  return (change) => {
    // Not by its state: while a person looks at the question, its paths wait.
    if (Object.hasOwn(asked, change.path)) return true
    return Object.hasOwn(refused, change.path) && refused[change.path] === stateOf(change)
  }
}

/**
 * What was blocked together with a directory above it, or with something in it, is judged again when that
 * was changed. Not so what a person denied, or what waits for a conflict to be solved.
 */
export function withoutAltered(
  memory: SessionMemory,
  { changes, conflicts }: Pick<PendingScan, 'changes' | 'conflicts'>,
): SessionMemory {
  const { refused, denied = {} } = memory
  const kept = new Set([...Object.keys(denied), ...conflicts.map(({ path }) => path)])
  const own = (Object.keys(refused) as RawPath[]).filter((path) => !kept.has(path)) // Keys are raw.
  if (own.length === 0) return memory
  const now = statesOf(changes)
  const altered = own.filter((path) => now[path] !== refused[path])
  if (altered.length === 0) return memory
  const isWith = (path: RawPath): boolean =>
    altered.some((each) => isBelow(path, each) || isBelow(each, path))
  return { ...memory, refused: withoutRows(refused, own.filter(isWith)) }
}

/** Only a settle that comes by itself waits: a person and the end of the session try at once. */
export function hinderedIn(
  hindered: Hindered | null,
  { boundary }: SettleCause,
  nowMs: number,
  changes: readonly Change[],
): (change: Change) => boolean {
  const { states, untilMs } = hindered ?? { states: {}, untilMs: 0 }
  const isAsked = boundary !== 'quiet' && boundary !== 'tool'
  if (isAsked || nowMs > untilMs || !isStill(states, changes)) return () => false
  return ({ path }) => Object.hasOwn(states, path)
}
