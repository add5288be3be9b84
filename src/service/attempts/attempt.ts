/**
 * One attempt of a participant while it lasts: its process, what it asks for, files of the host, all in
 * one sandbox, and finally one result that is compared with the declaration and judged like any
 * proposal. Its changes stay staged.
 *
 * INVARIANT (recorded before run): the process of a participant, and each of its operations, is a
 *   proposal on the ledger before it starts.
 * INVARIANT (one at a time): operations are admitted and carried out in the order they were asked for.
 */
import { randomUUID } from 'node:crypto'
import { type FaultError, faultError } from '../../base/index.ts'
import {
  type Decision,
  field,
  type Obstacle,
  OPERATION_TYPES,
  type Operation,
  type Proposal,
  type SandboxResult,
} from '../../contracts/index.ts'
import {
  type Change,
  changesSince,
  isBelow,
  manifestDigest,
  type OperationCommand,
  type RawPath,
  rawOfText,
  withEgress,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { RefusedAccess, RunOutcome } from '../../sandbox/index.ts'
import type { Scan } from '../../tree/index.ts'
import { actCommand } from '../acts/act-command.ts'
import { type Admitted, type GateParts, type Recorded, withObstacles } from '../lifecycle/act.ts'
import { admit, recordProposal } from '../lifecycle/admit.ts'
import { judge } from '../lifecycle/lifecycle.ts'
import { obstacleOf } from '../readings/readings.ts'
import type { RehearsedStep } from '../rehearsal/rehearsal.ts'
import type {
  Attempt,
  HeldAttempt,
  OperationAnswer,
  ParticipantCommand,
  ParticipantOutcome,
} from '../surface/attempt-surface.ts'
import { AttemptOutputs } from './attempt-outputs.ts'
import {
  type AttemptTerms,
  attemptDescriptor,
  commandProposal,
  operationsMax,
  operationsProposal,
  undeclaredPaths,
} from './attempt-proposal.ts'
import type { AttemptScene } from './attempt-scene.ts'
import { changedPaths } from './changed-paths.ts'
import { keptFindings } from './data-only.ts'
import { sealedPlaces } from './sealed-paths.ts'
import { leaksIn } from './secret-search.ts'

/** Something that changed the view in its turn, for a participant that has no process. */
interface DoneStep {
  readonly operation: Operation
  readonly outcome: RunOutcome
  readonly changes: readonly Change[]
}

export class OpenAttempt implements Attempt {
  readonly #gate: GateParts
  readonly #scene: AttemptScene
  readonly #outputs: AttemptOutputs
  readonly #done: DoneStep[] = []
  /** The participant's process, admitted; null when it has none. */
  #run: Admitted | null = null
  #outcome: RunOutcome | null = null
  /** Every access that was seen to fail; only grows. */
  readonly #traced: RefusedAccess[] = []
  #isRunning = false
  /** Files that the host put into the view. */
  readonly #byHostPaths: RawPath[] = []
  /** Operations that were asked for, carried out or not. */
  #asked = 0
  #scanned: Scan = { changes: [], findings: [], emptied: [] }
  /** Set when there will be no result: something blocked it first. */
  #refused: Recorded | null = null
  #turn: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(gate: GateParts, scene: AttemptScene) {
    this.#gate = gate
    this.#scene = scene
    this.#outputs = new AttemptOutputs(scene.order.secrets)
  }

  async run(command: ParticipantCommand): Promise<ParticipantOutcome> {
    this.#expectOpen()
    const { order } = this.#scene
    const isFirst = this.#run === null
    if (!isFirst && (this.#isRunning || this.#refused !== null || this.#isSpent()))
      throw over(order.actionId)
    // The first run has the id of the act; each later run is an act of its own.
    const actionId = isFirst ? order.actionId : randomUUID()
    const admitted = await this.#admit(commandProposal(this.#terms(), actionId, command))
    this.#run ??= admitted
    if (admitted.refusal !== null) return this.#refuse(admitted, null)
    await recordProposal(this.#gate, admitted)
    this.#isRunning = true
    const own = new AttemptOutputs(order.secrets)
    try {
      const outcome = await this.#scene.runMain(command, {
        take: (stream, bytes) => {
          own.take(stream, bytes)
          this.#outputs.take(stream, bytes)
        },
      })
      this.#outcome = this.#outcome === null ? outcome : together(this.#outcome, outcome)
      this.#traced.push(...(outcome.refused ?? []))
      return told(outcome, own)
    } catch (error) {
      return this.#refuse(admitted, error)
    } finally {
      this.#isRunning = false
    }
  }

  refusedAccesses(): readonly RefusedAccess[] {
    const { hidden, readOnly } = this.#scene.order
    const places = [...hidden, ...readOnly, ...sealedPlaces(this.#scene.order)]
    const banned = places.map(rawOfText)
    return this.#traced.filter(({ path }) =>
      banned.some((place) => isBelow(rawOfText(path), place)),
    )
  }

  operate(operation: unknown): Promise<OperationAnswer> {
    return this.#inTurn(async () => {
      await this.#scene.enter()
      return this.#operate(operation)
    })
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.#expectOpen()
    return this.#scene.read(path)
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      await this.#scene.write(path, bytes)
      this.#byHostPaths.push(rawOfText(path))
      if (this.#run !== null) return
      const content_base64 = Buffer.from(bytes).toString('base64')
      await this.#step({ type: 'FILE_WRITE', path, content_base64 }, this.#byHost())
    })
  }

  async finish(): Promise<HeldAttempt> {
    await this.#turn.catch(() => undefined)
    this.#expectOpen()
    this.#isOver = true
    try {
      return await this.#judge()
    } finally {
      await this.#scene.close()
    }
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await this.#scene.close()
  }

  #expectOpen(): void {
    if (this.#isOver) throw over(this.#scene.order.actionId)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#expectOpen()
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  #terms(): AttemptTerms {
    const { order, resources, context } = this.#scene
    return { order, resources, createdAt: occurredAtText(context.nowMs()) }
  }

  #admit(document: unknown): Promise<Admitted> {
    return admit(this.#gate, document, this.#scene.terms)
  }

  /** Records a BLOCK for an operation that did not run, or whose effects are unknown. */
  #block(admitted: Admitted, ...obstacles: readonly Obstacle[]): Promise<Recorded> {
    const blocked = withObstacles(admitted, obstacles)
    return judge(this.#gate, { admitted: blocked, rehearsal: null })
  }

  async #refuse(admitted: Admitted, error: unknown): Promise<ParticipantOutcome> {
    this.#refused = await this.#block(admitted, ...(error === null ? [] : [obstacleOf(error)]))
    const nothing = new Uint8Array()
    return {
      refused: this.#refused.decision,
      exitCode: null,
      signal: null,
      killedBy: null,
      aborted: false,
      stdout: nothing,
      stderr: nothing,
      isCut: false,
      left: 0,
      seconds: 0,
    }
  }

  async #operate(operation: unknown): Promise<OperationAnswer> {
    const { resources, order } = this.#scene
    if (this.#refused !== null || this.#isSpent()) return blockedBy(['attempt.over'])
    if (++this.#asked > operationsMax(resources)) return blockedBy(['attempt.operations'])
    const document = { descriptor: this.#descriptorFor(operation), operation }
    const admitted = await this.#admit(document)
    const { proposal, refusal } = admitted
    if (refusal !== null || proposal?.operation === undefined) {
      return refusedBy(await this.#block(admitted))
    }
    const [path] = undeclaredPaths(proposal.operation, order)
    if (path !== undefined) {
      const detail = 'the node does not write there'
      return refusedBy(await this.#block(admitted, { code: 'flow.access_denied', path, detail }))
    }
    try {
      const command = this.#commandOf(proposal)
      if (this.#run !== null) await recordProposal(this.#gate, admitted)
      return await this.#carryOut(proposal.operation, command)
    } catch (error) {
      return refusedBy(await this.#block(admitted, obstacleOf(error)))
    }
  }

  #descriptorFor(operation: unknown) {
    const type = field(operation, 'type')
    // `includes` compares; a value of another type is not found.
    const kind = OPERATION_TYPES.includes(type as string) ? type : 'COMMAND_EXECUTION'
    // One of the types of operations is a kind of action.
    return attemptDescriptor(this.#terms(), randomUUID(), kind as Operation['type'])
  }

  #commandOf({ descriptor, operation }: Proposal): OperationCommand {
    const path = this.#scene.context.environment['PATH'] ?? ''
    // `#operate` has refused a proposal without an operation.
    return actCommand(operation as Operation, { descriptor, path })
  }

  async #carryOut(operation: Operation, command: OperationCommand): Promise<OperationAnswer> {
    const own = new AttemptOutputs({})
    const onOutput = (stream: 'stdout' | 'stderr', bytes: Uint8Array): void => {
      own.take(stream, bytes)
      if (this.#run === null) this.#outputs.take(stream, bytes)
    }
    if (this.#isRunning) {
      const exitCode = await this.#scene.runBeside(command, onOutput)
      return answered(exitCode, own)
    }
    const outcome = await this.#scene.runOperation(command, onOutput)
    this.#traced.push(...(outcome.refused ?? []))
    if (this.#run === null) await this.#step(operation, outcome)
    else if (isEnded(outcome)) this.#outcome = outcome
    return answered(outcome.exitCode, own)
  }

  /** What a participant without a process did in this step, beyond those before it. */
  async #step(operation: Operation, outcome: RunOutcome): Promise<void> {
    const before = this.#scanned.changes
    const startedAtMs = this.#done[0]?.outcome.startedAtMs ?? outcome.startedAtMs
    this.#scanned = await this.#scene.scan(startedAtMs)
    const changes = changesSince(before, this.#scanned.changes)
    this.#done.push({ operation, outcome, changes })
  }

  #byHost(): RunOutcome {
    const nowMs = Date.now()
    const resources = { cpuMs: 0, memoryPeakMb: 0, diskMb: 0, durationMs: 0, processes: 0 }
    return {
      startedAtMs: nowMs,
      endedAtMs: nowMs,
      exitCode: 0,
      signal: null,
      killedBy: null,
      aborted: false,
      resources: { ...resources, enforcedBy: {} },
      backgroundProcesses: 0,
    }
  }

  /** Returns whether a run passed a cap or was stopped: then nothing more runs. */
  #isSpent(): boolean {
    const last = this.#done[this.#done.length - 1]?.outcome
    return [this.#outcome, last].some((outcome) => outcome != null && isEnded(outcome))
  }

  async #judge(): Promise<HeldAttempt> {
    if (this.#refused !== null) return this.#held(this.#refused)
    if (this.#run !== null) return this.#judgeRun(this.#run)
    return this.#done.length === 0 ? this.#nothing() : this.#judgeOperations()
  }

  async #judgeRun(admitted: Admitted): Promise<HeldAttempt> {
    const outcome = this.#outcome
    if (outcome === null || admitted.proposal === null) return this.#nothing()
    try {
      this.#scanned = await this.#scene.scan(outcome.startedAtMs)
    } catch (error) {
      return this.#held(await this.#block(admitted, obstacleOf(error)))
    }
    const { descriptor } = admitted.proposal
    return this.#decide(admitted, [{ descriptor, outcome, changes: this.#scanned.changes }])
  }

  async #judgeOperations(): Promise<HeldAttempt> {
    const document = operationsProposal(
      this.#terms(),
      this.#scene.order.actionId,
      this.#done.map(({ operation }) => operation),
    )
    const admitted = await this.#admit(document)
    if (admitted.refusal !== null) return this.#held(await this.#block(admitted))
    await recordProposal(this.#gate, admitted)
    const parts = document.children ?? [document]
    const steps = this.#done.flatMap(({ outcome, changes }, index) => {
      const descriptor = parts[index]?.descriptor
      return descriptor === undefined ? [] : [{ descriptor, outcome: spoken(outcome), changes }]
    })
    return this.#decide(admitted, steps)
  }

  async #decide(admitted: Admitted, steps: readonly RehearsedStep[]): Promise<HeldAttempt> {
    const { holding, sandboxId, place, order, connections } = this.#scene
    if (admitted.proposal === null) return this.#nothing()
    const { changes, findings, emptied } = this.#scanned
    const leaks = leaksIn(order.secrets, changes, holding.layers)
    if (leaks.length > 0) return this.#refuseLeaks(admitted, leaks)
    const rehearsal = {
      sandboxId,
      sandbox: holding,
      place,
      steps: this.#stopped(steps),
      changes,
      findings,
      emptied,
      told: [...this.#accessFindings(changes), ...keptFindings(order, changes, holding.layers)],
      controls: holding.controls,
      outputs: this.#outputs,
      network: connections,
    }
    return this.#held(await judge(this.#gate, { admitted: this.#withEgress(admitted), rehearsal }))
  }

  /** Records the refusal without any effect: names of files are on the record of those. */
  async #refuseLeaks(admitted: Admitted, leaks: readonly string[]): Promise<HeldAttempt> {
    const code = 'flow.secret_written'
    const detail = 'the file holds a secret of the participant'
    const obstacles = leaks.map((path) => ({ code, path, detail }) as const)
    return { ...this.#held(await this.#block(admitted, ...obstacles)), leaks }
  }

  /** The hosts that the participant's own process lives by count as known. */
  #withEgress(admitted: Admitted): Admitted {
    const { evaluation } = admitted
    const egress = this.#run === null ? [] : this.#scene.order.egress
    const network = withEgress(evaluation.network ?? null, egress)
    return network === null ? admitted : { ...admitted, evaluation: { ...evaluation, network } }
  }

  /** What was stopped while nothing ran is stopped all the same. */
  #stopped(steps: readonly RehearsedStep[]): readonly RehearsedStep[] {
    if (!this.#scene.abort.aborted) return steps
    return steps.map((step) => ({ ...step, outcome: { ...step.outcome, aborted: true } }))
  }

  /** Finds changes below read-only paths: mounts cannot seal a path that did not exist at the start. */
  #accessFindings(changes: readonly Change[]): SandboxResult['findings'] {
    const { readOnly } = this.#scene.order
    const others = changes.filter((change) => !this.#isOfHost(change))
    return readOnly.flatMap((path) => {
      const isChanged = others.some((change) => isBelow(change.path, rawOfText(path)))
      return isChanged ? [{ code: 'flow.access_denied', path, detail: 'must not be written' }] : []
    })
  }

  /** A file of the host, or a directory that was made for one. */
  #isOfHost({ path, before, after }: Change): boolean {
    const isMade = before === null && after?.kind === 'directory'
    return this.#byHostPaths.some((own) => own === path || (isMade && isBelow(own, path)))
  }

  #held({ proposalDigest, decision, result, changes }: Recorded): HeldAttempt {
    const { actionId } = this.#scene.order
    // A diff names its manifest by a digest.
    const manifest = (result?.diff.manifest ?? manifestDigest([])) as HeldAttempt['manifest']
    const paths = changedPaths(changes)
    const refusedAccesses = this.refusedAccesses()
    return { actionId, proposalDigest, decision, result, manifest, paths, refusedAccesses }
  }

  #nothing(): HeldAttempt {
    return {
      actionId: this.#scene.order.actionId,
      proposalDigest: null,
      decision: null,
      result: null,
      manifest: manifestDigest([]),
      paths: [],
      refusedAccesses: this.refusedAccesses(),
    }
  }
}

function over(actionId: string): FaultError {
  return faultError('attempt.over', actionId)
}

function told(
  { exitCode, signal, killedBy, aborted, resources, backgroundProcesses: left }: RunOutcome,
  outputs: AttemptOutputs,
): ParticipantOutcome {
  return {
    refused: null,
    exitCode,
    signal,
    killedBy,
    aborted,
    stdout: outputs.whole('stdout'),
    stderr: outputs.whole('stderr'),
    isCut: outputs.isCut,
    left,
    seconds: resources.durationMs / 1_000,
  }
}

/** Two runs in one sandbox as one: it ended as the later one did, and used what both used. */
function together(first: RunOutcome, second: RunOutcome): RunOutcome {
  const [one, other] = [first.resources, second.resources]
  return {
    ...second,
    startedAtMs: first.startedAtMs,
    resources: {
      ...other,
      cpuMs: one.cpuMs + other.cpuMs,
      durationMs: one.durationMs + other.durationMs,
      memoryPeakMb: Math.max(one.memoryPeakMb, other.memoryPeakMb),
      diskMb: Math.max(one.diskMb, other.diskMb),
      processes: Math.max(one.processes, other.processes),
    },
    refused: [...(first.refused ?? []), ...(second.refused ?? [])],
  }
}

function isEnded({ killedBy, aborted }: RunOutcome): boolean {
  return killedBy !== null || aborted
}

/** Clears the exit of an operation: the participant has received it and continued. */
function spoken(outcome: RunOutcome): RunOutcome {
  return isEnded(outcome) ? outcome : { ...outcome, exitCode: 0, signal: null }
}

function blockedBy(codes: readonly string[]): OperationAnswer {
  return { decision: 'BLOCK', codes, result: null }
}

function refusedBy({ decision }: { readonly decision: Decision }): OperationAnswer {
  return blockedBy(decision.codes)
}

function answered(exitCode: number | null, outputs: AttemptOutputs): OperationAnswer {
  const { stdout, stderr, truncated } = outputs.document()
  return {
    decision: 'PROMOTE',
    codes: ['promote.ok'],
    result: { exit_code: exitCode, stdout, stderr, truncated },
  }
}
