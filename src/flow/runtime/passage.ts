/**
 * The one way through every edge: its guard, then the claims, invariants and policies at it.
 *
 * INVARIANT (no edge around its controls): an edge fires only with an `OpenEdge`, and this file alone
 * makes one, for every class of edge and every reason to take it.
 */
import type { Policy } from '../../policy/index.ts'
import type { CompiledEdge, CompiledInvariant } from '../compile/compiled-flow.ts'
import { CLAIM_NEEDED_SINCE } from '../compile/rules.ts'
import type { FindingAction } from '../state/fact.ts'
import { claimantsAt, unverifiedClaims } from './claims.ts'
import { isGuardOpen, isInvariantKept, judgeEdgePolicies } from './judge.ts'
import { TRANSITION } from './scene.ts'
import type { Turn } from './turn.ts'

/** The reason why an edge cannot fire, and the action that follows. */
export interface EdgeObstacle {
  readonly edge: CompiledEdge
  readonly action: FindingAction
  /** The guard is closed. For other obstacles the finding is recorded already. */
  readonly isGuard: boolean
}

/** An edge whose guard is true. The private field keeps other files from making one. */
class GuardedEdge {
  readonly #edge: CompiledEdge

  constructor(edge: CompiledEdge) {
    this.#edge = edge
  }

  get edge(): CompiledEdge {
    return this.#edge
  }
}

/** An edge that may fire: its guard is true, and its controls let it pass. */
class OpenEdge {
  readonly #edge: CompiledEdge

  constructor(edge: CompiledEdge) {
    this.#edge = edge
  }

  get edge(): CompiledEdge {
    return this.#edge
  }
}

export type { GuardedEdge, OpenEdge }

/**
 * Why an edge is tried. `done`: its source is done and is left. `back`: the same, by a way back without a
 * guard. `review`: the work goes to its CHECK, or comes back rejected. `aside`: the run goes out of a
 * failure, to an alternative or to an item, where no obstacle has a remedy but to keep the edge closed.
 *
 * What no edge names is judged where a node that is done is left; what an edge names is always judged.
 */
type TryCause = 'done' | 'back' | 'review' | 'aside'

/** Judges the guard of an edge; null if it is closed. */
export function tryGuard(turn: Turn, edge: CompiledEdge): GuardedEdge | null {
  return isGuardOpen(turn, edge) ? new GuardedEdge(edge) : null
}

/** Judges what an edge whose guard is true has to pass. */
export function tryControls(
  turn: Turn,
  { edge }: GuardedEdge,
  cause: TryCause,
): OpenEdge | EdgeObstacle {
  // The finding of the call that failed says why.
  if (isFailedCall(turn, edge)) return { edge, action: 'block', isGuard: false }
  const action = edge.isFree ? null : obstacleAt(turn, edge, cause)
  return action === null ? new OpenEdge(edge) : { edge, action, isGuard: false }
}

/** Returns whether the call that an edge made has failed, and nothing has changed since. */
function isFailedCall({ draft }: Turn, { isCall, index, source }: CompiledEdge): boolean {
  return isCall && draft.run.rules >= 4 && draft.nodes.get(source).failedCalls.includes(index)
}

/** Judges an edge: its guard, and then the rest. */
export function tryEdge(turn: Turn, edge: CompiledEdge, cause: TryCause): OpenEdge | EdgeObstacle {
  const guarded = tryGuard(turn, edge)
  return guarded === null ? guardObstacle(edge) : tryControls(turn, guarded, cause)
}

/** Judges edges one after another until one may fire; returns it, and the obstacles of those before. */
export function firstOpen(
  turn: Turn,
  edges: readonly CompiledEdge[],
  cause: TryCause,
): { readonly way: OpenEdge | null; readonly closed: readonly EdgeObstacle[] } {
  const closed: EdgeObstacle[] = []
  for (const edge of edges) {
    const way = tryEdge(turn, edge, cause)
    if (mayFire(way)) return { way, closed }
    closed.push(way)
  }
  return { way: null, closed }
}

export function mayFire(way: OpenEdge | EdgeObstacle): way is OpenEdge {
  return way instanceof OpenEdge
}

export function guardObstacle(edge: CompiledEdge): EdgeObstacle {
  return { edge, action: edge.document.on_guard_fail ?? 'block', isGuard: true }
}

/** Returns what the first closed control asks for; null when nothing is in the way. */
function obstacleAt(turn: Turn, edge: CompiledEdge, cause: TryCause): FindingAction | null {
  // Earlier versions judged controls only where a node was left by a way on, or back with a guard.
  if (turn.draft.run.rules < 4 && cause !== 'done') return null
  if (edge.document.trust_requirement === 'independent_verification_required') {
    if (!areClaimsVerified(turn, edge)) return 'block'
  }
  const { policies, invariants } = controlsAt(edge, cause)
  const isOnlyClosed = cause === 'aside'
  for (const invariant of invariants) {
    const { fail_action } = invariant.document
    const action = isOnlyClosed && fail_action === 'rerun' ? 'block' : fail_action
    const isKept = isInvariantKept(turn, invariant, edge.source, edge, TRANSITION, action)
    if (!isKept && action !== 'alert') return action
  }
  const action = judgeEdgePolicies(turn, edge, policies, isOnlyClosed)
  return action === 'alert' || action === 'continue_with_workaround' ? null : action
}

interface EdgeControls {
  readonly policies: readonly Policy[]
  readonly invariants: readonly CompiledInvariant[]
}

function controlsAt(edge: CompiledEdge, cause: TryCause): EdgeControls {
  if (cause === 'done' || cause === 'back') return edge
  const { policy_refs = [], audit_invariant_refs = [] } = edge.document
  return {
    policies: edge.policies.filter(({ policyId }) => policy_refs.includes(policyId)),
    invariants: edge.invariants.filter(({ document }) =>
      audit_invariant_refs.includes(document.invariant_id),
    ),
  }
}

function areClaimsVerified(turn: Turn, edge: CompiledEdge): boolean {
  const claimants = claimantsAt(turn, edge.source)
  const isClaimed = claimants.some((node) => turn.node(node).work.claims.length > 0)
  if (!isClaimed && turn.draft.run.rules >= CLAIM_NEEDED_SINCE) {
    const at = { node_id: turn.idOf(edge.source), edge_id: edge.document.edge_id }
    turn.find({ code: 'flow.claim_unverified', ...at, action: 'block', values: { claims: 0 } })
    return false
  }
  const lacking = claimants.flatMap((node) => unverifiedClaims(turn, node))
  const isWorded = turn.draft.run.rules >= 4
  for (const { claim_id, text, trust_level, verification_status } of lacking) {
    const words = isWorded && text !== undefined ? { text } : {}
    turn.find({
      code: 'flow.claim_unverified',
      node_id: turn.idOf(edge.source),
      edge_id: edge.document.edge_id,
      claim_id,
      action: 'block',
      values: { trust_level, verification_status, ...words },
    })
  }
  return lacking.length === 0
}
