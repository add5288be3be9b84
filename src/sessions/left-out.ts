/** Which changes a settle leaves out: those that wait, were refused, or could not be promoted just now. */
import type { Change } from '../gate/index.ts'
import { isStill, stateOf } from './pending-part.ts'
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
