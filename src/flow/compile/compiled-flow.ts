/**
 * A flow, ready to be walked: names are indexes, expressions are compiled, and what an edge has to
 * ask is gathered at the edge. Made once, shared by every run, never changed.
 *
 * The order of nodes and edges is the document's; indexes into it are what the runtime counts in.
 */
import type { Digest } from '../../base/index.ts'
import type { Flow, FlowEdge, FlowNode, NodeMap } from '../../contracts/index.ts'
import type { Expression, ExpressionFault } from '../../expression/index.ts'
import type { Policy } from '../../policy/index.ts'
import type { KnownLists } from '../map/lay-out.ts'
import type { MapItem } from '../map/placeholders.ts'

type InvariantDocument = NonNullable<Flow['invariants']>[number]
export type TextPolicyDocument = NonNullable<Flow['text_policies']>[number]

export interface CompiledInvariant {
  readonly document: InvariantDocument
  readonly expression: Expression
  /** Some edge names it, so it is judged at those edges only. */
  readonly isNamed: boolean
}

export interface CompiledEdge {
  readonly index: number
  readonly edgeId: string
  readonly document: FlowEdge
  readonly source: number
  readonly target: number
  readonly guard: Expression | null
  /** The guard speaks of fields of the state alone, and not of whether the phase is complete. */
  readonly isGuardPlain: boolean
  /** Nothing is asked at this edge: no guard, no gate, no claims, no policies, no invariants. */
  readonly isFree: boolean
  /** What is judged when this edge would fire: what it names, and what no edge names. */
  readonly policies: readonly Policy[]
  readonly invariants: readonly CompiledInvariant[]
  /** The ends lie in different phases. */
  readonly isLeaving: boolean
  /**
   * To a CHECK, from the node that it judges: fires when there is something to judge. Or from another
   * CHECK of that node: fires when that one has approved.
   */
  readonly isReview: boolean
  /** Leads forward: not a Loop, Rollback, Exception or Meta edge. */
  readonly isForward: boolean
  /** A Loop or Rollback edge. */
  readonly isBack: boolean
  /** Leads into a call node from outside: its source is a caller. */
  readonly isCall: boolean
  /** How it counts among those that its target waits for; null when it does not. */
  readonly arrival: Arrival | null
}

export type Arrival = 'sync' | 'join' | 'other'

/** What a node waits for before it is entered: how many edges of each sort lead to it. */
export interface Awaited {
  readonly syncs: number
  /** One Sync edge is enough. */
  readonly isAnySync: boolean
  /** Other edges on, with `join: AND`: all of them. */
  readonly joins: number
  /** The rest: any of them. Before version 4 of the rules, Exception edges too. */
  readonly others: number
}

export interface CompiledNode {
  readonly index: number
  readonly nodeId: string
  readonly document: FlowNode
  readonly phase: number
  /** -1 when the node is in no sub-phase. */
  readonly subphase: number
  readonly outgoing: readonly CompiledEdge[]
  /** Outgoing edges that are tried when the node is done: within the phase, and out of it. */
  readonly waysWithin: readonly CompiledEdge[]
  readonly waysOut: readonly CompiledEdge[]
  /** Some outgoing edge leads out of the phase. */
  readonly isAtBorder: boolean
  /** Progress and Gate edges into call nodes: they go before the ways, which wait for the return. */
  readonly calls: readonly CompiledEdge[]
  /** The calls wait for the end of the phase, as the ways out of it do. */
  readonly callsLate: boolean
  /** Some of the ways is a Decision. */
  readonly hasDecision: boolean
  readonly incoming: readonly CompiledEdge[]
  readonly awaits: Awaited
  /** CHECK nodes that judge this one. */
  readonly checks: readonly number[]
  /** Those of them that begin as soon as there is something to judge; others wait for other nodes. */
  readonly firstChecks: readonly number[]
  /** Of a CHECK: judges only if another CHECK of the same node fails, by an Exception edge of that one. */
  readonly isStandIn: boolean
  /** Of a CHECK: the node it judges; -1 otherwise. */
  readonly target: number
  /** Some CHECK of this node waits for other nodes, so that those run on what is only staged. */
  readonly isJudgedLate: boolean
  /** Has no participant: the node is done as soon as the run enters it. */
  readonly isBare: boolean
  /** Edges to alternatives leave this node; `isCandidate`: this node is an alternative. */
  readonly hasChoice: boolean
  readonly isCandidate: boolean
  /** Some guard of an outgoing edge goes by a file of evidence. */
  readonly readsEvidence: boolean
  /** The digest of the node's participant; null if it has none. */
  readonly participant: Digest | null
}

/** A node that is called, with the nodes that a call may come to: itself and what it leads to. */
export interface CalledNode {
  readonly node: number
  readonly region: readonly number[]
}

/** A node that runs once for each item of a list, and the nodes in its place. */
export interface CompiledMap {
  readonly nodeId: string
  /** Where the list is read, and what waits for the items. */
  readonly begin: number
  readonly join: number
  readonly document: NodeMap
  /** Null until the list is known. */
  readonly count: number | null
  /** Those of the present list first. */
  readonly items: readonly CompiledItem[]
  /** Nodes in the places of CHECK nodes that judge each item. */
  readonly followers: readonly number[]
}

export interface CompiledItem {
  /** Leads to the item. */
  readonly edge: number
  /** Ends the item. */
  readonly last: number
  readonly nodes: readonly number[]
}

/** A phase or a sub-phase. */
export interface CompiledSpan {
  readonly index: number
  readonly name: string
  /** In the order of the document. */
  readonly nodes: readonly number[]
  /** Seconds: the sum over the nodes. */
  readonly minimumDuration: number
}

export interface CompiledFlow {
  /** As it is walked: with the items of maps in the places of mapped nodes. */
  readonly document: Flow
  /** As it was written; `digest` is its digest. */
  readonly base: Flow
  readonly digest: Digest
  readonly nodes: readonly CompiledNode[]
  readonly edges: readonly CompiledEdge[]
  readonly nodeIndex: ReadonlyMap<string, number>
  readonly edgeById: ReadonlyMap<string, CompiledEdge>
  readonly phaseIndex: ReadonlyMap<string, number>
  readonly subphaseIndex: ReadonlyMap<string, number>
  readonly phases: readonly CompiledSpan[]
  readonly subphases: readonly CompiledSpan[]
  readonly minimumDuration: number
  readonly invariants: readonly CompiledInvariant[]
  /** Those of them that are judged at every event and tick. */
  readonly periodic: readonly CompiledInvariant[]
  /** Nodes that a run begins with. */
  readonly starts: readonly number[]
  readonly callNodes: readonly CalledNode[]
  /** The lists that were read so far. */
  readonly lists: KnownLists
  readonly maps: readonly CompiledMap[]
  /** By node: the item that it works at. */
  readonly items: ReadonlyMap<number, MapItem>
}

/** A fault of an expression, with the pointer of the field that holds the expression. */
export interface CompileFault extends ExpressionFault {
  readonly path: string
}

export type FlowCompilation =
  | { readonly ok: true; readonly flow: CompiledFlow }
  | { readonly ok: false; readonly faults: readonly CompileFault[] }
