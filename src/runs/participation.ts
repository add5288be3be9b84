/**
 * Participants at work (F-12b): opens an attempt, asks the participant, reads and records the answer, and
 * ends the attempt with the changes in its stage.
 *
 * INVARIANT (staged): what an executor changed stays in its stage until it is promoted; what a
 * reviewer changed is thrown away.
 * INVARIANT (never a secret): the secrets of a participant are removed from everything that it says
 * before that is read.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { invariant } from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import {
  artifactPath,
  type CompiledNode,
  type FlowCommand,
  type HostFinding,
  missingInput,
  type ParsedAnswer,
  plainName,
  principalOf,
  readAction,
  readReview,
  SAID_BY_HOST,
} from '../flow/index.ts'
import type { Attempt, OperationAnswer } from '../service/index.ts'
import {
  attemptOrder,
  blockOf,
  leftText,
  operationWords,
  outOf,
  runMark,
  secondsFor,
  secondsLeft,
  secretsFor,
  stageOf,
  withTimeout,
} from './attempt-order.ts'
import { artifactObstacle } from './files/artifact-obstacle.ts'
import { changedFinding } from './files/recorded-artifacts.ts'
import { refuseHalted, untilHalted } from './flow-host.ts'
import { NodeAttempt } from './live-attempt.ts'
import type { Order } from './orders.ts'
import type { Said } from './participant/participant-request.ts'
import { participate } from './participant/participate.ts'
import { documentWithoutSecrets, withoutSecrets } from './participant/secrets.ts'
import { type Again, participantInput, type RunCommand } from './participant-input.ts'
import { answerTemplate, askedPerson } from './person-answer.ts'
import { changedPrograms, foundAt } from './programs/host-findings.ts'
import { commandOf } from './programs/participant-command.ts'
import { ReviewWatch } from './review-watch.ts'
import type { FlowRun } from './run.ts'
import { filesAt, isFolder, ownPath } from './run-files.ts'
import { filesUnder, judgedFiles } from './stages.ts'

type AskAgain = Extract<FlowCommand, { type: 'ask_again' }>

/** A participant that has not answered by then is not waited for. */
const SECONDS_MAX = 3_600
const ARTIFACT_CHANGED = 'an artifact that it would be given is not as its node handed it in'
const PROGRAM_CHANGED = 'a program of the run is not as it was when the run began'
const NOTHING_SAID = '(nothing was said)'

/** The command that an event answers. */
interface Addressed {
  readonly node_id: string
  readonly command: number
}

export class Participation {
  readonly #run: FlowRun
  /** By node: attempts that wait to be asked again. */
  readonly #live = new Map<string, NodeAttempt>()
  readonly #watch: ReviewWatch
  /** By node: the person who answered there. */
  readonly #persons = new Map<string, string>()

  constructor(run: FlowRun) {
    this.#run = run
    this.#watch = new ReviewWatch(run)
  }

  async begin(command: RunCommand, signal: AbortSignal): Promise<void> {
    const { participant } = command
    await this.#delay(command, signal)
    if (signal.aborted) return
    await this.#dropOlder(command.node_id)
    if (await this.#lacksInput(command)) return
    if (participant === null || 'human' in participant) return this.#waitForPerson(command, null)
    if (await this.#isProgramChanged(command, participant)) return
    const live = await this.#newAttempt(command, signal)
    if (live !== null) await this.#ask(command, participant, live, null, signal)
  }

  /** Stops the node if a program of the run is not as it was pinned; nothing runs then. */
  async #isProgramChanged(command: RunCommand, participant: Participant): Promise<boolean> {
    const changed = commandOf(participant) === null ? [] : this.#run.programs.changed()
    if (changed.length === 0) return false
    await this.#run.send({ type: 'attempt_started', ...addressOf(command) })
    await this.#stop(command, PROGRAM_CHANGED, changedPrograms(changed))
    return true
  }

  /** Ends an attempt in which nothing ran, for what the host found. */
  #stop(command: RunCommand, why: string, found: readonly HostFinding[]): Promise<void> {
    return this.#run.send({
      type: 'attempt_ended',
      ...addressOf(command),
      outcome: 'failed',
      why,
      seconds: 0,
      tokens: 0,
      required_files_exist: false,
      stage: null,
      found,
      principal: principalOf(this.#nodeOf(command.node_id)),
    })
  }

  /**
   * It goes on in the same attempt while this process lives: a program that is asked again for an
   * answer finds its files as it left them. After a crash it begins from nothing.
   */
  async askAgain(command: AskAgain, signal: AbortSignal): Promise<void> {
    const known = this.#live.get(command.node_id)
    this.#live.delete(command.node_id)
    const first = known?.command ?? this.#runCommandOf(command.node_id)
    const { participant } = first
    const again = { ask: command.ask, errors: command.errors }
    // The pins are those that were handed out last; they do not change while it is asked again.
    const asked: RunCommand = { ...first, command: command.command, review: command.review }
    if (participant === null || 'human' in participant) return this.#waitForPerson(asked, again)
    const live = known ?? (await this.#newAttempt(asked, signal))
    if (live !== null) await this.#ask(asked, participant, live, again, signal)
  }

  #runCommandOf(nodeId: string): RunCommand {
    const fact = this.#run.facts.findLast(
      ({ type, payload }) =>
        type === 'flow_event_v1' &&
        payload.kind === 'commanded' &&
        payload.command.type === 'run_participant' &&
        payload.command.node_id === nodeId,
    )
    const command =
      fact?.type === 'flow_event_v1' && fact.payload.kind === 'commanded'
        ? fact.payload.command
        : null
    invariant(
      command?.type === 'run_participant',
      'a participant that is asked again was asked before',
    )
    return command
  }

  /** After a failure of the line; what of the wait has passed is not waited again. */
  async #delay(
    { delay_seconds: seconds, command }: RunCommand,
    signal: AbortSignal,
  ): Promise<void> {
    if (seconds <= 0) return
    const since = this.#run.facts.find(({ payload }) => payload.seq === command)?.payload.at
    const { clock } = this.#run.options.host
    const passedMs = since === undefined ? 0 : Math.max(0, clock.nowMs() - Date.parse(since))
    await pause(Math.max(0, seconds * 1000 - passedMs), undefined, { signal }).catch(() => {})
  }

  /** Stages that this node left before are no more. */
  async #dropOlder(nodeId: string): Promise<void> {
    const { host } = this.#run.options
    const { flow, stages, state, folder } = this.#run
    const older = stages.ofNode(nodeId)
    if (older.length === 0) return
    const [begun, present] = [folder.begun(), stages.present(flow, state)]
    for (const actionId of older) {
      if (present.has(actionId) || !begun.includes(actionId)) continue
      await host.attempts.dropHeld(actionId)
      folder.forgetBegun(actionId)
    }
  }

  /** Asks for what the plan requires. Returns true if something is missing: no participant runs then. */
  async #lacksInput(command: RunCommand): Promise<boolean> {
    if (command.review !== null) return false
    const { workspace, host } = this.#run.options
    const { document } = this.#nodeOf(command.node_id)
    const missing = missingInput(
      document,
      (place) => filesAt(`${workspace}/${place}`),
      this.#run.facts,
    )
    if (missing === null) return false
    const to = addressOf(command)
    const answer = { kind: 'action' as const, document: missing, is_of_host: true as const }
    const said = { raw: SAID_BY_HOST, answer, repairs: [], errors: [] }
    await this.#run.send({ type: 'attempt_started', ...to })
    await this.#run.send({ type: 'participant_output', ...to, ...said })
    const { kind, id, namespace } = host.principal
    await this.#run.send({
      type: 'attempt_ended',
      ...to,
      outcome: 'ended',
      seconds: 0,
      tokens: 0,
      required_files_exist: false,
      stage: null,
      principal: `${kind}:${id}@${namespace}`,
    })
    return true
  }

  /** Waits for a place, which no budget counts; null if the attempt is stopped before. */
  async #newAttempt(command: RunCommand, signal: AbortSignal): Promise<NodeAttempt | null> {
    const release = await this.#run.slots.take(signal)
    if (release === null) return null
    const { clock } = this.#run.options.host
    const open = (stopped: AbortSignal) => this.#open(command, stopped)
    return new NodeAttempt(command, clock.elapsedMs(), open, release)
  }

  async #open(command: RunCommand, stopped: AbortSignal): Promise<Attempt> {
    const node = this.#nodeOf(command.node_id)
    const { runId, host } = this.#run.options
    const run = runMark(runId, node, command, this.#persons.get(command.node_id))
    const order = { ...attemptOrder(this.#run, node, command, stopped), run }
    await this.#run.folder.noteBegun(order.actionId)
    return host.attempts.begin(order)
  }

  async #ask(
    command: RunCommand,
    participant: Participant,
    live: NodeAttempt,
    again: Again | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { options } = this.#run
    const to = addressOf(command)
    const secrets = secretsFor(this.#run, participant)
    const counted = this.#run.meter.begin(live)
    const ending = AbortSignal.any([signal, counted.signal])
    live.obey(ending)
    if (again === null || live.command === command)
      await this.#run.send({ type: 'attempt_started', ...to, ...judgedFiles(this.#run, command) })
    const isRemote = !('command' in participant)
    const { document: input, missing, changed } = await this.#inputOf(command, again, isRemote)
    const others = await this.#watch.before(command, participant, again !== null)
    const stopped: readonly HostFinding[] = changed === null ? changedPrograms(others) : [changed]
    if (stopped.length > 0) {
      counted.end()
      await live.abandon()
      return this.#stop(command, changed === null ? PROGRAM_CHANGED : ARTIFACT_CHANGED, stopped)
    }
    if (missing !== null) {
      counted.end()
      const lacking: Said = { outcome: 'failed', text: '', tokens: 0, why: missing }
      return this.#end(command, lacking, live, null)
    }
    const asking = {
      participant,
      input,
      kind: command.review === null ? ('action' as const) : ('review' as const),
      workspace: options.workspace,
      attempt: () => live.open(),
      refuseHalted: () => refuseHalted(options.host),
      operate: async (operation: unknown) =>
        this.#operate(to, await live.open(), documentWithoutSecrets(operation, secrets)),
      secrets,
      seconds: Math.min(SECONDS_MAX, secondsFor(command, secondsLeft(this.#run)) ?? SECONDS_MAX),
      tokensLeft: () => this.#run.meter.tokensLeft(),
      onTokens: (count: number) => {
        live.tokensUnderWay += count
      },
    }
    const answered = await untilHalted(options.host, ending, (until) =>
      participate({ ...asking, signal: until }),
    ).finally(() => {
      live.endedBy = counted.end()
    })
    live.tokens += answered.tokens
    live.tokensUnderWay = 0
    if (signal.aborted) return live.abandon()
    const seconds = (options.host.clock.elapsedMs() - live.startedMs) / 1000
    const said = counted.signal.aborted
      ? outOf('time', answered)
      : withTimeout(command, seconds, answered)
    // A halt that ended it is no failure of the participant: it runs again as the same attempt.
    if (said.outcome !== 'ended') await refuseHalted(options.host)
    for (const { path, mode } of await live.refused())
      await this.#run.send({ type: 'access_refused', node_id: to.node_id, path, mode })
    const text = withoutSecrets(said.text, secrets)
    const why = withoutSecrets(said.why ?? '', secrets)
    await this.#hear(command, { ...said, text, why }, live)
  }

  /**
   * What the participant is given, with what it judges where it judges something; `changed` is an artifact
   * that it would be given and that is not as its node handed it in.
   */
  async #inputOf(command: RunCommand, again: Again | null, isRemote: boolean) {
    const { flow, state, stages } = this.#run
    const node = this.#nodeOf(command.node_id)
    const judged = stages.judgedBy(flow, state, command.review)
    const view = stages.bases(command.stands_on)
    const files = { ...filesUnder(this.#run, view), judged }
    try {
      const input = await participantInput({ flow, state, node, command, isRemote, files }, again)
      return { ...input, changed: null }
    } catch (error) {
      const changed = changedFinding(error)
      if (changed === null) throw error
      return { document: {}, missing: null, changed }
    }
  }

  async #operate(to: Addressed, attempt: Attempt, operation: unknown): Promise<OperationAnswer> {
    const answer = await attempt.operate(operation)
    const { decision, codes } = answer
    const more = decision === 'BLOCK' ? { codes, about: [operationWords(operation)] } : {}
    await this.#run.send({ type: 'gate_decision', ...to, decision, ...more })
    return answer
  }

  /** Records what was said, and ends the attempt unless the participant is asked again. */
  async #hear(command: RunCommand, said: Said, live: NodeAttempt): Promise<void> {
    const { node_id } = command
    if (said.outcome !== 'ended') return this.#end(command, said, live, null)
    const reading = this.#read(command, said)
    this.#live.set(node_id, live)
    await this.#run.send({
      type: 'participant_output',
      node_id,
      command: command.command,
      raw: said.text === '' ? NOTHING_SAID : said.text,
      ...reading,
    })
    const pending = this.#run.pendingOf(node_id)
    // Asked again: that command goes on with the attempt.
    if (pending?.type === 'ask_again' && pending.command !== command.command) return
    this.#live.delete(node_id)
    await this.#end(command, said, live, reading)
  }

  #read({ review, node_id: nodeId, attempt }: RunCommand, { text, left = 0, invalid }: Said) {
    if (invalid !== undefined) return { answer: null, repairs: [], errors: [invalid] }
    const place = { folder: this.#run.state.artifacts, nodeId, attempt }
    const sources = { nowMs: this.#run.options.host.clock.nowMs(), newId: randomUUID }
    if (review === null) return this.#run.programs.named(readAction(text, place, sources), place)
    if (left > 0) return { answer: null, repairs: [], errors: [leftText(left)] }
    return readReview(text, review, sources)
  }

  async #end(
    command: RunCommand,
    said: Said,
    live: NodeAttempt,
    reading: ParsedAnswer | null,
  ): Promise<void> {
    try {
      await this.#endWith(command, said, live, reading)
    } finally {
      live.release()
    }
  }

  async #endWith(
    command: RunCommand,
    said: Said,
    live: NodeAttempt,
    reading: ParsedAnswer | null,
  ): Promise<void> {
    const { host } = this.#run.options
    const { node_id } = command
    const seconds = (host.clock.elapsedMs() - live.startedMs) / 1000
    const isWork = command.review === null
    const answer = reading?.answer ?? null
    const meanwhile = isWork ? [] : changedPrograms(await this.#watch.meanwhile(command))
    const inPlace =
      isWork && answer?.kind === 'action' ? await this.#keepArtifact(command, live, answer) : null
    const obstacle = meanwhile.length > 0 ? PROGRAM_CHANGED : inPlace
    const {
      outcome,
      cause,
      why = '',
    } = obstacle === null ? said : { ...said, outcome: 'failed' as const, why: obstacle }
    const missing_files = isWork ? await this.#missingFiles(node_id, live) : []
    const held = isWork && outcome === 'ended' ? await live.finish() : null
    if (held === null) await live.abandon()
    const to = { node_id, command: command.command }
    const isBlocked = held?.decision?.decision === 'BLOCK'
    if (isBlocked) await this.#run.send({ type: 'gate_decision', ...to, ...blockOf(held) })
    await this.#run.send({
      type: 'attempt_ended',
      ...to,
      outcome,
      ...(cause === undefined ? {} : { cause }),
      ...(why === '' ? {} : { why }),
      ...(outcome === 'ended' || live.endedBy === null ? {} : { ended_by: live.endedBy }),
      seconds,
      tokens: live.tokens,
      required_files_exist: missing_files.length === 0,
      ...(missing_files.length === 0 ? {} : { missing_files }),
      stage: held === null || isBlocked ? null : stageOf(held, this.#run.options.workspace),
      ...(meanwhile.length > 0
        ? { found: meanwhile }
        : foundAt(held, this.#run.options.workspace, this.#run.programs.openReviewer)),
      principal: this.#persons.get(node_id) ?? principalOf(this.#nodeOf(node_id)),
    })
  }

  /** Returns why an artifact cannot be put in its place: something that the participant left is there. */
  async #keepArtifact(
    { node_id, attempt }: RunCommand,
    live: NodeAttempt,
    { document }: Extract<NonNullable<ParsedAnswer['answer']>, { kind: 'action' }>,
  ): Promise<string | null> {
    if (document.result_type !== 'ARTIFACT' || document.task_id !== node_id) return null
    const { artifacts: folder } = this.#run.state
    const path = artifactPath({ folder, nodeId: node_id, attempt }, document.artifact)
    if (path === null) return null
    const bytes = new TextEncoder().encode(document.artifact.content)
    const open = await live.open()
    try {
      await open.write(this.#absolute(path), bytes)
      return null
    } catch (error) {
      return artifactObstacle(error, path, isFolder(this.#absolute(folder)))
    }
  }

  async #missingFiles(nodeId: string, live: NodeAttempt): Promise<readonly string[]> {
    const { host } = this.#run.options
    const attempt = await live.opened()
    const missing: string[] = []
    for (const file of this.#nodeOf(nodeId).document.required_files ?? []) {
      const path = this.#absolute(ownPath(file, this.#run.state.artifacts))
      const bases = this.#run.stages.bases(live.command.stands_on)
      const bytes =
        attempt === null ? await host.attempts.readStaged(bases, path) : await attempt.read(path)
      if (bytes === null) missing.push(file)
    }
    return missing
  }

  /** Shows the task to a person, who answers with `writ flow answer`. */
  async #waitForPerson(command: RunCommand, again: Again | null): Promise<void> {
    const { folder, options } = this.#run
    const { document: input, changed } = await this.#inputOf(command, again, true)
    if (changed !== null) {
      await this.#run.send({ type: 'attempt_started', ...addressOf(command) })
      return this.#stop(command, ARTIFACT_CHANGED, [changed])
    }
    const answer = { asked: askedPerson(command), ...answerTemplate(command, options.runId) }
    const text = `${JSON.stringify({ ...Object(input), answer }, null, 2)}\n`
    folder.show(`waiting-${plainName(command.node_id)}.json`, text)
    this.#run.leaveToPerson(command)
  }

  /**
   * Takes the answer of a person as one operation of theirs, since there is no other channel for it. The
   * time that the question waited is no time of work.
   */
  async hearPerson({ node_id, command, text, principal }: Extract<Order, { kind: 'document' }>) {
    const pending = this.#run.pendingOf(node_id)
    if (pending?.command !== command) return
    const first = this.#runCommandOf(node_id)
    const review = pending.type === 'ask_again' ? pending.review : first.review
    const asked: RunCommand = { ...first, command, review }
    const { host } = this.#run.options
    const startedMs = host.clock.elapsedMs()
    const live = new NodeAttempt(asked, startedMs, (stopped) => this.#open(asked, stopped))
    const judged = judgedFiles(this.#run, asked)
    await this.#run.send({ type: 'attempt_started', node_id, command, ...judged })
    if (review === null)
      await this.#run.send({ type: 'gate_decision', node_id, command, decision: 'PROMOTE' })
    this.#persons.set(node_id, principal)
    this.#run.folder.hide(`waiting-${plainName(node_id)}.json`)
    await this.#hear(asked, { outcome: 'ended', text, tokens: 0 }, live)
  }

  #nodeOf(nodeId: string): CompiledNode {
    const { flow } = this.#run
    const node = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]
    invariant(node !== undefined, 'a command is about a node of the flow')
    return node
  }

  #absolute(path: string): string {
    return `${this.#run.options.workspace}/${path}`
  }
}

function addressOf({ node_id, command }: RunCommand): Addressed {
  return { node_id, command }
}
