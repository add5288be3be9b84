/**
 * One step under way: facts and commands are written down here and take effect at once. What follows
 * from a fact is put in line and done after it, so that no chain of nodes is a chain of calls.
 */

import type { CompiledFlow } from '../compile/compiled-flow.ts'
import {
  applyCommand,
  applyEntered,
  applyFact,
  applyFired,
  applyStatus,
  placeOf,
} from '../state/apply.ts'
import { applyEvent } from '../state/apply-event.ts'
import type { CommandBody, FlowCommand } from '../state/command.ts'
import type { RunDraft } from '../state/draft.ts'
import type { FlowEvent } from '../state/event.ts'
import type {
  EntryCause,
  EventPayload,
  FactHead,
  FactType,
  FlowFact,
  PayloadOf,
  RunFinding,
  TruthWord,
  Values,
} from '../state/fact.ts'
import type { NodeState, NodeStatus, RunState } from '../state/state.ts'
import type { OpenEdge } from './passage.ts'

/** Something that follows. */
export type Task =
  | {
      readonly kind: 'enter'
      readonly node: number
      readonly round: number
      readonly cause: EntryCause
      /** The edge that led there; absent when none did. */
      readonly edge?: number
    }
  /** Take a way on that was open at the end of a phase, after all ways back of the phase. */
  | { readonly kind: 'take'; readonly way: OpenEdge }
  /** Let go on what waited for the end of a phase next to the edges of a node. */
  | { readonly kind: 'follow'; readonly node: number }
  /** Try the edges of a node that is done. */
  | { readonly kind: 'leave'; readonly node: number; readonly isPhaseEnded: boolean }
  /** Nothing is missing any more but the promotion. */
  | { readonly kind: 'approve'; readonly node: number }
  | { readonly kind: 'done'; readonly node: number }
  /** Hand the work to its CHECK nodes. */
  | { readonly kind: 'submit'; readonly node: number }
  /** A node has failed or is blocked: the way out of it. */
  | { readonly kind: 'except'; readonly node: number }

const NO_SPANS: number[] = []
const NO_COMMANDS: FlowCommand[] = []
const NO_TASKS: Task[] = []

function withSpan(spans: number[], span: number): number[] {
  if (spans.length === 0) return [span]
  if (!spans.includes(span)) spans.push(span)
  return spans
}

export class Turn {
  readonly flow: CompiledFlow
  readonly draft: RunDraft
  readonly event: FlowEvent
  readonly facts: FlowFact[] = []
  /** Most steps have one command and one or two tasks: lists are made when there is something. */
  commands: FlowCommand[] = NO_COMMANDS
  #tasks: Task[] = NO_TASKS
  #done = 0
  /** Phases and sub-phases that may have come to an end; a step touches one or two. */
  #closingPhases: number[] = NO_SPANS
  #closingSubphases: number[] = NO_SPANS
  /** Nodes whose ways were tried in this step while nothing else of their phase was open. */
  #triedFirst = -1
  #triedNext: number[] = NO_SPANS
  #withheld: readonly number[] = NO_SPANS

  /** The node that the event is about; -1 when it is about none. */
  readonly place: number
  /** The command that the event answers; null when it answers none. */
  readonly answered: FlowCommand | null
  readonly #runId: string

  constructor(draft: RunDraft, event: FlowEvent, place: number) {
    const { flow, run } = draft
    this.flow = flow
    this.place = place
    this.answered = place === -1 ? null : draft.nodes.get(place).pending
    this.draft = draft
    this.event = event
    this.#runId = run.runId ?? (event.type === 'started' ? event.run_id : '')
  }

  node(index: number): NodeState {
    return this.draft.nodes.get(index)
  }

  /** Returns the node that called this call node; -1 if none has. */
  callerOf(index: number): number {
    const { call } = this.node(index)
    return call === -1 ? -1 : this.draft.edgeOf(call).source
  }

  idOf(index: number): string {
    return this.draft.nodeOf(index).nodeId
  }

  /** What a person types to let a stuck node try again. */
  unblockCommand(index: number): string {
    return `writ flow answer ${this.#runId} ${this.idOf(index)} unblock`
  }

  /** The command by which a human raises a budget. */
  budgetCommand(budget: string): string {
    return `writ flow budget ${this.#runId} --${budget} N`
  }

  emit<T extends Exclude<FactType, 'flow_event_v1'>>(type: T, payload: PayloadOf<T>): void {
    this.#emit(type, payload)
  }

  #emit<T extends FactType>(type: T, payload: PayloadOf<T>): void {
    const head: FactHead = { run_id: this.#runId, seq: this.draft.run.seq, at: this.event.at }
    // The payload is the one of the type, by the signature; the compiler does not follow that.
    const fact = { type, payload: Object.assign(head, payload) } as unknown as FlowFact
    this.facts.push(fact)
    applyFact(this.draft, fact)
  }

  /** Records anything but an edge that fires, which `recordFired` does. */
  record(payload: Exclude<EventPayload, { readonly kind: 'fired' }>): void {
    this.#emit('flow_event_v1', payload)
  }

  find(finding: RunFinding): void {
    this.emit('flow_finding_v1', finding)
  }

  /**
   * The facts of every transition are spelt out, and what they name is known by its place already:
   * that is several times as fast as joining objects and looking names up.
   */
  recordEvent(event: FlowEvent): void {
    this.#append({ run_id: this.#runId, seq: this.#next(), at: event.at, kind: 'event', event })
    applyEvent(this.draft, event, this.place)
  }

  recordFired({ edge }: Pick<OpenEdge, 'edge'>, round: number): void {
    const { edgeId: edge_id } = edge
    const run_id = this.#runId
    const { at } = this.event
    this.#append({ run_id, seq: this.#next(), at, kind: 'fired', edge_id, round })
    applyFired(this.draft, edge, round)
  }

  recordEntered(node: number, round: number, cause: EntryCause, is_fresh: boolean): void {
    const node_id = this.idOf(node)
    const run_id = this.#runId
    const { at } = this.event
    this.#append({
      run_id,
      seq: this.#next(),
      at,
      kind: 'entered',
      node_id,
      round,
      cause,
      is_fresh,
    })
    applyEntered(this.draft, node, round, cause, is_fresh)
  }

  recordGuard(
    edge_id: string,
    result: TruthWord,
    scope: string,
    values: Values,
    reasons: readonly string[],
  ): void {
    this.#append({
      run_id: this.#runId,
      seq: this.#next(),
      at: this.event.at,
      kind: 'guard',
      edge_id,
      result,
      scope,
      values,
      reasons,
    })
  }

  /** Records a command. Takes `body` over and adds the number to it. `place` is the node's index. */
  command(body: CommandBody, place = placeOf(this.draft, body)): void {
    // The next line adds the missing field.
    const command = body as CommandBody & { command: number }
    command.command = this.draft.run.seq
    const run_id = this.#runId
    const { at } = this.event
    this.#append({ run_id, seq: this.#next(), at, kind: 'commanded', command })
    applyCommand(this.draft, command, place)
    if (this.commands.length === 0) this.commands = [command]
    else this.commands.push(command)
  }

  /** Changes the status of a node, which may end its spans. */
  settle(index: number, status: NodeStatus, why: string): void {
    const node_id = this.idOf(index)
    const run_id = this.#runId
    const { at } = this.event
    this.#append({ run_id, seq: this.#next(), at, kind: 'status', node_id, status, why })
    applyStatus(this.draft, index, status)
    this.touch(index)
  }

  #append(payload: FactHead & EventPayload): void {
    this.facts.push({ type: 'flow_event_v1', payload })
  }

  /** Takes the number of the next fact. */
  #next(): number {
    const { run } = this.draft
    run.at = this.event.at
    return run.seq++
  }

  touch(index: number): void {
    const { phase, subphase } = this.draft.nodeOf(index)
    this.#closingPhases = withSpan(this.#closingPhases, phase)
    if (subphase >= 0) this.#closingSubphases = withSpan(this.#closingSubphases, subphase)
  }

  /** Returns and forgets the phases that may have ended since the last call. */
  takeClosingPhases(): readonly number[] {
    const spans = this.#closingPhases
    this.#closingPhases = NO_SPANS
    return spans
  }

  takeClosingSubphases(): readonly number[] {
    const spans = this.#closingSubphases
    this.#closingSubphases = NO_SPANS
    return spans
  }

  noteTriedAlone(node: number): void {
    if (this.#triedFirst === -1) this.#triedFirst = node
    else if (this.#triedNext.length === 0) this.#triedNext = [node]
    else this.#triedNext.push(node)
  }

  wasTriedAlone(node: number): boolean {
    return this.#triedFirst === node || this.#triedNext.includes(node)
  }

  later(task: Task): void {
    if (this.#tasks.length === 0) this.#tasks = [task]
    else this.#tasks.push(task)
  }

  /** Puts a task before all others. Earlier versions of the rules had it wait for its turn. */
  first(task: Task): void {
    if (this.draft.run.rules < 5 || !this.hasTask()) this.later(task)
    else this.#tasks.splice(this.#done, 0, task)
  }

  /** Keeps nodes from taking a way in this step: what they were built on is to run again. */
  withhold(nodes: readonly number[]): void {
    this.#withheld = [...this.#withheld, ...nodes]
  }

  isWithheld(node: number): boolean {
    return this.#withheld.includes(node)
  }

  hasTask(): boolean {
    return this.#tasks.length > this.#done
  }

  isBusy(): boolean {
    const spans = this.#closingPhases.length + this.#closingSubphases.length
    return this.#tasks.length - this.#done + spans > 0
  }

  /** Takes the oldest task; null if there is none. */
  next(): Task | null {
    const task = this.#tasks[this.#done]
    if (task !== undefined) this.#done++
    return task ?? null
  }
}

export interface Step {
  readonly state: RunState
  readonly commands: readonly FlowCommand[]
  /** To be appended together, before any command is carried out. */
  readonly facts: readonly FlowFact[]
  /** The run did not wait for this event, or has ended: the step changed nothing. */
  readonly isStale: boolean
}
