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
  Answer,
  EntryCause,
  EventPayload,
  Fact,
  FactHead,
  FactType,
  Finding,
  PayloadOf,
  Values,
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

  emit<T extends FactType>(type: T, payload: PayloadOf<T>): void {
    // The payload is the one of the type, by the signature; the compiler does not follow that.
    this.#append({ type, payload: Object.assign(this.#head(), payload) } as unknown as Fact)
  }

  record(payload: EventPayload): void {
    this.emit('flow_event_v1', payload)
  }

  /** The facts of every transition are spelt out: that is several times as fast as joining objects. */
  recordEvent(event: FlowEvent): void {
    const { run_id, seq, at } = this.#head()
    this.#append({ type: 'flow_event_v1', payload: { run_id, seq, at, kind: 'event', event } })
  }

  recordFired(edge_id: string, round: number): void {
    const { run_id, seq, at } = this.#head()
    const payload = { run_id, seq, at, kind: 'fired' as const, edge_id, round }
    this.#append({ type: 'flow_event_v1', payload })
  }

  recordEntered(node_id: string, round: number, cause: EntryCause, is_fresh: boolean): void {
    const { run_id, seq, at } = this.#head()
    const payload = { run_id, seq, at, kind: 'entered' as const, node_id, round, cause, is_fresh }
    this.#append({ type: 'flow_event_v1', payload })
  }

  recordGuard(
    edge_id: string,
    result: Answer,
    scope: string,
    values: Values,
    reasons: readonly string[],
  ): void {
    const { run_id, seq, at } = this.#head()
    const payload = {
      run_id,
      seq,
      at,
      kind: 'guard' as const,
      edge_id,
      result,
      scope,
      values,
      reasons,
    }
    this.#append({ type: 'flow_event_v1', payload })
  }

  #head(): FactHead {
    const { runId, seq } = this.draft.run
    const run_id = runId ?? (this.event.type === 'started' ? this.event.run_id : '')
    return { run_id, seq, at: this.event.at }
  }

  #append(fact: Fact): void {
    this.facts.push(fact)
    applyFact(this.draft, fact)
  }

  find(finding: Finding): void {
    this.emit('flow_finding_v1', finding)
  }

  /** Whoever calls hands the body over: it becomes the command's own. */
  command(body: CommandBody): void {
    const command = body as CommandBody & { command: number }
    command.command = this.draft.run.seq
    const { run_id, seq, at } = this.#head()
    const payload = { run_id, seq, at, kind: 'commanded' as const, command }
    this.#append({ type: 'flow_event_v1', payload })
    this.commands.push(command)
  }

  /** Changes what a node is at; its spans may have come to an end by it. */
  settle(index: number, status: NodeStatus, why: string): void {
    const { run_id, seq, at } = this.#head()
    const node_id = this.idOf(index)
    const payload = { run_id, seq, at, kind: 'status' as const, node_id, status, why }
    this.#append({ type: 'flow_event_v1', payload })
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
