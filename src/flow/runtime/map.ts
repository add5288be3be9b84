/**
 * Maps while they are walked: the list is read, items begin in the order of the list with at most
 * `at_once` of them under way, and the mapped node is entered when every item has ended. An item that is
 * given up ends too; the node then counts whether enough are done.
 */
import { ITEMS_MAX } from '../../contracts/index.ts'
import type {
  CompiledEdge,
  CompiledFlow,
  CompiledItem,
  CompiledMap,
} from '../compile/compiled-flow.ts'
import { mapAt, spreadList } from '../compile/spread.ts'
import type { EventOf } from '../state/event.ts'
import type { NodeState, NodeStatus } from '../state/state.ts'
import { arrive, block } from './enter.ts'
import { fire } from './leave.ts'
import { mayFire, tryEdge } from './passage.ts'
import { dropStage } from './skip.ts'
import { dismissApprovals } from './stage.ts'
import type { Turn } from './turn.ts'

/** Commands the host to read the list of a map; false if the node begins none, or its list is written. */
export function readsList(turn: Turn, node: number): boolean {
  const map = turn.flow.maps.length === 0 ? null : mapAt(turn.flow, node)
  if (map === null || map.document.items !== undefined) return false
  const place = placeOf(turn, map)
  const node_id = turn.idOf(node)
  if (place === null) {
    const values = { from: map.document.artifact ?? '', why: 'the node has left no artifact yet' }
    block(turn, node, 'flow.list_refused', { ...values, next: turn.unblockCommand(node) })
    return true
  }
  const max = Math.min(map.document.max ?? ITEMS_MAX, ITEMS_MAX)
  turn.command({ type: 'read_list', node_id, ...place, max }, node)
  return true
}

/** Returns the file and the field of a list; null if its node has left no artifact. */
function placeOf(turn: Turn, { document }: CompiledMap): { path: string; field: string } | null {
  const source = document.from ?? document.artifact ?? ''
  const colon = source.lastIndexOf(':')
  const [named, field] = [source.slice(0, colon), source.slice(colon + 1)]
  if (document.from !== undefined) return { path: named, field }
  const index = turn.flow.nodeIndex.get(named)
  const artifact = index === undefined ? null : turn.node(index).work.artifact
  return artifact === null ? null : { path: artifact.path, field }
}

/** Blocks the node if its list was refused, by the host or by what its texts ask for. */
export function isListTaken(turn: Turn, node: number, event: EventOf<'list_read'>): boolean {
  const { items, path, problem = 'not_list', why = '' } = event
  const map = mapAt(turn.flow, node)
  if (map === null) return false
  const spread = items === null ? null : spreadList(turn.flow, turn.draft.run.rules, map, items)
  if (spread?.ok === true) return true
  const fault = spread === null ? { problem, message: why } : spread.fault
  const values = {
    path,
    problem: fault.problem,
    why: fault.message,
    next: turn.unblockCommand(node),
  }
  block(turn, node, 'flow.list_refused', values)
  return false
}

/** Begins items whose turn has come, in the order of the list. */
export function beginItems(turn: Turn): void {
  for (const map of turn.flow.maps) {
    const { status, hasFired, isLeftBehind } = turn.node(map.begin)
    // The run went back to a node before the map: it comes to the beginning again.
    if (isLeftBehind && turn.draft.run.rules >= 6) continue
    if (status !== 'done' || turn.node(map.join).status === 'abandoned') continue
    if (map.count === null) {
      // A person has skipped the list: the node is passed with it.
      if (turn.node(map.join).status === 'idle') turn.later({ kind: 'done', node: map.join })
      continue
    }
    if (map.count === 0 && !hasFired) firePast(turn, map)
    const items = map.items.slice(0, map.count)
    const next = items.filter(({ edge }) => turn.draft.fired.get(edge) === 0)
    if (next.length === 0) continue
    const working = items.filter((item) => isUnderWay(turn, item)).length
    const places = (map.document.at_once ?? items.length) - working
    for (const { edge } of next.slice(0, Math.max(0, places))) pass(turn, turn.draft.edgeOf(edge))
  }
}

function firePast(turn: Turn, { begin, join }: CompiledMap): void {
  for (const edge of turn.draft.nodeOf(begin).outgoing) if (edge.target === join) pass(turn, edge)
}

/** Fires an edge between a map and its items, which names no controls. */
function pass(turn: Turn, edge: CompiledEdge): void {
  const way = tryEdge(turn, edge, 'aside')
  if (mayFire(way)) fire(turn, way)
}

/** Returns whether an item takes one of the places: it has begun, and nothing of it waits for a person. */
function isUnderWay(turn: Turn, { edge, last, nodes }: CompiledItem): boolean {
  if (turn.draft.fired.get(edge) === 0) return false
  const { status } = turn.node(last)
  if (status === 'done' || status === 'abandoned' || status === 'failed') return false
  return !nodes.some((node) => {
    const { status: at, isHeld } = turn.node(node)
    return at === 'waiting' || at === 'blocked' || at === 'abandoned' || isHeld
  })
}

function itemAt({ maps }: CompiledFlow, node: number) {
  for (const map of maps) {
    const item = map.items.slice(0, map.count ?? 0).find(({ nodes }) => nodes.includes(node))
    if (item !== undefined) return { map, item }
  }
  return null
}

/** Returns whether a failure of this node is counted: by `minimum`, or for a way out of the mapped node. */
export function isCounted(turn: Turn, node: number): boolean {
  const found = turn.flow.maps.length === 0 ? null : itemAt(turn.flow, node)
  if (found === null) return false
  if (found.map.document.minimum !== undefined) return true
  const { outgoing } = turn.draft.nodeOf(found.map.join)
  return outgoing.some(({ document }) => document.class === 'Exception')
}

/** Returns whether a node is in an item that was given up: where the run went then, the mapped node says. */
export function isGivenUp(turn: Turn, node: number): boolean {
  const found = turn.flow.maps.length === 0 ? null : itemAt(turn.flow, node)
  return found !== null && turn.node(found.item.last).status === 'abandoned'
}

/** Ends an item without its work; false if the node belongs to none. */
export function giveUpItem(turn: Turn, node: number, why: string): boolean {
  const found = turn.flow.maps.length === 0 ? null : itemAt(turn.flow, node)
  if (found === null) return false
  const { item } = found
  const node_id = turn.idOf(item.last)
  const values = { at: turn.idOf(node), why }
  turn.find({ code: 'flow.item_failed', node_id, action: 'alert', values })
  for (const one of item.nodes) {
    const { status, pending } = turn.node(one)
    if (pending !== null)
      turn.command({ type: 'stop', node_id: turn.idOf(one), stopped: pending.command })
    dismissApprovals(turn, one)
    if (status === 'idle' || status === 'done') continue
    dropStage(turn, one)
    turn.settle(one, 'abandoned', why)
  }
  if (turn.node(item.last).status !== 'abandoned') turn.settle(item.last, 'abandoned', why)
  const round = Math.max(turn.node(item.last).round, turn.draft.run.round)
  for (const edge of turn.draft.nodeOf(item.last).outgoing) {
    const way = edge.target === found.map.join ? tryEdge(turn, edge, 'aside') : null
    if (way === null || !mayFire(way)) continue
    turn.recordFired(way, round)
    arrive(turn, edge, round)
  }
  return true
}

/**
 * Returns the node that begins an item which was given up; the node itself if it is in no such item. The
 * mapped node is released: a phase does not end over one that is blocked.
 */
export function reopenItem(turn: Turn, node: number): number {
  const found = isLostItem(turn.flow, turn.draft.nodes, node) ? itemAt(turn.flow, node) : null
  if (found === null) return node
  const { join } = found.map
  if (turn.node(join).status === 'blocked') turn.settle(join, 'rejected', 'an item tries again')
  return turn.draft.edgeOf(found.item.edge).target
}

/**
 * Returns whether an item was given up and its map has not ended, or was undone and the map is blocked for it: a
 * person may let it try again.
 */
export function isLostItem(
  flow: CompiledFlow,
  nodes: { get(index: number): Pick<NodeState, 'status'> },
  node: number,
): boolean {
  const { status } = nodes.get(node)
  const found = status === 'abandoned' || status === 'rejected' ? itemAt(flow, node) : null
  if (found === null) return false
  const { status: joined } = nodes.get(found.map.join)
  return status === 'abandoned' ? joined !== 'done' : joined === 'blocked'
}

/** Blocks a mapped node of which too few items are done. */
export function isShort(turn: Turn, node: number): boolean {
  const map = turn.flow.maps.find(({ join }) => join === node)
  if (map === undefined || map.count === null) return false
  const items = map.items.slice(0, map.count)
  const lost = items.filter(({ last }) => !isMade(turn, last))
  const done = items.length - lost.length
  // An empty list is no work that was judged: only `minimum: 0` says that it may be (version 6).
  const all = turn.draft.run.rules >= 6 ? Math.max(1, items.length) : items.length
  const minimum = map.document.minimum ?? all
  if (done >= minimum) return false
  const failed = lost.map(({ last }) => turn.idOf(last)).slice(0, FAILED_TOLD)
  const values = { done, of: items.length, minimum, failed, next: turn.unblockCommand(node) }
  block(turn, node, 'flow.items_short', values)
  return true
}

const FAILED_TOLD = 20

/** Returns whether an item is done, or is staged on work that is judged later (version 8). */
function isMade({ draft }: Turn, last: number): boolean {
  const { status } = draft.nodes.get(last)
  return status === 'done' || (draft.run.rules >= 8 && isStagedOn(status))
}

function isStagedOn(status: NodeStatus): boolean {
  return status === 'approved' || status === 'provisional' || status === 'promoting'
}

/** Returns the items of a mapped node that are made; null for another node. */
export function doneItems(turn: Turn, node: number): readonly number[] | null {
  const map = turn.flow.maps.find(
    ({ join, followers }) => join === node || followers.includes(node),
  )
  if (map === undefined || map.count === null) return null
  const lasts = map.items.slice(0, map.count).map(({ last }) => last)
  return lasts.filter((last) => isMade(turn, last))
}
