/**
 * One step under way: facts and commands are written down here and take effect at once. What follows
 * from a fact is put in line and done after it, so that no chain of nodes is a chain of calls.
 */

import type { CompiledFlow } from '../compile/compiled-flow.ts'
import { applyFact } from './apply.ts'
import type { Command, CommandBody } from './command.ts'
import { Draft } from './draft.ts'
import type { FlowEvent } from './event.ts'
import type {
  EntryCause,
  EventPayload,
  Fact,
  FactHead,
  FactType,
  Finding,
  PayloadOf,
} from './fact.ts'
import type { NodeState, NodeStatus, RunState } from './state.ts'
import { elementAt } from './vector.ts'

/** Something that follows. */
export type Task =
  | {
      readonly kind: 'enter'
      readonly node: number
      readonly round: number
      readonly cause: EntryCause
    }
  /** Try the edges of a node that is done. */
  | { readonly kind: 'leave'; readonly node: number; readonly isPhaseEnded: boolean }
  /** Nothing is missing any more but the promotion. */
  | { readonly kind: 'approve'; readonly node: number }
  | { readonly kind: 'done'; readonly node: number }
  /** A node has failed or is blocked: the way out of it. */
  | { readonly kind: 'except'; readonly node: number }

export class Turn {
  readonly flow: CompiledFlow
  readonly draft: Draft
  readonly event: FlowEvent
  readonly facts: Fact[] = []
  readonly commands: Command[] = []
  readonly #tasks: Task[] = []
  #done = 0
  /** Phases and sub-phases that may have come to an end. */
  readonly closingPhases = new Set<number>()
  readonly closingSubphases = new Set<number>()
  /** Nodes whose ways were tried in this step while nothing else of their phase was open. */
  readonly triedAlone = new Set<number>()

  /** The command that the event answers; null when it answers none. */
  readonly answered: Command | null

  constructor(flow: CompiledFlow, state: RunState, event: FlowEvent) {
    this.flow = flow
    const index = 'node_id' in event ? flow.nodeIndex.get(event.node_id) : undefined
    this.answered = index === undefined ? null : elementAt(state.nodes, index).pending
    this.draft = new Draft(flow, state)
    this.event = event
  }

  node(index: number): NodeState {
    return this.draft.nodes.get(index)
  }

  idOf(index: number): string {
    return this.draft.nodeOf(index).document.node_id
  }

  /** Whoever calls hands the payload over: it becomes the fact's own. */
  emit<T extends FactType>(type: T, payload: PayloadOf<T>): void {
    const { run } = this.draft
    const headed = payload as PayloadOf<T> & { -readonly [K in keyof FactHead]: FactHead[K] }
    headed.run_id = run.runId ?? (this.event.type === 'started' ? this.event.run_id : '')
    headed.seq = run.seq
    headed.at = this.event.at
    // The payload is the one of the type, by the signature; the compiler does not follow that.
    const fact = { type, payload: headed } as unknown as Fact
    this.facts.push(fact)
    applyFact(this.draft, fact)
  }

  record(payload: EventPayload): void {
    this.emit('flow_event_v1', payload)
  }

  find(finding: Finding): void {
    this.emit('flow_finding_v1', finding)
  }

  /** Whoever calls hands the body over: it becomes the command's own. */
  command(body: CommandBody): void {
    const command = body as CommandBody & { command: number }
    command.command = this.draft.run.seq
    this.record({ kind: 'commanded', command })
    this.commands.push(command)
  }

  /** Changes what a node is at; its spans may have come to an end by it. */
  settle(index: number, status: NodeStatus, why: string): void {
    this.record({ kind: 'status', node_id: this.idOf(index), status, why })
    this.touch(index)
  }

  touch(index: number): void {
    const { phase, subphase } = this.draft.nodeOf(index)
    this.closingPhases.add(phase)
    if (subphase >= 0) this.closingSubphases.add(subphase)
  }

  later(task: Task): void {
    this.#tasks.push(task)
  }

  isBusy(): boolean {
    return (
      this.#tasks.length - this.#done + this.closingPhases.size + this.closingSubphases.size > 0
    )
  }

  /** What is next in line, in the order it was put there; null when nothing is. */
  next(): Task | null {
    const task = this.#tasks[this.#done]
    if (task !== undefined) this.#done++
    return task ?? null
  }
}

export interface Step {
  readonly state: RunState
  readonly commands: readonly Command[]
  /** To be appended together, before any command is carried out. */
  readonly facts: readonly Fact[]
  /** Nobody waits for this event, or the run has ended: nothing was changed. */
  readonly isStale: boolean
}
