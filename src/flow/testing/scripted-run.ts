/**
 * A host for tests (F-15): it answers the commands of a run as a case says, and lets time pass without
 * waiting. Everything happens at a moment of its own clock: attempts begin at once, take as long as
 * they say, and end in the order of their ends; timers and deadlines come when the clock gets there.
 *
 * INVARIANT (the real engine): each event goes through `step`, each output through the readers of
 * answers; the case scripts what participants say and never what a run decides.
 */
import { digestBytes, invariant } from '../../base/index.ts'
import type { FlowTestCase, FlowTestEvent, ScriptedAttempt } from '../../contracts/index.ts'
import { artifactPath, type ParsedAnswer, readAction, readReview } from '../answer/answer.ts'
import { evidenceIn, listIn } from '../answer/evidence-file.ts'
import { personText, principalOf } from '../answer/participant-words.ts'
import { missingInput, SAID_BY_HOST } from '../answer/requirements.ts'
import type { CompiledFlow, CompiledNode } from '../compile/compiled-flow.ts'
import { nodesBlockedBy } from '../report/stops.ts'
import { limitsOf } from '../state/budget.ts'
import { type AccessMode, decideAccess, type FlowCommand } from '../state/command.ts'
import type { FlowEvent } from '../state/event.ts'
import type { FlowFact } from '../state/fact.ts'
import { outstanding, timersOf } from '../state/outstanding.ts'
import { emptyState, type RunState, type RunStatus, runStatus } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'
import { step } from '../step/step.ts'
import {
  type AttemptEnd,
  actionText,
  endOf,
  reviewText,
  type TestedAttempt,
} from './scripted-answer.ts'
import { Scripts, TestQueue } from './test-queue.ts'
import { isDeclared, type StagedFiles, TestWorkspace, writtenFiles } from './workspace.ts'
import {
  type EventBody,
  eventWords,
  manifestsNow,
  PERSON,
  testId,
  worldEvent,
} from './world-events.ts'

/** What an access rule kept from a participant. */
interface RefusedPath {
  readonly node: string
  readonly path: string
  readonly mode: AccessMode
}

type CommandOf<T extends FlowCommand['type']> = Extract<FlowCommand, { type: T }>

/** No case needs so many events; a run that goes on for longer has no end. */
const EVENTS_MAX = 100_000
const START_MS = Date.UTC(2026, 0, 1)
const TICK_MS = 10_000

export class ScriptedRun {
  readonly facts: FlowFact[] = []
  readonly refused: RefusedPath[] = []
  readonly workspace = new TestWorkspace()
  /** Entries of `events` that came to nothing, with the reason. */
  readonly unheard: string[] = []
  state: RunState
  isEndless = false
  readonly #case: FlowTestCase
  #events: FlowTestEvent[]
  #nowMs = START_MS
  #tickMs = START_MS
  #sent = 0
  readonly #queue = new TestQueue()
  readonly #scripts: Scripts
  /** By node: the attempt that is asked again. */
  readonly #live = new Map<string, TestedAttempt>()
  /** Commands that a person has to answer. */
  readonly #waiting = new Map<number, FlowCommand>()
  /** Timers that have come; one that also waits for a signal stays open. */
  readonly #fired = new Set<number>()
  readonly #refusedStages = new Set<string>()

  constructor(flow: CompiledFlow, files: Readonly<Record<string, unknown>>, one: FlowTestCase) {
    this.#case = one
    this.#events = [...(one.events ?? [])]
    this.#scripts = new Scripts(one.nodes ?? {})
    this.state = emptyState(flow)
    this.workspace.write(files)
    this.workspace.write(one.files ?? {})
  }

  /** As the run is walked now: a list that was read puts items in the place of a node. */
  get flow(): CompiledFlow {
    return this.state.flow
  }

  walk(): this {
    this.#send({ type: 'started', run_id: 'run-test' })
    while (this.state.ended === null && this.#next()) {
      if (this.#sent <= EVENTS_MAX) continue
      this.isEndless = true
      return this
    }
    for (const event of this.#events) this.unheard.push(`${eventWords(event)}: the run had ended`)
    return this
  }

  /** As commands show it: a run that only people can go on with waits. */
  get status(): RunStatus {
    const status = runStatus(this.state)
    return status === 'RUNNING' && this.#waiting.size > 0 ? 'WAITING' : status
  }

  get waiting(): readonly FlowCommand[] {
    return [...this.#waiting.values()]
  }

  /** Carries out what happens next; false when nothing does. */
  #next(): boolean {
    const entry = this.#queue.first()
    if (entry === null) {
      const event = this.#events.shift()
      if (event !== undefined) return this.#take(event)
      return this.#fireTimer(Number.POSITIVE_INFINITY)
    }
    if (this.#fireTimer(entry.atMs - 1) || this.#tick(entry.atMs)) return true
    this.#queue.drop(({ command }) => command === entry.command)
    this.#nowMs = Math.max(this.#nowMs, entry.atMs)
    entry.run()
    return true
  }

  /** Lets the earliest timer come that is due by then. */
  #fireTimer(byMs: number): boolean {
    const due = timersOf(this.state)
      .filter(({ command }) => !this.#fired.has(command))
      .flatMap((timer) => (timer.until === null ? [] : [{ timer, atMs: Date.parse(timer.until) }]))
      .sort((one, other) => one.atMs - other.atMs)[0]
    if (due === undefined || due.atMs > byMs) return false
    this.#nowMs = Math.max(this.#nowMs, due.atMs)
    const { node_id, command } = due.timer
    this.#fired.add(command)
    return this.#send({ type: 'timer', node_id, command })
  }

  /** Invariants that are judged periodically see every ten seconds of work. */
  #tick(byMs: number): boolean {
    if (this.flow.periodic.length === 0 || this.#tickMs + TICK_MS > byMs) return false
    this.#tickMs = Math.max(this.#tickMs + TICK_MS, this.#nowMs)
    if (this.#tickMs > byMs) return false
    this.#nowMs = this.#tickMs
    return this.#send({ type: 'tick' })
  }

  #send(body: EventBody): boolean {
    this.#sent++
    const at = new Date(this.#nowMs).toISOString()
    // The body is one of the events without what is added here.
    const event = { ...body, at, nonce: `nonce-${this.#sent}` } as FlowEvent
    const { state, commands, facts, isStale } = step(this.state, event)
    this.state = state
    this.facts.push(...facts)
    for (const command of commands) this.#perform(command)
    return !isStale
  }

  #later(command: number, seconds: number, run: () => void): void {
    this.#queue.add({ atMs: this.#nowMs + seconds * 1000, command, run })
  }

  #perform(command: FlowCommand): void {
    const { command: number } = command
    switch (command.type) {
      case 'run_participant':
        return this.#later(number, command.delay_seconds, () => this.#begin(command))
      case 'ask_again':
        return this.#later(number, 0, () => this.#askAgain(command))
      case 'ask_human':
        this.#waiting.set(number, command)
        return
      case 'stop':
        this.#queue.drop((entry) => entry.command === command.stopped)
        this.#waiting.delete(command.stopped)
        return
      // The clock answers these, see `#fireTimer`.
      case 'wait':
      case 'deadline':
        return
      case 'pass':
      case 'read_evidence':
      case 'read_list':
      case 'promote':
      case 'roll_back':
      case 'write_log':
      case 'write_manifest':
        return this.#later(number, 0, () => this.#send(this.#answerOf(command)))
      default:
        return command satisfies never
    }
  }

  #answerOf(
    command: CommandOf<
      | 'pass'
      | 'read_evidence'
      | 'read_list'
      | 'promote'
      | 'roll_back'
      | 'write_log'
      | 'write_manifest'
    >,
  ): EventBody {
    const { command: number } = command
    switch (command.type) {
      case 'pass': {
        const { node_id } = command
        const missing = this.workspace.missing(this.#nodeOf(node_id), [])
        const lacking = missing.length === 0 ? {} : { missing_files: missing }
        return { type: 'passed', node_id, command: number, ...lacking }
      }
      case 'read_evidence':
        return this.#readEvidence(command)
      case 'read_list':
        return this.#readList(command)
      case 'promote':
        return this.#promote(command)
      case 'roll_back':
        this.workspace.rollBack(command.action_id)
        return { type: 'rolled_back', node_id: command.node_id, command: number, is_restored: true }
      case 'write_log': {
        const digest = this.#case.log === 'unwritable' ? null : digestBytes(`log ${this.#sent}`)
        return { type: 'log_written', phase_id: command.phase_id, command: number, digest }
      }
      case 'write_manifest': {
        const { subphase_id } = command
        const digest = digestBytes(`manifest ${subphase_id} ${this.#sent}`)
        return { type: 'manifest_written', subphase_id, command: number, digest }
      }
      default:
        return command satisfies never
    }
  }

  #readEvidence({ node_id, command, sources }: CommandOf<'read_evidence'>): EventBody {
    const view = this.workspace.viewOf(this.flow, this.state, node_id)
    const readings = sources.map(({ edge_id, path, field }) => {
      return { edge_id, ...evidenceIn(this.workspace.bytes(path, view), field) }
    })
    return { type: 'evidence_read', node_id, command, readings }
  }

  #readList({ node_id, command, path, field, max }: CommandOf<'read_list'>): EventBody {
    const view = this.workspace.viewUnder(this.flow, this.state, node_id)
    const found = listIn(this.workspace.bytes(path, view), field, max)
    return { type: 'list_read', node_id, command, path, ...found }
  }

  #promote({ node_id, manifest, command }: CommandOf<'promote'>): EventBody {
    const to = { type: 'promoted' as const, node_id, command, manifest }
    if (this.#refusedStages.has(manifest))
      return { ...to, action_id: null, why: ['promote.conflict'] }
    const action_id = `act-${node_id}-${command}`
    this.workspace.promote(action_id, { node_id, manifest })
    return { ...to, action_id }
  }

  #begin(command: CommandOf<'run_participant'>): void {
    const node = this.#nodeOf(command.node_id)
    const { participant } = command
    if (this.#lacksInput(command, node)) return
    const script = this.#scripts.next(command.node_id)
    if (participant === null || 'human' in participant) {
      if (script === null) this.#waiting.set(command.command, command)
      else this.#later(command.command, script.seconds ?? 0, () => this.#hear(command, script))
      return
    }
    const end = endOf(script ?? {}, node.document, command.timeout_seconds)
    const live = { node, script: script ?? {}, first: command, end, principal: principalOf(node) }
    this.#start(live, command)
    this.#later(command.command, end.seconds, () => this.#finish(live, command.command, 0))
  }

  /** The time that a question waits is no time of work, so an answer of a person takes none. */
  #hear(command: CommandOf<'run_participant'>, script: ScriptedAttempt): void {
    const { human } = { human: true, ...command.participant }
    const name = typeof human === 'string' ? human : 'tester'
    const end: AttemptEnd = { outcome: 'ended', seconds: 0 }
    const node = this.#nodeOf(command.node_id)
    const principal = script.by ?? personText(name, 'local')
    const live = { node, script, first: command, end, principal }
    this.#start(live, command)
    this.#finish(live, command.command, 0)
  }

  #start({ node, script, first }: TestedAttempt, { node_id, command, review }: typeof first): void {
    const to = { node_id, command }
    this.#send({ type: 'attempt_started', ...to })
    const tools = script.tools ?? (review === null && first.participant?.tools !== 'none' ? 1 : 0)
    for (let count = 0; count < tools; count++)
      this.#send({ type: 'gate_decision', ...to, decision: 'PROMOTE' })
    for (const path of script.reads ?? []) this.#isRefused(node, path, 'read')
  }

  /** Asks for what the plan requires, as the host does; true if something is missing. */
  #lacksInput({ node_id, command, review }: CommandOf<'run_participant'>, node: CompiledNode) {
    if (review !== null) return false
    const filesAt = (place: string) => this.workspace.filesAt(place)
    const missing = missingInput(node.document, filesAt, this.facts)
    if (missing === null) return false
    const to = { node_id, command }
    const answer = { kind: 'action' as const, document: missing, is_of_host: true as const }
    this.#send({ type: 'attempt_started', ...to })
    const said = { raw: SAID_BY_HOST, answer, repairs: [], errors: [] }
    this.#send({ type: 'participant_output', ...to, ...said })
    this.#sendEnd({ outcome: 'ended', seconds: 0 }, to, { principal: PERSON })
    return true
  }

  #askAgain({ node_id, command, ask }: CommandOf<'ask_again'>): void {
    const live = this.#live.get(node_id)
    if (live !== undefined) this.#finish(live, command, ask)
  }

  /** Says what the attempt says, and ends it unless it is asked again. */
  #finish(live: TestedAttempt, command: number, ask: number): void {
    const { node, first } = live
    const to = { node_id: first.node_id, command }
    const end = this.#bounded(live.end)
    if (end.outcome !== 'ended')
      return this.#sendEnd(end, to, { principal: live.principal, tokens: live.script.tokens ?? 0 })
    const text = live.script.outputs?.[ask] ?? this.#textOf(live)
    const reading = this.#read(live, text)
    this.#live.set(first.node_id, live)
    this.#send({ type: 'participant_output', ...to, raw: text === '' ? '-' : text, ...reading })
    const { pending } = elementAt(this.state.nodes, node.index)
    if (pending?.type === 'ask_again' && pending.command !== command) return
    this.#live.delete(first.node_id)
    this.#endWell(live, command, end, reading)
  }

  /** The budget of seconds ends an attempt that would use more than is left. */
  #bounded(end: AttemptEnd): AttemptEnd & { readonly isSpent?: true } {
    const limit = limitsOf(this.flow, this.state).seconds
    const left = limit === undefined ? end.seconds : Math.max(0, limit - this.state.totals.seconds)
    if (end.seconds <= left) return end
    const why = 'the time of the run is used up'
    return { outcome: 'failed', why, seconds: left, isSpent: true }
  }

  #textOf({ first, script }: TestedAttempt): string {
    const { review, node_id, attempt } = first
    return review === null ? actionText(node_id, attempt, script) : reviewText(review, script)
  }

  #read({ first }: TestedAttempt, text: string): ParsedAnswer {
    const { node_id: nodeId, attempt, review } = first
    let ids = 0
    const sources = { nowMs: this.#nowMs, newId: () => testId(this.#sent, ids++) }
    if (review !== null) return readReview(text, review, sources)
    return readAction(text, { folder: this.state.artifacts, nodeId, attempt }, sources)
  }

  #endWell(live: TestedAttempt, command: number, end: AttemptEnd, { answer }: ParsedAnswer): void {
    const { node, script, first } = live
    const { node_id, attempt, stands_on: bases } = first
    const to = { node_id, command }
    const more = { principal: live.principal, tokens: script.tokens ?? 0 }
    if (first.review !== null) return this.#sendEnd(end, to, more)
    const files = this.#changes(live)
    const undeclared = [...files.keys()].filter((path) => !isDeclared(node.document, path))
    if (answer?.kind === 'action' && answer.document.result_type === 'ARTIFACT') {
      const { artifact } = answer.document
      const place = { folder: this.state.artifacts, nodeId: node_id, attempt }
      const path = artifactPath(place, artifact)
      if (path !== null) files.set(path, artifact.content)
    }
    const view = [...this.workspace.staged(bases), files]
    const missing = this.workspace.missing(node, view)
    const codes = [
      ...(script.blocked ?? []),
      ...(undeclared.length > 0 ? ['effect.undeclared'] : []),
    ]
    if (codes.length > 0)
      this.#send({ type: 'gate_decision', ...to, decision: 'BLOCK', codes, about: undeclared })
    const isStaged = codes.length === 0 && files.size > 0
    const manifest = isStaged ? this.workspace.stage(node_id, attempt, files) : null
    if (manifest !== null && script.promotion === 'refused') this.#refusedStages.add(manifest)
    this.#sendEnd(end, to, { ...more, missing, manifest, files })
  }

  #sendEnd(
    { isSpent, ...end }: AttemptEnd & { readonly isSpent?: true },
    to: { readonly node_id: string; readonly command: number },
    more: {
      readonly principal: string
      readonly tokens?: number
      readonly missing?: readonly string[]
      readonly manifest?: string | null
      readonly files?: StagedFiles
    },
  ): void {
    const { principal, tokens = 0, missing = [], manifest = null, files } = more
    const limit = limitsOf(this.flow, this.state).seconds
    this.#send({
      type: 'attempt_ended',
      ...to,
      ...end,
      ...(isSpent === true && limit !== undefined
        ? { ended_by: { budget: 'seconds' as const, used: limit } }
        : {}),
      tokens,
      required_files_exist: missing.length === 0,
      ...(missing.length === 0 ? {} : { missing_files: missing }),
      stage: manifest === null ? null : { manifest, paths: [...(files?.keys() ?? [])] },
      principal,
    })
  }

  /** What the attempt writes and may write; without a word about it, the files that its node requires. */
  #changes({ node, script, first }: TestedAttempt): Map<string, string | null> {
    const files = writtenFiles(node.document, script, first.attempt)
    return new Map(files.filter(([path]) => !this.#isRefused(node, path, 'write')))
  }

  /** Returns whether an access rule keeps the path from the node; only a traced node records it. */
  #isRefused({ document }: CompiledNode, path: string, mode: AccessMode): boolean {
    const { node_id, actor, trace } = document
    if (decideAccess(this.flow.document, actor, path, mode).isAllowed) return false
    this.refused.push({ node: node_id, path, mode })
    if (trace === 'refused') this.#send({ type: 'access_refused', node_id, path, mode })
    return true
  }

  #nodeOf(nodeId: string): CompiledNode {
    const node = this.flow.nodes[this.flow.nodeIndex.get(nodeId) ?? -1]
    invariant(node !== undefined, 'a command is about a node of the flow')
    return node
  }

  /** Takes an entry of `events`; false when the case is to end here. */
  #take(event: FlowTestEvent): boolean {
    if ('stop' in event) return this.#stopHere()
    if ('pass' in event) return this.#pass(event.pass)
    if ('write' in event) this.workspace.write(event.write)
    else if (!this.#tell(event)) this.unheard.push(`${eventWords(event)}: nothing waits for it`)
    return true
  }

  #stopHere(): false {
    for (const event of this.#events)
      this.unheard.push(`${eventWords(event)}: it is behind \`stop\``)
    this.#events = []
    return false
  }

  /** Nothing is at work then, so only timers can come. */
  #pass(seconds: number): true {
    const untilMs = this.#nowMs + seconds * 1000
    while (this.#queue.first() === null && this.#fireTimer(untilMs));
    // What a timer began goes on from there; the rest of the time has passed as well.
    this.#nowMs = Math.max(this.#nowMs, untilMs)
    return true
  }

  #tell(event: Exclude<FlowTestEvent, { stop: true } | { pass: number } | { write: unknown }>) {
    if ('answer' in event) return this.#answer(event)
    const body = worldEvent(event, this.#sent)
    if (body !== null) return this.#send(body)
    if ('budget' in event) {
      const { parallel: _, ...limits } = event.budget
      this.#send({ type: 'budget_set', limits, principal: PERSON })
      for (const node_id of nodesBlockedBy('flow.budget', this.flow, this.state, this.facts))
        this.#send({ type: 'unblocked', node_id, principal: PERSON })
      return true
    }
    return 'resume' in event && this.#resume(event.resume.changed ?? [])
  }

  #answer({ answer, node: node_id, files, by }: Extract<FlowTestEvent, { answer: string }>) {
    if (files !== undefined) this.workspace.write(files)
    const principal = by ?? PERSON
    if (answer === 'unblock') return this.#send({ type: 'unblocked', node_id, principal })
    const asked = this.waiting.find(
      (command) => command.type === 'ask_human' && command.node_id === node_id,
    )
    if (asked === undefined) return false
    this.#waiting.delete(asked.command)
    return this.#send({ type: 'human_answer', node_id, command: asked.command, answer, principal })
  }

  /** The run stops and goes on; manifests of the named sub-phases are not as they were. */
  #resume(changed: readonly string[]): boolean {
    const manifests = manifestsNow(this.state, changed)
    const isPeople = new Set(this.#waiting.keys())
    this.#send({ type: 'resumed', manifests })
    // The commands that came back are those that people had before; they are not begun a second time.
    this.#queue.drop(({ command }) => isPeople.has(command))
    const open = new Set(outstanding(this.state).map(({ command }) => command))
    for (const number of isPeople) if (!open.has(number)) this.#waiting.delete(number)
    return true
  }
}
