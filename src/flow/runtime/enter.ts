/**
 * Entering a node: whether all that it waits for has come, whether attempts and budgets are left, and
 * who is asked to run.
 *
 * INVARIANT (one command an entry): entering ends in a command or a finding, never in another entry, so
 * that no flow can keep a step busy for ever.
 */
import type { FlowNode } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import { spentBudget } from '../state/budget.ts'
import type { ReviewPin } from '../state/command.ts'
import { rulesFor } from '../state/command.ts'
import type { EntryCause, Values } from '../state/fact.ts'
import { isOpen } from '../state/state.ts'
import { versionOf } from '../state/version.ts'
import { repairOf } from './call.ts'
import { isInvariantKept } from './judge.ts'
import { nodesAfter, takeException } from './leave.ts'
import { giveUpItem, isCounted, readsList } from './map.ts'
import { reroute } from './review.ts'
import { dropStage, stopFollowing } from './skip.ts'
import { dismissApprovals, STAGES_MAX, stagesUnder } from './stage.ts'
import type { Turn } from './turn.ts'
import { hasten, isWaitingToBegin, startDeadline, waitsAtEntry } from './wait.ts'

/** An edge has fired: the target is entered when nothing else is waited for. */
export function arrive(turn: Turn, edge: CompiledEdge, round: number): void {
  // The call begins when it is its turn.
  if (edge.isCall) return
  const { status, round: known } = turn.node(edge.target)
  if (turn.draft.run.rules >= 3 && isWaitingToBegin(turn.node(edge.target))) hasten(turn, edge)
  if (status !== 'idle' && known >= round && !isLeftFirst(turn, edge.target)) return
  // A branch that a goal has no use for may be entered when the run comes round again.
  if (
    status === 'abandoned' &&
    (turn.draft.run.rules === 1 || turn.draft.nodeOf(edge.target).isCandidate)
  )
    return
  // A way out of a failure waits for no join.
  const isAlone = turn.draft.run.rules >= 4 && edge.document.class === 'Exception'
  if (!isAlone && !isAwaited(turn, edge.target)) return
  turn.later({ kind: 'enter', node: edge.target, round, cause: 'edge', edge: edge.index })
}

/**
 * Returns whether a node was left behind and not entered since: any way that leads there enters it, although
 * its own reruns may have counted further than the round that leads there.
 */
function isLeftFirst({ draft }: Turn, node: number): boolean {
  return draft.run.rules >= 6 && draft.nodes.get(node).isLeftBehind
}

/**
 * Returns whether enough edges have fired: Sync edges by their join; of the others, any one or all that
 * are joined by AND.
 */
export function isAwaited(turn: Turn, node: number): boolean {
  const { synced, joined, reached } = turn.node(node)
  const { syncs, isAnySync, joins, others } = turn.draft.nodeOf(node).awaits
  if (syncs > 0 && (isAnySync ? synced === 0 : synced < syncs)) return false
  if (joins + others === 0) return true
  return reached > 0 || (joins > 0 && joined >= joins)
}

/** Enters a node that was left behind while it was promoted, if the run has come there again meanwhile. */
export function enterLate(turn: Turn, node: number): void {
  const { round } = turn.node(node)
  const isLed = turn.draft
    .nodeOf(node)
    .incoming.some(
      ({ index, isForward, source }) =>
        isForward &&
        turn.draft.fired.get(index) >= round &&
        !(turn.draft.run.rules >= 6 && turn.node(source).isLeftBehind),
    )
  if (isLed && isAwaited(turn, node)) turn.later({ kind: 'enter', node, round, cause: 'edge' })
}

/** `edge` is the edge that led here; -1 when none did. */
export function enter(turn: Turn, node: number, round: number, cause: EntryCause, edge = -1): void {
  const { document, nodeId: node_id, phase } = turn.draft.nodeOf(node)
  const { status, round: known, attempts, granted } = turn.node(node)
  const isFirst = known < round || isLeftFirst(turn, node)
  if (status === 'abandoned' && cause === 'edge' && !isFirst) return
  // A way back leads to work under review: that review is of the round that is left behind.
  const isWithdrawn = turn.draft.run.rules >= 10 && cause === 'back' && status === 'submitted'
  if (isWithdrawn && attempts < document.max_attempts + granted) {
    dropStage(turn, node)
    turn.settle(node, 'rejected', 'left behind')
  } else if (isOpen(status)) {
    if (isFirst) turn.record({ kind: 'joined', node_id, round })
    return
  }
  // A first entry in a later round resets `attempts`. A rerun, a way back and a review do not.
  const isAgain = cause === 'rerun' || cause === 'back' || cause === 'review'
  const isFresh = cause === 'call' || (!isAgain && isFirst)
  const isLater = turn.draft.run.rules >= 5 && turn.node(node).entries > 0
  if (!isFresh && attempts >= document.max_attempts + granted) {
    // Other branches go on until a person lets the node run (version 9).
    const { checks } = turn.draft.nodeOf(node)
    const isAlone = turn.draft.run.rules >= 9 && cause === 'back'
    if (isLater) turn.withhold(isAlone ? [node, ...checks] : nodesAfter(turn, node))
    // As after a failed attempt: the way out of the node goes before a person.
    const { rules } = turn.draft.run
    if (rules >= 5 && cause === 'rerun' && reroute(turn, node, 'rerouted')) return
    if (rules >= 3 && rules < 5 && cause === 'rerun' && takeException(turn, node) !== null)
      return turn.settle(node, 'rejected', 'rerouted')
    return failNode(turn, node, edge)
  }
  if (turn.draft.run.rules >= 2 && isSpent(turn, node, round)) return
  if (turn.draft.run.rules >= 4) dismissApprovals(turn, node)
  if (isLater) stopFollowing(turn, node)
  const isPhaseStart = !turn.draft.phases.get(phase).isActive
  turn.recordEntered(node, round, cause, isFresh)
  if (isPhaseStart && !isPhaseOpen(turn, node)) return
  if (turn.draft.run.rules < 2 && !isWithinBudget(turn, node)) return
  startDeadline(turn, node, isFresh)
  if (!waitsAtEntry(turn, node, cause, edge)) begin(turn, node)
}

/** Runs the participant of a node that is entered; one without a participant passes. */
export function begin(turn: Turn, node: number): void {
  const { isBare, nodeId: node_id } = turn.draft.nodeOf(node)
  if (readsList(turn, node)) return
  if (isBare) return turn.command({ type: 'pass', node_id }, node)
  run(turn, node, 0)
}

/** Asks the participant of a node to run. */
export function run(turn: Turn, node: number, delaySeconds: number): void {
  const { document } = turn.draft.nodeOf(node)
  const { entries, work } = turn.node(node)
  const bases = stagesUnder(turn, node)
  if (bases === null) {
    return block(turn, node, 'flow.incomplete', { stages_below: `more than ${STAGES_MAX}` })
  }
  const lacking = missingInput(turn, document)
  if (lacking !== null) return block(turn, node, 'flow.incomplete', lacking)
  const isCheck = document.kind === 'CHECK'
  const caller = turn.callerOf(node)
  const review = isCheck ? pinFor(turn, node) : null
  if (isRefused(turn, node, review)) return
  turn.command({
    type: 'run_participant',
    node_id: document.node_id,
    attempt: entries,
    participant: (isCheck ? document.reviewer : document.executor) ?? null,
    input: {
      previous_output_path: (work.artifact ?? work.previous)?.path ?? null,
      last_review: work.lastReview,
      last_error: work.lastError,
    },
    review,
    stands_on: bases,
    access: rulesFor(turn.flow.document, document.actor),
    delay_seconds: delaySeconds,
    ...(caller === -1 ? {} : { caller: turn.idOf(caller) }),
    ...(document.timeout === undefined ? {} : { timeout_seconds: document.timeout }),
    ...signalsFor(turn, node),
  })
}

/** Does not put a version to a CHECK that its caller calls if a CHECK has rejected this version before. */
function isRefused(turn: Turn, check: number, pin: ReviewPin | null): boolean {
  const caller = turn.callerOf(check)
  const { artifact_digest: rejected = null } = pin ?? {}
  if (turn.draft.run.rules < 4 || caller === -1 || rejected === null) return false
  if (!turn.node(caller).work.rejected.includes(rejected)) return false
  const values = { by: 'digest', rejected, check: turn.idOf(check) }
  const node_id = turn.idOf(caller)
  const repair = repairOf(turn, check)
  const code = 'flow.delta_missing'
  if (repair === null) turn.find({ code, node_id, action: 'block', values })
  else turn.find({ code, node_id, edge_id: repair.edgeId, action: 'rerun', values })
  turn.settle(check, 'rejected', 'review')
  return true
}

/** What came with the signals that the node has taken. */
function signalsFor(turn: Turn, node: number): { readonly signals?: Values } {
  const names = Object.keys(turn.node(node).heard)
  if (names.length === 0) return {}
  const { signals } = turn.draft.run
  const data = names.map((name) => [name, signals.get(name)?.data ?? null] as const)
  return { signals: Object.fromEntries(data) }
}

/** The chance in it is the host's, so that no artifact can hold the id of its own review. */
function pinFor(turn: Turn, check: number): ReviewPin {
  const { target: judged } = turn.draft.nodeOf(check)
  // A CHECK that names no target and is called judges what its caller made.
  const target = judged === -1 ? turn.callerOf(check) : judged
  const artifact = target === -1 ? null : turn.node(target).work.artifact
  return {
    review_id: `${turn.event.nonce}.${turn.draft.run.seq}`,
    target: turn.idOf(target === -1 ? check : target),
    artifact_path: artifact?.path ?? null,
    artifact_digest: artifact?.digest ?? null,
    ...(target === -1 ? {} : pinOf(turn, target)),
  }
}

/** The version of a node that a review is about, as facts name it. */
export function pinOf(turn: Turn, node: number): { readonly version?: string } {
  const { rules } = turn.draft.run
  const version = rules < 6 ? null : versionOf(turn.node(node).work, rules)
  return version === null ? {} : { version }
}

/** Returns an artifact that the node has to be given and that no node has left yet; null if none. */
function missingInput(turn: Turn, { inputs = [] }: FlowNode): Values | null {
  const lacking = inputs.find(
    ({ from, file, optional }) =>
      file === undefined &&
      optional !== true &&
      !turn.flow.maps.some(({ nodeId }) => nodeId === from) &&
      turn.node(turn.draft.nodeNamed(from)).work.artifact === null,
  )
  return lacking === undefined
    ? null
    : { input: lacking.as, from: lacking.from, why: 'the node has left no artifact yet' }
}

/** Invariants at the beginning of a phase; one that fails stops its first node. */
function isPhaseOpen(turn: Turn, node: number): boolean {
  for (const invariant of turn.flow.invariants) {
    if (invariant.isNamed || invariant.document.check_timing !== 'pre_phase') continue
    if (isInvariantKept(turn, invariant, node, null, { isPhaseStart: true })) continue
    if (invariant.document.fail_action === 'alert') continue
    turn.settle(node, 'blocked', invariant.document.invariant_id)
    turn.later({ kind: 'except', node })
    return false
  }
  return true
}

/** Stops a node before it is entered: what does not begin uses nothing. */
function isSpent(turn: Turn, node: number, round: number): boolean {
  const spent = spentBudget(turn.flow, turn.draft.run)
  if (spent === null) return false
  turn.record({ kind: 'joined', node_id: turn.idOf(node), round })
  block(turn, node, 'flow.budget', { ...spent, next: turn.budgetCommand(spent.budget) })
  return true
}

/** As runs of earlier versions did: after the entry, which counted. */
function isWithinBudget(turn: Turn, node: number): boolean {
  const { budgets } = turn.flow.document
  if (budgets === undefined) return true
  const { attempts, seconds, tokens } = turn.draft.run.totals
  const used = { attempts: attempts - 1, seconds, tokens }
  for (const name of ['attempts', 'seconds', 'tokens'] as const) {
    const limit = budgets[name]
    if (limit === undefined || used[name] < limit) continue
    block(turn, node, 'flow.budget', { budget: name, limit, used: used[name] })
    return false
  }
  return true
}

/** Stops a node; an Exception edge may lead out of it. */
export function block(
  turn: Turn,
  node: number,
  code:
    | 'flow.budget'
    | 'flow.incomplete'
    | 'flow.promotion_refused'
    | 'flow.rollback_failed'
    | 'flow.stalled'
    | 'flow.list_refused'
    | 'flow.items_short',
  values: Readonly<Record<string, unknown>>,
): void {
  turn.find({ code, node_id: turn.idOf(node), action: 'block', values })
  turn.settle(node, 'blocked', code)
  turn.later({ kind: 'except', node })
}

/** No attempt is left: an item of a map that counts failures is given up, else a human decides. */
export function failNode(turn: Turn, node: number, edge = -1): void {
  const why = 'no attempt is left'
  if (!isCounted(turn, node) || !giveUpItem(turn, node, why)) escalate(turn, node, why, edge)
}

/** Lets a human decide. `edge` is the edge that led here; -1 when none did. */
export function escalate(turn: Turn, node: number, why: string, edge = -1): void {
  const node_id = turn.idOf(node)
  const isLed = edge !== -1 && turn.draft.run.rules >= 5
  const led = isLed ? { edge_id: turn.draft.edgeOf(edge).edgeId } : {}
  turn.find({ code: 'flow.escalated', node_id, ...led, action: 'escalate', values: { why } })
  turn.settle(node, 'waiting', why)
  turn.command({ type: 'ask_human', node_id, why: 'escalation', needs: [] })
}
