/**
 * Acts that undo what restoring files cannot (G-16): sent requests and steps in a user interface. Each
 * is compensated by the operation that its proposal names. `composeCompensation` builds the proposal
 * of a compensation from the original alone; it takes no other input.
 */
import type { ActionDescriptor, Operation, Proposal } from '../../contracts/index.ts'
import { leavesOf } from '../paths/places.ts'
import { type RequestMemory, wasSent } from '../standing/request-history.ts'
import type { StandingFold } from '../standing/standing.ts'

/** One step that restoring files does not undo. */
export interface UndoStep {
  readonly stepId: string
  readonly descriptor: ActionDescriptor
  /** Null when nothing undoes it. */
  readonly compensation: Operation | null
}

/** Returns what is left to undo, newest first. */
export function undoingsOf(
  proposal: Proposal,
  requests: readonly RequestMemory[],
): readonly UndoStep[] {
  const sent = new Set(requests.filter(wasSent).map(({ begun }) => begun.step_id.toLowerCase()))
  return leavesOf(proposal)
    .flatMap(({ proposal: { descriptor, operation } }) => {
      if (operation === undefined || !isBeyondFiles(descriptor, operation, sent)) return []
      const { compensation = null } = operation
      return [{ stepId: descriptor.action_id, descriptor, compensation }]
    })
    .reverse()
}

function isBeyondFiles(
  { action_id }: ActionDescriptor,
  operation: Operation,
  sent: ReadonlySet<string>,
): boolean {
  if (operation.type === 'NETWORK_REQUEST') return sent.has(action_id.toLowerCase())
  return operation.type === 'UI_AUTOMATION' && operation.compensation !== undefined
}

/** The same scope, resources and effects as the act that it undoes, and a question to a human. */
export function composeCompensation(
  { descriptor, stepId }: UndoStep,
  compensation: Operation,
  fresh: { readonly actionId: string; readonly createdAt: string },
): Proposal {
  return {
    descriptor: {
      ...descriptor,
      action_id: fresh.actionId,
      created_at: fresh.createdAt,
      intent_summary: `Undo what the action ${stepId} did outside the files.`,
      action_type: compensation.type,
      preconditions: { paths_exist: [], network_available: false, user_idle: false },
      sandbox: { ...descriptor.sandbox, required: true },
      confirmation: {
        required: true,
        reason: 'Carries out a compensation',
        cooldown_on_repeat: false,
      },
    },
    operation: compensation,
  }
}

/**
 * Returns the act that undoes a step, or is about to: the first one that was carried out, else the first
 * one that waits for a human or was approved; null when there is none.
 */
export function compensationInForce(standing: StandingFold, stepId: string): string | null {
  const acts = standing.compensationsOf(stepId)
  const approved = new Set(standing.approved().map(({ actionId }) => actionId.toLowerCase()))
  const isOpen = (id: string): boolean => standing.question(id) !== null || approved.has(id)
  return acts.find((id) => isCarriedOut(standing, id)) ?? acts.find(isOpen) ?? null
}

function isCarriedOut(standing: StandingFold, id: string): boolean {
  return standing.promotion(id)?.rolledBackBy === null
}
