/**
 * Decide again: what turned up about a recorded act since (a changed input, other laws, what stopped
 * its promotion) becomes a decision of its own, on the record under a key of its own.
 */
import { type Fault, fault } from '../../base/index.ts'
import type { Evaluation, SandboxResult } from '../../contracts/index.ts'
import { type Change, decide, lawsSetAside, lawValues } from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { obstacleFrom } from '../readings/readings.ts'
import { findStage, leaveGoing } from '../stage/stage-place.ts'
import type { Act, Blocked, GateParts, Recorded } from './act.ts'
import { sentRequests } from './answer.ts'
import { judgementOf } from './decide.ts'

/** Of a question that an earlier version asked. */
export const NO_BASIS = { actor: '', machine: '', home: '/', recent_rollbacks: 0 }

export async function decideAgain(
  gate: GateParts,
  act: Recorded,
  obstacles: Evaluation['obstacles'],
  key: string,
): Promise<Recorded> {
  const evaluation: Evaluation = {
    ...act.evaluation,
    obstacles: [...act.evaluation.obstacles, ...obstacles],
  }
  const { actionId } = act
  const decision = decide(judgementOf(gate, { ...act, evaluation }))
  await gate.view.record([
    { type: 'evaluation_v1', payload: evaluation, key: `evaluation/${actionId}/${key}` },
    { type: 'decision_v1', payload: decision, key: `decision/${actionId}/${key}` },
  ])
  return { ...act, evaluation, decision }
}

/** Ends an act for good, with what stopped it as the reason; its stage is removed. */
export async function end(
  gate: GateParts,
  act: Recorded,
  { fault: stopped }: { readonly fault: Fault },
): Promise<Blocked> {
  const again = await decideAgain(gate, act, [obstacleFrom(stopped)], 'promotion')
  dropStage(gate, act.result)
  const requests = await sentRequests(gate.view, act.actionId)
  return { kind: 'blocked', act: again, requests }
}

/**
 * If `work` fails (the ledger is gone, say), this process is not at work on the act any more: the next
 * command, or the repeated request, finishes what is on the record of it.
 */
export async function orLeave<T>(
  { context }: GateParts,
  sandboxId: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const found = sandboxId === undefined ? null : findStage(context.home, sandboxId)
    if (found !== null) leaveGoing(found.stage)
    throw error
  }
}

/** Ends an act whose process died, and which is no longer carried out without a question. */
export function endInterrupted(gate: GateParts, act: Recorded): Promise<Blocked> {
  return end(gate, act, { fault: fault('promote.interrupted', act.actionId, null) })
}

/** Opens the question of a held act: from now on a human can answer it, for these digests. */
export function markAsked(gate: GateParts, act: Recorded): Promise<Recorded> {
  const { held } = act.evaluation
  const mark = held === undefined ? {} : { held: { ...held, asked: true } }
  const evaluation = { ...act.evaluation, ...mark }
  return decideAgain(gate, { ...act, evaluation }, [], `asked/${gate.context.nowMs()}`)
}

/** Judges a held act again if a human changed the laws since; those of its promotion count. */
export async function underPresentLaws(
  gate: GateParts,
  act: Recorded,
  discarded: readonly Change[],
): Promise<Recorded> {
  const { proposal, result, evaluation, changes } = act
  const { digest } = gate.book
  if (proposal === null || result === null || evaluation.laws === digest) return act
  const basis = evaluation.basis ?? NO_BASIS
  const setAside = lawsSetAside(evaluation)
  const seen = { result, changes: { promoted: changes, discarded } }
  const outcomes = [
    ...gate.book.judge('before', lawValues(proposal, evaluation, basis, null), setAside),
    ...gate.book.judge('after', lawValues(proposal, evaluation, basis, seen), setAside),
  ]
  const judged = { ...evaluation, laws: digest, law_outcomes: outcomes }
  const key = `laws/${gate.context.nowMs()}`
  const again = await decideAgain(gate, { ...act, evaluation: judged }, [], key)
  if (again.decision.decision === 'BLOCK') dropStage(gate, result)
  return again
}

export function dropStage({ context }: GateParts, result: Act['result']): void {
  const found = result === null ? null : findStage(context.home, result.sandbox_id)
  if (found !== null) removeTreeSync(found.stage)
}

/** Removes the stage of an act that is known by its id alone. */
export async function dropStageOf(gate: GateParts, actionId: string): Promise<void> {
  const found = await gate.view.factOf('sandbox_result_v1', actionId)
  // A fact is of its contract.
  dropStage(gate, (found?.payload as SandboxResult | undefined) ?? null)
}
