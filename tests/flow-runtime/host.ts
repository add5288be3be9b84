/**
 * A host without a machine: it answers the commands of a run as a script says, keeps every fact, and
 * holds the state against the fold of the facts after each step.
 */
import { expect } from 'vitest'
import {
  checkDocument,
  type Flow,
  type FlowEdge,
  type FlowNode,
  type XiaojingReview,
} from '../../src/contracts/index.ts'
import {
  type CompiledFlow,
  compileFlow,
  elementAt,
  emptyState,
  FLOW_EVALUATOR,
  type FlowCommand,
  type FlowEvent,
  type FlowFact,
  foldFacts,
  type NodeState,
  outstanding,
  type RunOrigin,
  type RunState,
  type RunStatus,
  replayRun,
  runStatus,
  step,
  timersOf,
} from '../../src/flow/index.ts'

export function node(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  const made = { node_id, kind: 'WORK' as const, title: node_id, phase_id: 'P', actor: 'worker' }
  return { ...made, max_attempts: 3, ...more }
}

/** Returns a WORK node with an executor. */
export function work(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  return node(node_id, { executor: { command: ['work', node_id] }, ...more })
}

export function check(node_id: string, target: string, more: Partial<FlowNode> = {}): FlowNode {
  const reviewer = { command: ['review', node_id] }
  return node(node_id, { kind: 'CHECK', target, reviewer, actor: 'validator', ...more })
}

export function edge(source: string, target: string, more: Partial<FlowEdge> = {}): FlowEdge {
  return { edge_id: `${source}>${target}`, source, target, class: 'Progress', ...more }
}

export function compiled(parts: Partial<Flow>): CompiledFlow {
  const document: Flow = {
    type: 'flow_v1',
    flow_id: 'f',
    title: '',
    nodes: [],
    edges: [],
    ...parts,
  }
  const compilation = compileFlow(document)
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

type Body = FlowEvent extends infer E
  ? E extends FlowEvent
    ? Omit<E, 'at' | 'nonce'>
    : never
  : never

/** What an attempt does, where it is not the usual. */
export interface Attempt {
  readonly seconds?: number
  readonly tools?: number
  readonly blocked?: boolean
  /** What the gate blocks, since it was not declared. */
  readonly undeclared?: readonly string[]
  readonly files?: boolean
  readonly outcome?: 'ended' | 'failed' | 'unreachable'
  readonly cause?: 'timeout'
  readonly content?: string
  readonly format?: 'md' | 'json' | 'txt'
  readonly result?: 'ARTIFACT' | 'NEEDS_INPUT' | 'NOOP' | 'ERROR'
  readonly taskId?: string
  readonly message?: string
  /** Ids of claims, or `ID=TEXT`. */
  readonly claims?: readonly string[]
  /** Ids of claims that the answer supports. */
  readonly supports?: readonly string[]
  readonly needs?: string
  readonly principal?: string
  readonly stage?: string | null
  readonly tokens?: number
  /** Of a review. */
  readonly score?: number
  readonly action?: XiaojingReview['action_required']
  readonly reviewId?: string
  readonly digest?: string
  readonly invalid?: number
}

function claimsOf(ids: readonly string[]) {
  return ids.map((claim) => {
    const [claim_id = '', text] = claim.split('=')
    const words = text === undefined ? {} : { text }
    return { claim_id, trust_level: 'external_unverified' as const, ...words }
  })
}

export type Script = (nodeId: string, attempt: number, command: FlowCommand) => Attempt

export class Host {
  /** The flow that the run began with. */
  readonly begun: CompiledFlow
  state: RunState
  readonly facts: FlowFact[] = []
  /** By mapped node: what the host finds when it reads the list. */
  readonly lists = new Map<string, readonly unknown[]>()
  /** Commands that no event has answered yet. */
  readonly open: FlowCommand[] = []
  readonly #script: Script
  #clock = 0

  constructor(parts: Partial<Flow>, script: Script = () => ({})) {
    this.begun = compiled(parts)
    this.state = emptyState(this.begun)
    this.#script = script
  }

  get flow(): CompiledFlow {
    return this.state.flow
  }

  send(body: Body): boolean {
    const at = new Date(Date.UTC(2026, 0, 1) + this.#clock++ * 1000).toISOString()
    // The body is one of the events without what is added here.
    const event = { ...body, at, nonce: `n${this.#clock}` } as FlowEvent
    const { state, commands, facts, isStale } = step(this.state, event)
    this.state = state
    this.facts.push(...facts)
    if (body.type === 'resumed') this.open.length = 0
    for (const command of commands) {
      if (command.type === 'stop') this.#stop(command.stopped)
      else if (command.type !== 'deadline') this.open.push(command)
    }
    return !isStale
  }

  #stop(stopped: number): void {
    const place = this.open.findIndex(({ command }) => command === stopped)
    if (place !== -1) this.open.splice(place, 1)
  }

  /** Lets time pass, and tells the run of every timer that is due. */
  pass(seconds: number): this {
    this.#clock += seconds
    for (const { node_id, command } of timersOf(this.state))
      if (this.send({ type: 'timer', node_id, command }))
        this.open.splice(0, this.open.length, ...this.open.filter((one) => one.command !== command))
    return this
  }

  /** Sends a signal, and forgets the waits that it ends. */
  signal(name: string, data?: unknown): boolean {
    const principal = 'human:ann@local'
    const signal_id = `s${this.#clock}`
    const sent = { type: 'signal' as const, name, signal_id, principal }
    const isTaken = this.send(data === undefined ? sent : { ...sent, data })
    const waits = new Set(timersOf(this.state).map(({ command }) => command))
    const left = this.open.filter(({ type, command }) => type !== 'wait' || waits.has(command))
    this.open.splice(0, this.open.length, ...left)
    return isTaken
  }

  start(): this {
    this.send({ type: 'started', run_id: 'r' })
    return this
  }

  /** By an earlier version of the rules, or with programs that participants name. */
  startWith(more: Partial<RunOrigin>): this {
    const evaluator = FLOW_EVALUATOR
    const origin = { workspace: '/w', participants_digest: null, evaluator, ...more }
    this.send({ type: 'started', run_id: 'r', origin })
    return this
  }

  /** Answers commands until nothing but a human is waited for, or `until` says stop. */
  run(until: (command: FlowCommand) => boolean = () => false): this {
    for (let count = 0; count < 2000; count++) {
      const index = this.open.findIndex(({ type }) => type !== 'ask_human' && type !== 'wait')
      const command = this.open[index]
      if (command === undefined || until(command)) return this
      this.open.splice(index, 1)
      this.answer(command)
    }
    throw new Error('the run does not come to an end')
  }

  /** Answers the commands of one type that are open now. */
  answerAll(type: FlowCommand['type']): this {
    for (const command of this.open.filter((one) => one.type === type)) {
      this.open.splice(this.open.indexOf(command), 1)
      this.answer(command)
    }
    return this
  }

  answer(command: FlowCommand): void {
    switch (command.type) {
      case 'run_participant':
      case 'ask_again':
        return this.#attempt(command)
      case 'pass':
        this.send({ type: 'passed', node_id: command.node_id, command: command.command })
        return
      case 'promote':
        this.send({
          type: 'promoted',
          node_id: command.node_id,
          command: command.command,
          action_id: `act-${command.node_id}-${command.command}`,
          manifest: command.manifest,
        })
        return
      case 'roll_back': {
        const { node_id, command: number } = command
        this.send({ type: 'rolled_back', node_id, command: number, is_restored: true })
        return
      }
      case 'write_log': {
        const { phase_id, command: number } = command
        this.send({ type: 'log_written', phase_id, command: number, digest: 'log' })
        return
      }
      case 'write_manifest': {
        const { subphase_id, command: number } = command
        const digest = `manifest-${subphase_id}`
        this.send({ type: 'manifest_written', subphase_id, command: number, digest })
        return
      }
      case 'read_list': {
        const { node_id, command: number, path } = command
        const list = this.lists.get(node_id.replace(/\/begin$/, '')) ?? null
        const digest = list === null ? null : `sha256:${'1'.repeat(64)}`
        const problem = list === null ? { problem: 'missing' as const, why: 'no file' } : {}
        this.send({
          type: 'list_read',
          node_id,
          command: number,
          path,
          digest,
          items: list,
          ...problem,
        })
        return
      }
      case 'read_evidence':
      case 'ask_human':
      case 'wait':
      case 'deadline':
      case 'stop':
        throw new Error(`nobody answers ${command.type} here`)
      default:
        command satisfies never
    }
  }

  #attempt(command: Extract<FlowCommand, { type: 'run_participant' | 'ask_again' }>): void {
    const { node_id, attempt } = command
    const to = { node_id, command: command.command }
    const plan = this.#script(node_id, attempt, command)
    this.send({ type: 'attempt_started', ...to })
    const tools = plan.tools ?? 1
    for (let count = 0; count < tools; count++)
      this.send({ type: 'gate_decision', ...to, decision: 'PROMOTE' })
    if (plan.blocked === true) this.send({ type: 'gate_decision', ...to, decision: 'BLOCK' })
    if (plan.undeclared !== undefined) {
      const why = { codes: ['effect.undeclared'], about: plan.undeclared }
      this.send({ type: 'gate_decision', ...to, decision: 'BLOCK', ...why })
    }
    const asked = command.type === 'ask_again' ? command.ask : 0
    const isInvalid = (plan.invalid ?? 0) > asked
    const outcome = plan.outcome ?? 'ended'
    if (outcome === 'ended')
      this.send({
        type: 'participant_output',
        ...to,
        raw: 'sha256:raw',
        answer: isInvalid ? null : this.#answerOf(node_id, plan, command),
        repairs: [],
        errors: isInvalid ? ['not JSON'] : [],
      })
    const last = this.open.find((one) => one.type === 'ask_again' && one.node_id === node_id)
    if (last !== undefined) return
    this.send({
      type: 'attempt_ended',
      ...to,
      outcome,
      ...(plan.cause === undefined ? {} : { cause: plan.cause }),
      seconds: plan.seconds ?? 1,
      tokens: plan.tokens ?? 0,
      required_files_exist: plan.files ?? true,
      stage: plan.stage === null || plan.stage === undefined ? null : { manifest: plan.stage },
      principal: plan.principal ?? `by ${node_id}`,
    })
  }

  #answerOf(
    node_id: string,
    plan: Attempt,
    command: Extract<FlowCommand, { type: 'run_participant' | 'ask_again' }>,
  ) {
    const { review } = command
    if (review !== null)
      return {
        kind: 'review' as const,
        document: reviewOf(plan.taskId ?? node_id, plan.score ?? 95, plan.action),
        review_id: plan.reviewId ?? review.review_id,
        artifact_digest: plan.digest ?? review.artifact_digest,
        ...(plan.claims === undefined ? {} : { claims: claimsOf(plan.claims) }),
        ...(plan.supports === undefined ? {} : { evidence: evidenceFor(plan.supports) }),
      }
    return {
      kind: 'action' as const,
      document: actionOf(plan.taskId ?? node_id, plan, command.attempt),
      ...(plan.message === undefined ? {} : { message: plan.message }),
      claims: claimsOf(plan.claims ?? []),
      ...(plan.supports === undefined ? {} : { evidence: evidenceFor(plan.supports) }),
    }
  }

  node(node_id: string): NodeState {
    return elementAt(this.state.nodes, this.flow.nodeIndex.get(node_id) ?? -1)
  }

  get status(): RunStatus {
    return runStatus(this.state)
  }

  /** Codes of findings, with what was done. */
  get findings(): readonly string[] {
    return this.facts.flatMap(({ type, payload }) =>
      type === 'flow_finding_v1' ? [`${payload.code} ${payload.action}`] : [],
    )
  }

  get fired(): readonly string[] {
    return this.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'fired' ? [fact.payload.edge_id] : [],
    )
  }

  get entered(): readonly string[] {
    return this.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'entered'
        ? [fact.payload.node_id]
        : [],
    )
  }

  /** The state is the fold of what JSON keeps of the facts, which keep their contracts. */
  verify(): void {
    const kept = JSON.parse(JSON.stringify(this.facts)) as FlowFact[]
    expect(foldFacts(this.begun, kept)).toEqual(this.state)
    expect(replayRun(this.begun, kept)).toBeNull()
    const people = outstanding(this.state).filter(
      ({ type }) => type === 'ask_human' || type === 'wait',
    ).length
    const machines = outstanding(this.state).length - people
    // The status says whether the run waits for machines or for people.
    const isSound = {
      RUNNING: machines > 0,
      WAITING: machines === 0 && people > 0,
      BLOCKED: machines + people === 0,
      DONE: machines + people === 0,
      FAILED: machines + people === 0,
      CANCELLED: true,
    }
    expect([this.status, isSound[this.status]]).toEqual([this.status, true])
    for (const fact of kept)
      expect([fact, checkDocument(fact, { as: 'record' }).violations]).toEqual([fact, []])
    expect(outstanding(this.state).map(({ command }) => command)).toEqual(
      this.open.map(({ command }) => command).sort((one, other) => one - other),
    )
  }
}

function evidenceFor(claims: readonly string[]) {
  const digest = `sha256:${'e'.repeat(64)}`
  return claims.map((claim_id) => ({
    evidence_id: `for ${claim_id}`,
    claim_id,
    digest,
    supports: true,
  }))
}

function reviewOf(
  task_id: string,
  total_score: number,
  action?: XiaojingReview['action_required'],
): XiaojingReview {
  return {
    schema_version: 'xiaojing_review_v1',
    task_id,
    review_target: 'NODE',
    total_score,
    action_required: action ?? (total_score >= 90 ? 'APPROVE' : 'MODIFY'),
    summary: '',
    breakdown: [],
    suggestions: [{ priority: 'HIGH', change: 'more', steps: ['do it'], acceptance_criteria: 'x' }],
  }
}

function actionOf(task_id: string, plan: Attempt, attempt: number) {
  const head = { schema_version: 'xiaobo_action_v1' as const, task_id }
  switch (plan.result ?? 'ARTIFACT') {
    case 'NEEDS_INPUT':
      return {
        ...head,
        result_type: 'NEEDS_INPUT' as const,
        needs_input: {
          required_docs: [
            {
              name: 'spec',
              description: plan.needs ?? 'what to do',
              accepted_types: ['md'],
              suggested_path: 'in',
            },
          ],
        },
      }
    case 'NOOP':
      return { ...head, result_type: 'NOOP' as const }
    case 'ERROR':
      return { ...head, result_type: 'ERROR' as const, error: { code: 'x', message: 'y' } }
    default: {
      const content = plan.content ?? `version ${attempt}`
      const artifact = { name: 'out', format: plan.format ?? ('md' as const), content }
      return { ...head, result_type: 'ARTIFACT' as const, artifact }
    }
  }
}
