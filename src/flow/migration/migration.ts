/**
 * Whether a run can be moved to another version of its flow (X-3b). What the run has not come to may change
 * freely; what it is at, and what its state relies on, has to be in the new version.
 *
 * INVARIANT (nothing is lost): a migration without obstacles leaves every open command, stage, claim,
 * lock, timer and manifest of the run at a part of the new flow that means the same.
 */
import {
  DOCUMENT_LIMITS,
  digestDocument,
  guardValue,
  isRefusal,
  showName,
} from '../../base/index.ts'
import type { Flow } from '../../contracts/index.ts'
import type { CompiledFlow, CompiledNode } from '../compile/compiled-flow.ts'
import { signalNames } from '../runtime/wait.ts'
import { rulesFor } from '../state/command.ts'
import { isStuckStatus } from '../state/draft.ts'
import { migratedFlow } from '../state/reshape.ts'
import { isOpen, type NodeState, type NodeStatus, type RunState } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'
import { changesBetween, type FlowChange, fieldsOf } from './changes.ts'

/** Something that keeps a run from a new version. */
interface MigrationObstacle {
  /** Such as `node draft` or `state field score`. */
  readonly part: string
  readonly message: string
}

export interface Migration {
  readonly from: string
  readonly to: string
  readonly changes: readonly FlowChange[]
  readonly obstacles: readonly MigrationObstacle[]
}

export function planMigration(state: RunState, document: Flow): Migration {
  const { flow: before } = state
  const to = digestDocument(document)
  const changes = changesBetween(before.base, document)
  const after = migratedFlow(before, state.rules, { to, flow: document })
  const found =
    after === null
      ? [{ part: 'flow', message: 'the new version does not compile' }]
      : new Obstacles(state, before, after).find()
  const general = generalObstacles(state, document)
  return { from: before.digest, to, changes, obstacles: [...general, ...found] }
}

function generalObstacles(state: RunState, document: Flow): MigrationObstacle[] {
  const { flow, ended, isRefused, rules } = state
  const { flow_id } = flow.base
  const part = 'run'
  const hasMaps = document.nodes.some(({ map }) => map !== undefined)
  const isLarge = isRefusal(guardValue({ payload: { event: document } }, DOCUMENT_LIMITS))
  return [
    ...(ended === null ? [] : [{ part, message: `it has ended: ${ended}` }]),
    ...(isRefused ? [{ part, message: 'its last resume was refused; put that right first' }] : []),
    ...(flow_id === document.flow_id
      ? []
      : [
          {
            part: 'flow_id',
            message: `it is a run of ${showName(flow_id)}, not of ${showName(document.flow_id)}`,
          },
        ]),
    ...(hasMaps && rules < 3
      ? [{ part, message: 'it was begun by a writ without maps, and the new version has one' }]
      : []),
    ...(isLarge ? [{ part: 'flow', message: 'the new version is too large for one fact' }] : []),
  ]
}

/**
 * Fields that a node keeps once the run has come to it, those that it keeps while it is active, and those
 * that it keeps while something is there that was made by them.
 */
const KEPT_ENTERED = ['kind', 'target', 'call'] as const
const KEPT_ACTIVE = ['phase_id', 'subphase_id'] as const
const KEPT_MADE = ['actor', 'executor', 'reviewer', 'writes', 'trace'] as const

class Obstacles {
  readonly #state: RunState
  readonly #before: CompiledFlow
  readonly #after: CompiledFlow
  readonly #found: MigrationObstacle[] = []

  constructor(state: RunState, before: CompiledFlow, after: CompiledFlow) {
    this.#state = state
    this.#before = before
    this.#after = after
  }

  find(): readonly MigrationObstacle[] {
    for (const node of this.#before.nodes) this.#atNode(node)
    this.#atEdges()
    this.#atSpans()
    this.#atFields()
    return this.#found
  }

  #add(part: string, message: string): void {
    this.#found.push({ part, message })
  }

  #atNode(node: CompiledNode): void {
    const known = elementAt(this.#state.nodes, node.index)
    const reasons = reasonsOf(known)
    const part = `node ${node.nodeId}`
    const now = this.#after.nodes[this.#after.nodeIndex.get(node.nodeId) ?? -1]
    if (now === undefined) {
      if (reasons.length > 0)
        this.#add(part, `${reasons.join(', ')}, and the new version has no such node`)
      return
    }
    const made = isStoppedEmpty(known) ? [] : KEPT_MADE
    const kept = reasons.length > 0 ? [...KEPT_ENTERED, ...KEPT_ACTIVE, ...made] : KEPT_ENTERED
    const changed = fieldsOf(node.document, now.document)
    const wrong =
      known.entries === 0 && reasons.length === 0
        ? []
        : kept.filter((name) => changed.includes(name))
    const why = reasons.length > 0 ? reasons.join(', ') : 'the run has been there'
    for (const name of wrong)
      this.#add(part, `${why}, and its \`${name}\` is another one in the new version`)
    if (reasons.length > 0) this.#atActive(node, now, known, part)
  }

  #atActive(node: CompiledNode, now: CompiledNode, known: NodeState, part: string): void {
    const { pending, status } = known
    const [items, itemsNow] = [this.#before.items.get(node.index), this.#after.items.get(now.index)]
    if (fieldsOf({ item: items?.item ?? null }, { item: itemsNow?.item ?? null }).length > 0)
      this.#add(part, 'it works at an item of a list, and the new version has another item there')
    if (status === 'submitted' || status === 'provisional' || status === 'approved') {
      const names = ({ checks }: CompiledNode, { nodes }: CompiledFlow) =>
        checks.map((check) => nodes[check]?.nodeId ?? '').sort()
      if (fieldsOf({ a: names(node, this.#before) }, { a: names(now, this.#after) }).length > 0)
        this.#add(part, 'it is being judged, and other CHECK nodes judge it in the new version')
    }
    if (pending?.type === 'run_participant' || pending?.type === 'ask_again') {
      const { actor } = node.document
      const rules = { a: rulesFor(this.#before.base, actor) }
      if (fieldsOf(rules, { a: rulesFor(this.#after.base, actor) }).length > 0)
        this.#add(part, `an attempt is open, and the access rules of ${showName(actor)} are others`)
    }
    if (pending?.type === 'wait') {
      const heard = signalNames(this.#after.document)
      for (const name of pending.signals.filter((one) => !heard.has(one)))
        this.#add(
          part,
          `it waits for the signal ${showName(name)}, which the new version does not know`,
        )
    }
    if (pending?.type === 'roll_back' && !this.#after.nodeIndex.has(pending.back_to))
      this.#add(
        part,
        `it is rolled back to ${showName(pending.back_to)}, which the new version does not have`,
      )
  }

  /** Edges that have fired, or that a call came by, lead where they led. */
  #atEdges(): void {
    for (const { index, edgeId, document, target } of this.#before.edges) {
      const { call, calls } = elementAt(this.#state.nodes, target)
      const isCalling = call === index || calls.includes(index)
      const now = this.#after.edgeById.get(edgeId)?.document
      if (now === undefined) {
        if (isCalling)
          this.#add(
            `edge ${edgeId}`,
            'a call came by it and has not returned, and the new version has no such edge',
          )
        continue
      }
      if (!isCalling && elementAt(this.#state.fired, index) === 0) continue
      const ends = fieldsOf(document, now).filter((name) =>
        ['source', 'target', 'class'].includes(name),
      )
      for (const name of ends)
        this.#add(
          `edge ${edgeId}`,
          `the run has taken it, and its \`${name}\` is another one in the new version`,
        )
    }
  }

  #atSpans(): void {
    for (const { index, name } of this.#before.phases) {
      const { isActive, isBlocked, pending } = elementAt(this.#state.phases, index)
      if ((isActive || isBlocked || pending !== null) && !this.#after.phaseIndex.has(name))
        this.#add(`phase ${name}`, 'it has not ended, and the new version has no such phase')
    }
    for (const { index, name, nodes } of this.#before.subphases) {
      const { isActive, manifest, pending } = elementAt(this.#state.subphases, index)
      if (!isActive && manifest === null && pending === null) continue
      const now = this.#after.subphases[this.#after.subphaseIndex.get(name) ?? -1]
      const left = nodes.filter(
        (node) =>
          elementAt(this.#state.nodes, node).entries > 0 &&
          now?.nodes.includes(
            this.#after.nodeIndex.get(this.#before.nodes[node]?.nodeId ?? '') ?? -1,
          ) !== true,
      )
      const why = manifest === null ? 'it has not ended' : 'its manifest is written'
      if (now === undefined)
        this.#add(`sub-phase ${name}`, `${why}, and the new version has no such sub-phase`)
      else
        for (const node of left)
          this.#add(
            `sub-phase ${name}`,
            `${why}, and ${showName(this.#before.nodes[node]?.nodeId ?? '')} is no longer in it`,
          )
    }
  }

  /** A field may go if it was never set, and an int may become a double. */
  #atFields(): void {
    const [old, now] = [this.#before.base.state?.fields ?? {}, this.#after.base.state?.fields ?? {}]
    for (const [name, { type, initial }] of Object.entries(old)) {
      const part = `state field ${name}`
      const field = Object.hasOwn(now, name) ? now[name] : undefined
      if (field === undefined) {
        if (this.#state.fields[name] !== initial)
          this.#add(part, 'it has been set, and the new version does not have it')
      } else if (field.type !== type && !(type === 'int' && field.type === 'double'))
        this.#add(part, `it is ${type}, and ${field.type} in the new version`)
    }
  }
}

const STOPPED: ReadonlySet<NodeStatus> = new Set(['waiting', 'blocked', 'rejected', 'failed'])

/** Returns whether all attempts at a node have failed and it has left nothing: the next one may differ. */
function isStoppedEmpty({ status, pending, work }: NodeState): boolean {
  const isAsked = pending?.type === 'ask_human' && pending.why === 'escalation'
  const isEmpty = work.artifact === null && work.stage === null && work.claims.length === 0
  return STOPPED.has(status) && (pending === null || isAsked) && isEmpty
}

/** What of a run lies at a node, in words; nothing when the node may change or go. */
function reasonsOf(node: NodeState): readonly string[] {
  const { status, isHeld, deadline, awaited, calls, call, work } = node
  const isStaged = work.stage !== null && work.stage.actionId === null
  return [
    ...(isOpen(status) || isStuckStatus(status) || status === 'rejected'
      ? [`it is ${status.replaceAll('_', ' ')}`]
      : []),
    ...(isHeld ? ['its ways are closed'] : []),
    ...(deadline === null ? [] : ['it has a deadline']),
    ...(awaited > 0 || calls.length > 0 || call !== -1 ? ['a call has not returned'] : []),
    ...(isStaged ? ['its work is staged'] : []),
    ...(work.isLocked ? ['a REJECT locks it'] : []),
    ...(work.claims.some(({ evidence, participant }) => evidence.length > 0 || participant !== null)
      ? ['it holds claims']
      : []),
  ]
}
