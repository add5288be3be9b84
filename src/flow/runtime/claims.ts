/**
 * Computes the trust level and the status of claims (F-6) from their evidence. The status that a file
 * or a participant gives does not count.
 *
 * INVARIANT (another's word): only evidence of another principal and of another participant than those
 * of the claim and of its node counts. Participants are compared by the digests of their declarations
 * and of their programs, so that a second name for the same one verifies nothing, and a participant
 * whose programs could not be pinned neither.
 */
import type { Claim } from '../../contracts/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { ClaimState, RunState } from '../state/state.ts'
import { elementAt, vectorElements } from '../state/vector.ts'
import { subjectOf } from './scene.ts'
import type { Turn } from './turn.ts'

export interface ClaimStanding {
  readonly claim_id: string
  readonly node_id: string
  readonly text?: string
  readonly trust_level: Claim['trust_level']
  readonly verification_status: Claim['verification_status']
  readonly evidence_ids: readonly string[]
}

/** Who works at the node that a claim is about, and which programs participants name. */
interface ClaimOwner {
  readonly principal: string | null
  readonly participant: string | null
  readonly programs: RunState['programs']
  readonly unpinned: RunState['unpinned']
}

/** Rules before version 4 did not look at programs that could not be pinned. */
const NO_PARTICIPANTS: RunState['unpinned'] = new Set()

type EvidenceState = ClaimState['evidence'][number]

/** Returns the standing of a claim. One independent contradiction outweighs any support. */
function standingOf(state: ClaimState, owner: ClaimOwner | null): ClaimStanding {
  const { claim, evidence } = state
  const independent = evidence.filter((one) => isIndependent(state, one, owner))
  const isDenied = independent.some(({ supports }) => !supports)
  const isVerified = !isDenied && independent.length > 0
  return {
    claim_id: claim.claim_id,
    node_id: claim.node_id,
    ...(claim.text === undefined ? {} : { text: claim.text }),
    trust_level: isVerified ? 'verified_independent' : unverifiedLevel(claim),
    verification_status: isDenied ? 'rejected' : isVerified ? 'verified' : 'pending',
    evidence_ids: [
      ...new Set([...claim.evidence_ids, ...evidence.map(({ evidenceId }) => evidenceId)]),
    ],
  }
}

function isIndependent(
  { principal, participant }: ClaimState,
  one: EvidenceState,
  owner: ClaimOwner | null,
): boolean {
  if (one.principal === principal || one.principal === owner?.principal) return false
  // A person who hands evidence in is no participant.
  if (one.participant === null) return true
  if (owner === null) return one.participant !== participant
  const { programs } = owner
  return (
    isComparable(one.participant, [participant, owner.participant], owner) &&
    !isSame(one.participant, participant, programs) &&
    !isSame(one.participant, owner.participant, programs)
  )
}

/**
 * Returns whether the programs of a participant are known and can be compared with those of others. A
 * participant without programs in the workspace is compared by its declaration alone.
 */
function isComparable(
  one: string,
  others: readonly (string | null)[],
  { programs, unpinned }: ClaimOwner,
): boolean {
  if (unpinned.has(one)) return false
  const isUnknown = others.some((other) => other !== null && unpinned.has(other))
  return !isUnknown || !programs.has(one)
}

/** Returns whether two participants have one declaration, or name one program. */
function isSame(one: string, other: string | null, programs: RunState['programs']): boolean {
  if (other === null) return false
  const named = programs.get(other) ?? []
  return one === other || (programs.get(one) ?? []).some((digest) => named.includes(digest))
}

/** Lowers a declared `verified_independent`: only independent evidence verifies a claim. */
function unverifiedLevel({ trust_level }: Claim): Claim['trust_level'] {
  return trust_level === 'verified_independent' ? 'external_unverified' : trust_level
}

/** Null for a run by the rules of version 1, which did not look at who works at the node. */
function ownerOf(
  { rules, programs, unpinned }: Pick<RunState, 'rules' | 'programs' | 'unpinned'>,
  principal: string | null,
  participant: string | null,
): ClaimOwner | null {
  if (rules < 2) return null
  return { principal, participant, programs, unpinned: rules < 4 ? NO_PARTICIPANTS : unpinned }
}

/**
 * Returns the nodes whose claims an edge out of a node waits for: the work that a CHECK judges, the CHECK, and
 * what is in their places, which are the items of a map and the nodes of a sub-flow. The claims of an item
 * that was given up, or that the present list does not have, are about nothing that goes on.
 */
export function claimantsAt(turn: Turn, source: number): readonly number[] {
  const { rules } = turn.draft.run
  const subject = subjectOf(turn, source)
  // A CHECK claims things too. Earlier versions looked at the claims of its work alone.
  const named = rules >= 4 && subject !== source ? [subject, source] : [subject]
  if (rules < 6) return named
  const { maps, nodes } = turn.flow
  const joins = maps.flatMap(({ join, followers }) => (followers.includes(source) ? [join] : []))
  const claimants = [...joins, ...named]
  const places = claimants.map((one) => `${turn.idOf(one)}/`)
  const gone = new Set(
    maps.flatMap(({ items, count }) => items.slice(count ?? 0).flatMap((item) => item.nodes)),
  )
  const inPlace = nodes.flatMap(({ index, nodeId }) => {
    const isGone = gone.has(index) || turn.node(index).status === 'abandoned'
    return !isGone && places.some((place) => nodeId.startsWith(place)) ? [index] : []
  })
  return [...claimants, ...inPlace]
}

/** Returns the nodes whose ways may wait for the claims of a node. */
export function waitingForClaims({ draft, flow }: Turn, node: number): readonly number[] {
  const { nodeId, checks } = draft.nodeOf(node)
  if (draft.run.rules < 6) return [node, ...checks]
  const over = placesOver(nodeId).flatMap((name) => flow.nodeIndex.get(name) ?? [])
  return [node, ...over].flatMap((one) => {
    const { followers = [] } = flow.maps.find(({ join }) => join === one) ?? {}
    return [one, ...draft.nodeOf(one).checks, ...followers]
  })
}

/** The names of the nodes in whose places a node is, the nearest first. */
function placesOver(nodeId: string): readonly string[] {
  const end = nodeId.lastIndexOf('/')
  return end === -1 ? [] : [nodeId.slice(0, end), ...placesOver(nodeId.slice(0, end))]
}

/** Returns the claims of a node that are not verified. */
export function unverifiedClaims(turn: Turn, node: number): readonly ClaimStanding[] {
  const { work } = turn.node(node)
  const { participant } = turn.draft.nodeOf(node)
  const owner = ownerOf(turn.draft.run, work.principal, participant)
  return work.claims
    .map((claim) => standingOf(claim, owner))
    .filter(({ verification_status }) => verification_status !== 'verified')
}

/** Returns the standing of every claim of a run, by node. */
export function claimStandings(flow: CompiledFlow, state: RunState): readonly ClaimStanding[] {
  return [...vectorElements(state.nodes)].flatMap(({ work }, index) => {
    if (work.claims.length === 0) return []
    const participant = flow.nodes[index]?.participant ?? null
    const owner = ownerOf(state, elementAt(state.nodes, index).work.principal, participant)
    return work.claims.map((claim) => standingOf(claim, owner))
  })
}
