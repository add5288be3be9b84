/** What the facts about calls do to the state: who waits for whom, and whose turn it is. */
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { RunDraft } from './draft.ts'

/** An edge into a call node has fired: its source waits for the return. */
export function awaitCall(draft: RunDraft, edge: CompiledEdge): void {
  const { index, source, target } = edge
  const called = draft.ownNode(target)
  if (called.call === index || called.calls.includes(index)) return
  called.calls = [...called.calls, index]
  const caller = draft.ownNode(source)
  caller.awaited += 1
  draft.run.calling += 1
}

export function applyCalled(draft: RunDraft, { index, target }: CompiledEdge, round: number): void {
  const called = draft.ownNode(target)
  called.calls = called.calls.filter((edge) => edge !== index)
  called.call = index
  called.callRound = round
}

/** Forgets a call that has returned, or whose caller runs again. Returns whether there was one. */
export function endCall(draft: RunDraft, { index, source, target }: CompiledEdge): boolean {
  const called = draft.ownNode(target)
  if (called.call !== index && !called.calls.includes(index)) return false
  called.calls = called.calls.filter((edge) => edge !== index)
  if (called.call === index) called.call = -1
  draft.ownNode(source).awaited -= 1
  draft.run.calling -= 1
  return true
}
