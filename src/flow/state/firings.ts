/**
 * The edges that have fired since their sources were entered, and what an entry leaves behind.
 *
 * INVARIANT (one round): a node that is entered again leaves behind all that it had led to. None of it
 * leads on, or counts as reached, before it is entered again itself (version 5 of the rules).
 */
import type { CompiledEdge, CompiledFlow } from '../compile/compiled-flow.ts'
import { endCall } from './apply-call.ts'
import type { RunDraft } from './draft.ts'
import { isOpen, type NodeStatus } from './state.ts'

export function countArrival(draft: RunDraft, edge: CompiledEdge, change: 1 | -1): void {
  const sort = edge.arrival
  if (sort === null) return
  const target = draft.ownNode(edge.target)
  if (sort === 'sync') target.synced += change
  else if (sort === 'join') target.joined += change
  else target.reached += change
}

/** Resets the outgoing edges of a node, or those of them that `isForgotten` names. */
function forgetFirings(
  draft: RunDraft,
  index: number,
  isForgotten: (edge: CompiledEdge) => boolean = () => true,
): void {
  for (const edge of draft.nodeOf(index).outgoing) {
    if (draft.fired.get(edge.index) === 0 || !isForgotten(edge)) continue
    if (edge.isCall) endCall(draft, edge)
    draft.fired.set(edge.index, 0)
    countArrival(draft, edge, -1)
  }
}

/** Returns whether an edge leads back, or out of a failure: a node that it has left has no other way. */
export function leadsAway({ isBack, document }: CompiledEdge): boolean {
  return isBack || document.class === 'Exception'
}

/** Returns the nodes that a node has led to since it was entered. */
export function ledTo(draft: RunDraft, from: number): ReadonlySet<number> {
  const found = new Set([from])
  for (const node of found) {
    const { outgoing, checks } = draft.nodeOf(node)
    const fired = outgoing.filter(
      ({ index, isBack, isCall }) => !isBack && !isCall && draft.fired.get(index) > 0,
    )
    for (const next of [...checks, ...fired.map(({ target }) => target)]) found.add(next)
  }
  found.delete(from)
  return found
}

/** Returns whether work has led on by itself or by its CHECK nodes, since it was entered. */
export function hasLedOn(draft: RunDraft, index: number): boolean {
  return [index, ...draft.nodeOf(index).checks].some((node) => draft.nodes.get(node).hasFired)
}

/**
 * Resets the edges of a node that is entered again, and all that they had led to, but for the ways back by
 * which it is entered: its call is repaired by them.
 */
export function leaveBehind(draft: RunDraft, index: number): void {
  const left = draft.run.rules < 5 ? [] : ledTo(draft, index)
  forgetFirings(draft, index)
  for (const node of left) {
    const { status, awaited } = draft.nodes.get(node)
    // What acts on the workspace comes to its end, and a call returns.
    if (!isOpen(status) && awaited === 0)
      forgetFirings(draft, node, ({ target, isBack }) => !(isBack && target === index))
    markBehind(draft, node)
  }
}

/**
 * Keeps a node, and what it had led to, from leading on until they are entered again: a way back leads there. A
 * node that runs already is not entered again for it.
 */
export function closeBehind(draft: RunDraft, index: number): void {
  if (draft.run.rules < 5) return
  const { status } = draft.nodes.get(index)
  if (draft.run.rules >= 6 && isOpen(status) && !isActingOnFiles(status)) return
  for (const node of [index, ...ledTo(draft, index)]) markBehind(draft, node)
}

/**
 * Returns the node that a way back runs again. Out of a CHECK that has rejected work that others went on from, a
 * way to one of these runs the work: there is no other version to judge.
 */
export function backBy(draft: RunDraft, { source, target }: CompiledEdge): number {
  if (draft.run.rules < 5) return target
  const node = judgedIn(draft, target)
  const { target: work } = draft.nodeOf(source)
  if (draft.run.rules < 6 || work === -1) return node
  const isRejected = draft.nodes.get(work).status === 'rejected'
  return isRejected && ledTo(draft, work).has(node) ? work : node
}

/** Notes a way back that has fired if it has to wait for the gate. */
export function awaitGate(draft: RunDraft, edge: CompiledEdge, round: number): void {
  const node = backBy(draft, edge)
  const { rules, backs } = draft.run
  // A way back that a person was asked about is gone now.
  if (rules >= 9 && backs.some((back) => back.edge === edge.index))
    draft.run.backs = backs.filter((back) => back.edge !== edge.index)
  if (isBackKept(draft, edge, node))
    draft.run.backs = [...draft.run.backs, { edge: edge.index, node, round }]
  if (!isUsedUp(draft, node)) closeBehind(draft, node)
}

/**
 * Returns whether no way back enters a node: it has no attempt left, so a person is asked first, and until
 * then nothing is left behind or undone (version 9).
 */
export function isUsedUp(draft: RunDraft, index: number): boolean {
  const { status, attempts, granted, pending } = draft.nodes.get(index)
  const { max_attempts: most } = draft.nodeOf(index).document
  if (draft.run.rules < 9 || attempts < most + granted) return false
  const isAsked = pending?.type === 'ask_human' && pending.why === 'escalation'
  return isAsked || !isOpen(status) || isActingOnFiles(status) || isKeptByReview(draft, index)
}

/** Returns whether work is under review and has no attempt left: a way back to it waits for the verdict (version 10). */
export function isKeptByReview(draft: RunDraft, index: number): boolean {
  const { status, attempts, granted } = draft.nodes.get(index)
  const { max_attempts: most } = draft.nodeOf(index).document
  return draft.run.rules >= 10 && status === 'submitted' && attempts >= most + granted
}

/** Returns whether a way back to a node waits for the gate: a Rollback for all that the node has led to. */
export function isBackKept(draft: RunDraft, { document }: CompiledEdge, node: number): boolean {
  if (isKeptByReview(draft, node)) return true
  return isActedOn(draft, node, document.class === 'Rollback' && !isUsedUp(draft, node))
}

/** Returns whether the gate acts on a node, or with `isAll` on one of those that it has led to. */
function isActedOn(draft: RunDraft, node: number, isAll: boolean): boolean {
  const nodes = isAll ? nodesLed(draft, node) : [node]
  return nodes.some((one) => isActingOnFiles(draft.nodes.get(one).status))
}

/** Returns whether a Rollback to a node has fired that waits for the gate, or is being carried out (version 10). */
export function isGateWaitedFor(draft: RunDraft, index: number): boolean {
  const isKept = draft.run.backs.some(
    ({ edge, node }) =>
      node === index &&
      draft.edgeOf(edge).document.class === 'Rollback' &&
      isBackKept(draft, draft.edgeOf(edge), node),
  )
  return isKept || (draft.run.rules >= 10 && isUndoneFor(draft, index))
}

function isUndoneFor(draft: RunDraft, index: number): boolean {
  if (draft.run.acting === 0 || draft.nodes.get(index).entries === 0) return false
  return draft.flow.nodes.some(({ index: one }) => {
    const { pending } = draft.nodes.get(one)
    return pending?.type === 'roll_back' && draft.nodeNamed(pending.back_to) === index
  })
}

/** Forgets the ways back to a node: it is entered, or what it has led to is being undone. */
export function forgetBacks(draft: RunDraft, index: number): void {
  if (draft.run.backs.length > 0)
    draft.run.backs = draft.run.backs.filter(({ node }) => node !== index)
}

/** The node and all that it has led to, by calls and out of failures too. */
export function nodesLed(draft: RunDraft, from: number): readonly number[] {
  const seen = new Set([from])
  for (const node of seen) {
    const { outgoing, checks } = draft.nodeOf(node)
    for (const check of checks) seen.add(check)
    for (const { isForward, document, index, target } of outgoing) {
      // A way out of a failure leads on as well: what was done there is left behind too.
      const leadsOn = isForward || document.class === 'Exception'
      if (leadsOn && draft.fired.get(index) > 0) seen.add(target)
    }
  }
  return [...seen]
}

/** Returns whether the gate promotes or undoes what a node made. */
function isActingOnFiles(status: NodeStatus): boolean {
  return status === 'promoting' || status === 'rolling_back'
}

/** Does the same with what the call of an edge has come to, if it has begun. */
export function closeRegion(draft: RunDraft, { index, target }: CompiledEdge): void {
  const { call, callRound } = draft.nodes.get(target)
  if (call !== index) return
  for (const node of regionAt(draft.flow, target))
    if (draft.nodes.get(node).round >= callRound) markBehind(draft, node)
}

export function regionAt({ callNodes }: CompiledFlow, called: number): readonly number[] {
  return callNodes.find(({ node }) => node === called)?.region ?? []
}

/**
 * Returns what runs again when a way back leads to a node: of a CHECK the work that it judges; of a called
 * CHECK the caller, if the CHECK has approved what the caller made.
 */
export function judgedIn(draft: RunDraft, node: number): number {
  const { call } = draft.nodes.get(node)
  const { target } = draft.nodeOf(node)
  if (target !== -1) return target
  const caller = call === -1 ? -1 : draft.edgeOf(call).source
  const isJudged = caller !== -1 && draft.nodes.get(caller).work.approvals.includes(node)
  return isJudged ? caller : node
}

function markBehind(draft: RunDraft, node: number): void {
  if (draft.nodes.get(node).entries === 0) return
  draft.ownNode(node).isLeftBehind = true
  draft.setHeld(node, false)
}

/** Lets skipped work and its CHECK nodes lead on, although they were left by another way. */
export function reopenWays(draft: RunDraft, index: number): void {
  if (draft.run.rules < 5) return
  for (const node of [index, ...draft.nodeOf(index).checks]) {
    forgetFirings(draft, node, leadsAway)
    if (draft.nodes.get(node).isLeftBehind) draft.ownNode(node).isLeftBehind = false
  }
}
