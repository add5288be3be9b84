/**
 * One run of a flow on this host: events in, a step, its facts appended together, then its commands
 * carried out, whose answers are events again. Steps come one after another; what the commands do
 * goes on side by side.
 *
 * INVARIANT (durable before done): no command is carried out before its fact is on the ledger, and no
 * answer counts before its own facts are. A run that dies goes on from its facts.
 * INVARIANT (failure stops): when a step cannot be recorded nothing further is begun.
 */
import { randomBytes } from 'node:crypto'
import {
  type CompiledFlow,
  dueTimers,
  elementAt,
  emptyState,
  type FlowCommand,
  type FlowEvent,
  type FlowFact,
  foldFacts,
  limitsOf,
  nodesBlockedBy,
  OrchestrationLog,
  personText,
  plainName,
  type RunState,
  type RunStatus,
  runStatus,
  stagesSeen,
  step,
  timersOf,
} from '../flow/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { BudgetMeter } from './budget-meter.ts'
import { Duties } from './duties.ts'
import { RecordedArtifacts } from './files/recorded-artifacts.ts'
import type { FlowHost } from './flow-host.ts'
import {
  type AnswerOrder,
  lastUnblocked,
  lateAnswer,
  type Order,
  orderOf,
  ownNode,
} from './orders.ts'
import { Slots, usualPlaces } from './participant/slots.ts'
import { namedPerson } from './person-answer.ts'
import { RunPrograms } from './programs/run-programs.ts'
import { ownPath } from './run-files.ts'
import { hasTimers, nextTimer, RunFolder } from './run-folder.ts'
import { appendFacts, type FactRange, type RunHistory } from './run-records.ts'
import { Stages } from './stages.ts'

/** An event without what is added when it happens. */
type Told = FlowEvent extends infer E
  ? E extends FlowEvent
    ? Omit<E, 'at' | 'nonce'>
    : never
  : never

const TICK_MS = 10_000
const LOOK_MS = 400
const YES_MS = 2_000
/** Pauses between attempts that are not longer are waited for. */
const SHORT_MS = 60_000

export interface RunOptions {
  readonly host: FlowHost
  /** The flow that the run begins with; `FlowRun.flow` is the present one. */
  readonly flow: CompiledFlow
  readonly runId: string
  /** Absolute, and real. */
  readonly workspace: string
  readonly onFacts?: (facts: readonly FlowFact[], state: RunState) => void
  /** Goes on waiting for people, instead of ending, when there is nothing else to do. */
  readonly waits?: boolean
  /** Called when nothing is left but to wait for people, once for each set of questions. */
  readonly onWaiting?: (run: Pick<FlowRun, 'flow' | 'facts' | 'state' | 'waiting'>) => void
  readonly abort?: AbortSignal
  /** How many participants may work at once; the flow's word, or a number by the cores, without it. */
  readonly parallel?: number
  /** Commands are recorded and left to the next process that walks the run. */
  readonly recordsOnly?: boolean
}

interface Open {
  readonly abort: AbortController
  /** Never fails. */
  readonly over: Promise<void>
}

export class FlowRun {
  readonly options: RunOptions
  readonly folder: RunFolder
  readonly stages = new Stages()
  readonly artifacts = new RecordedArtifacts()
  readonly programs: RunPrograms
  readonly facts: FlowFact[] = []
  readonly slots: Slots
  readonly meter: BudgetMeter
  readonly #log: OrchestrationLog
  readonly #duties: Duties
  /** Some node or edge waits for a time or a signal: only then are timers looked for. */
  #hasTimers: boolean
  readonly #open = new Map<number, Open>()
  /** Commands that a person has to answer, by number. */
  readonly #waiting = new Map<number, FlowCommand>()
  #state: RunState
  #range: FactRange = { from: -1, to: -1 }
  #line: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | null = null
  #wake: () => void = () => {}
  /** The questions that the caller was shown last. */
  #questions = ''
  #lookedMs = Number.NEGATIVE_INFINITY
  /** Something ended since the last look. */
  #hasChanged = false

  constructor(options: RunOptions) {
    this.options = options
    this.folder = new RunFolder(options.host.home, options.runId)
    const { PATH: searchPath = '' } = options.host.environment
    this.programs = new RunPrograms(options.flow.base, options.workspace, searchPath)
    this.#state = emptyState(options.flow)
    this.#hasTimers = hasTimers(options.flow.base)
    const { flow, host, parallel } = options
    this.slots = new Slots(parallel ?? flow.document.budgets?.parallel ?? usualPlaces())
    this.meter = new BudgetMeter({
      limits: () => limitsOf(this.flow, this.#state),
      used: () => this.#state.totals,
      clock: host.clock,
    })
    this.#log = new OrchestrationLog()
    this.#duties = new Duties(this)
  }

  get state(): RunState {
    return this.#state
  }

  /** The flow that the run is walked by now. */
  get flow(): CompiledFlow {
    return this.#state.flow
  }

  get range(): FactRange {
    return this.#range
  }

  /** WAITING also when only a person's yes, or a person as a participant, is missing. */
  get status(): RunStatus {
    const status = runStatus(this.#state)
    return status === 'RUNNING' && this.#open.size === 0 && this.#waiting.size > 0
      ? 'WAITING'
      : status
  }

  get waiting(): readonly FlowCommand[] {
    return [...this.#waiting.values()]
  }

  /** Notes a command that only a person can answer, where `waitingRuns` finds it. */
  leaveToPerson(command: FlowCommand): void {
    this.#waiting.set(command.command, command)
    this.folder.noteWaiting([...this.#waiting.keys()])
  }

  #settle(command: number): void {
    if (this.#waiting.delete(command)) this.folder.noteWaiting([...this.#waiting.keys()])
  }

  /** Takes over what is recorded; nothing is carried out. */
  restore({ facts, range }: RunHistory): void {
    this.facts.push(...facts)
    for (const fact of facts) this.#observe(fact)
    this.programs.restore(facts)
    this.#state = foldFacts(this.options.flow, facts)
    this.#hasTimers = hasTimers(this.flow.base)
    this.#range = range
  }

  #observe(fact: FlowFact): void {
    this.stages.observe(fact)
    this.artifacts.observe(fact)
  }

  /** Tells the run something; resolves when what follows from it is durable and begun. */
  send(told: Told): Promise<void> {
    const sent = this.#line.then(() => this.#step(told))
    this.#line = sent.catch(() => {})
    return sent
  }

  /** Records what follows from something and carries nothing out: the next `resumed` does. */
  record(told: Told): Promise<void> {
    return this.#step(told, false)
  }

  async #step(told: Told, isCarriedOut = true): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error
    const { host, onFacts } = this.options
    const at = occurredAtText(host.clock.nowMs())
    const nonce = randomBytes(16).toString('hex')
    // `Told` is an event without its time and nonce: with both it is whole.
    const event = { ...told, at, nonce } as FlowEvent
    const { state, commands, facts, isStale } = step(this.#state, event)
    if (isStale) return
    const { from, to } = await appendFacts(host, facts)
    this.#range = { from: this.#range.from === -1 ? from : this.#range.from, to }
    this.#state = state
    for (const fact of facts) {
      this.facts.push(fact)
      this.#observe(fact)
    }
    if (this.#hasTimers) this.folder.noteTimer(nextTimer(state))
    onFacts?.(facts, state)
    if (!isCarriedOut || this.options.recordsOnly === true) return
    for (const command of commands) this.#carryOut(command)
  }

  #carryOut(command: FlowCommand): void {
    if (command.type === 'stop') {
      this.#open.get(command.stopped)?.abort.abort()
      this.#settle(command.stopped)
      return
    }
    const abort = new AbortController()
    const over = this.#duties
      .perform(command, abort.signal)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#open.delete(command.command)
        this.#hasChanged = true
        this.#wake()
      })
    this.#open.set(command.command, { abort, over })
  }

  /** Keeps the first failure, for `walk` to throw, and aborts everything under way. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    for (const { abort } of this.#open.values()) abort.abort()
  }

  /** Until nothing is left to do but to wait for a person, or nothing at all. */
  async walk(): Promise<RunStatus> {
    const { abort } = this.options
    const stop = (): void => this.#fail(abort?.reason ?? new Error('aborted'))
    // A signal that was given before the walk sends no event any more.
    if (abort?.aborted) stop()
    else abort?.addEventListener('abort', stop, { once: true })
    const ticking = this.flow.periodic.length > 0 ? setInterval(() => this.#tick(), TICK_MS) : null
    try {
      while (await this.#isBusy()) await this.#nextChange()
      if (this.#failure !== null) throw this.#failure.error
      return this.status
    } finally {
      if (ticking !== null) clearInterval(ticking)
      abort?.removeEventListener('abort', stop)
    }
  }

  async #isBusy(): Promise<boolean> {
    await this.#line
    if (this.#failure !== null) return this.#open.size > 0
    await this.takeOrders()
    if (this.#hasTimers) await this.tellTimers()
    if (this.#open.size > 0) return true
    if (this.options.waits === true) this.#tellWaiting()
    if (this.#hasTimers && this.#isTimeWaitedFor()) return true
    if (this.options.waits !== true || this.#waiting.size === 0) return false
    this.#lookForYes()
    return true
  }

  #tellWaiting(): void {
    const asked = [...this.#waiting.keys()].sort((one, other) => one - other).join(' ')
    if (asked === '' || asked === this.#questions) return
    this.#questions = asked
    this.options.onWaiting?.(this)
  }

  /** Tells the run of every time that had come by then, and returns them. */
  async tellTimers(nowMs = this.options.host.clock.nowMs()): Promise<ReturnType<typeof dueTimers>> {
    const due = dueTimers(this.#state, nowMs)
    for (const { node_id, command } of due) await this.send({ type: 'timer', node_id, command })
    return due
  }

  /** With `waits` everything is waited for; without it, short pauses between attempts. */
  #isTimeWaitedFor(): boolean {
    const timers = timersOf(this.#state)
    if (this.options.waits === true) return timers.length > 0
    const untilMs = this.options.host.clock.nowMs() + SHORT_MS
    return timers.some(
      (timer) =>
        timer.type === 'wait' &&
        timer.why === 'retry' &&
        timer.until !== null &&
        Date.parse(timer.until) <= untilMs,
    )
  }

  /** Runs waiting promotions again, now and then: a person may have answered the gate meanwhile. */
  #lookForYes(): void {
    const nowMs = this.options.host.clock.elapsedMs()
    if (nowMs - this.#lookedMs < YES_MS) return
    this.#lookedMs = nowMs
    for (const command of this.waiting) {
      if (command.type !== 'promote') continue
      this.#settle(command.command)
      this.#carryOut(command)
    }
  }

  /** Something ended, or it is time to look for orders. */
  async #nextChange(): Promise<void> {
    if (!this.#hasChanged) await this.#change()
    this.#hasChanged = false
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #tick(): void {
    this.send({ type: 'tick' }).catch((error: unknown) => this.#fail(error))
  }

  /**
   * What people said meanwhile, after the times that had come before they said it. An order is taken away
   * when what follows from it is durable.
   */
  async takeOrders(): Promise<void> {
    // A resume that was refused obeys nothing: what people said waits for one that is not.
    if (this.#state.isRefused) return
    for (const { order, atMs, done } of this.folder.orders()) {
      if (this.#hasTimers) await this.tellTimers(atMs)
      await this.#obey(orderOf(order))
      done()
    }
  }

  /** Takes a cancel that was left, and nothing else. */
  async takeCancel(): Promise<void> {
    for (const { order: left, done } of this.folder.orders()) {
      const order = orderOf(left)
      if (order.kind !== 'cancel') continue
      await this.#obey(order)
      done()
    }
  }

  /** An order that was obeyed and could not be taken away, or was given twice, changes nothing. */
  async #obey(order: Order): Promise<void> {
    switch (order.kind) {
      case 'answer': {
        const { node_id, command, answer, principal } = order
        if (await this.#isLate(order)) return
        await this.#asked(command)
        this.#settle(command)
        this.folder.hide(`waiting-${plainName(node_id)}.md`)
        return this.send({ type: 'human_answer', node_id, command, answer, principal })
      }
      case 'unblock': {
        const { node_id, principal, since } = order
        if (lastUnblocked(this.facts, node_id) !== since) return
        return this.send({ type: 'unblocked', node_id, principal })
      }
      case 'evidence': {
        if (this.#isEvidenceKnown(order.evidence.evidence_id)) return
        const { evidence, principal } = order
        if (ownNode(this.#state, this.facts, evidence.claim_id, principal) !== null) return
        return this.send({ type: 'evidence', evidence, principal, participant: null })
      }
      case 'budget':
        return this.#setBudget(order)
      case 'skip': {
        const { node_id, principal, comment, entries } = order
        if (this.#entriesOf(node_id) !== entries) return
        return this.send({ type: 'skipped', node_id, principal, comment })
      }
      case 'signal': {
        const { kind: _, ...signal } = order
        if (this.#isSignalKnown(signal.signal_id)) return
        return this.send({ type: 'signal', ...signal })
      }
      case 'cancel':
        return this.send({ type: 'cancelled', principal: order.principal, comment: order.comment })
      case 'document':
        if (!this.#isPersons(order.node_id, order.principal)) return
        if (await this.#isLate(order)) return
        await this.#asked(order.command)
        this.#settle(order.command)
        return this.#duties.hearPerson(order)
      default:
        return order satisfies never
    }
  }

  /** Sets budgets, and lets the nodes go on that a used up one stopped. */
  async #setBudget({ limits, principal }: Extract<Order, { kind: 'budget' }>): Promise<void> {
    await this.send({ type: 'budget_set', limits, principal })
    this.meter.look()
    for (const node_id of nodesBlockedBy('flow.budget', this.flow, this.#state, this.facts))
      await this.send({ type: 'unblocked', node_id, principal })
  }

  /** Keeps an answer that comes too late, and returns whether it does. */
  async #isLate(order: AnswerOrder): Promise<boolean> {
    const late = lateAnswer(this.facts, order, this.pendingOf(order.node_id))
    if (late !== null) await this.send(late)
    return late !== null
  }

  /** Waits until a question has been shown: its answer may arrive before. */
  async #asked(command: number): Promise<void> {
    await this.#open.get(command)?.over
  }

  #isSignalKnown(signalId: string): boolean {
    return this.facts.some(
      ({ type, payload }) =>
        type === 'flow_event_v1' &&
        payload.kind === 'event' &&
        payload.event.type === 'signal' &&
        payload.event.signal_id === signalId,
    )
  }

  #entriesOf(nodeId: string): number {
    const index = this.flow.nodeIndex.get(nodeId)
    return index === undefined ? -1 : elementAt(this.#state.nodes, index).entries
  }

  /** Programs speak for themselves, and so does a person who is named. */
  #isPersons(nodeId: string, by: string): boolean {
    const { flow } = this
    const { kind, reviewer, executor } =
      flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]?.document ?? {}
    const participant = (kind === 'CHECK' ? reviewer : executor) ?? null
    if (participant !== null && !('human' in participant)) return false
    const name = namedPerson(flow, nodeId)
    const { namespace } = this.options.host
    return name === null || this.#state.rules === 1 || personText(name, namespace) === by
  }

  #isEvidenceKnown(evidenceId: string): boolean {
    return this.facts.some(
      ({ type, payload }) =>
        type === 'flow_evidence_v1' && payload.evidence.evidence_id === evidenceId,
    )
  }

  /**
   * Reads a file of the workspace in a view, for the run to go by, or to hand on; null if there is none.
   * Fails if it is an artifact and not as its node handed it in.
   */
  async readFile(named: string, view: readonly string[]): Promise<Uint8Array | null> {
    const bytes = await this.seenFile(named, view)
    return this.artifacts.checked(ownPath(named, this.#state.artifacts), bytes)
  }

  async seenFile(named: string, view: readonly string[]): Promise<Uint8Array | null> {
    const { host, workspace } = this.options
    const path = ownPath(named, this.#state.artifacts)
    return host.attempts.readStaged(view, `${workspace}/${path}`)
  }

  /** Reads a file with the latest stage that changes it, for the manifests of sub-phases only. */
  latestFile(named: string): Promise<Uint8Array | null> {
    const path = ownPath(named, this.#state.artifacts)
    const holder = this.stages.holderOf(this.flow, this.#state, path)
    const view = holder === null ? [] : this.stages.viewOf(this.flow, this.#state, holder)
    return this.seenFile(named, view)
  }

  /** The stages that a node sees for which no participant runs. */
  viewUnder(nodeId: string): readonly string[] {
    return this.stages.bases(stagesSeen(this.flow, this.#state, nodeId))
  }

  logText(): string {
    return this.#log.textOf(this.facts, this.flow)
  }

  /** Returns the pending command of a node; null if there is none. */
  pendingOf(nodeId: string): FlowCommand | null {
    const index = this.flow.nodeIndex.get(nodeId)
    return index === undefined ? null : elementAt(this.#state.nodes, index).pending
  }
}
