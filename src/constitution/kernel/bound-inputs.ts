/**
 * Whether the three inputs speak of the same thing. Nothing is merged across subjects: where the
 * subject of problem_state and permission_set differ, or the envelope belongs to another problem
 * state, every verdict is UNDETERMINED. What is missing does not bind either.
 */
import { isObject } from '../../contracts/index.ts'
import type { Inputs } from './projection.ts'

export function inputsAreBound({
  problem_state: state,
  uncertainty_envelope: envelope,
  permission_set: permission,
}: Inputs): boolean {
  if (!isObject(state) || !isObject(envelope) || !isObject(permission)) return false
  const id = state['problem_state_id']
  if (typeof id !== 'string' || envelope['problem_state_ref'] !== id) return false
  return subjectsAreEqual(state['subjectRef'], permission['subjectRef'])
}

/** Leaf by leaf, written out: every evaluation comes through here. */
function subjectsAreEqual(left: unknown, right: unknown): boolean {
  if (!isObject(left) || !isObject(right)) return false
  return (
    isSameText(left['projectId'], right['projectId']) &&
    isSameText(left['groupId'], right['groupId']) &&
    isSameText(left['plotId'], right['plotId']) &&
    isSameText(left['blockId'], right['blockId'])
  )
}

/** Missing is missing, however it is written. */
function isSameText(left: unknown, right: unknown): boolean {
  return typeof left === 'string' ? left === right : typeof right !== 'string'
}
