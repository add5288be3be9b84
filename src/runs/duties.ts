/**
 * How each command of a run is carried out. What is carried out twice after a crash does no harm: a
 * participant runs again as the same attempt, a promotion and a rollback answer as they did before,
 * files are written again whole.
 */
import { FaultError, faultCode } from '../base/index.ts'
import {
  evidenceIn,
  type FlowCommand,
  type FoundEvidence,
  plainName,
  stopsOf,
} from '../flow/index.ts'
import { codeOf } from '../machine/index.ts'
import type { GateAnswer } from '../service/index.ts'
import { readList, UNREADABLE } from './files/list-file.ts'
import type { Order } from './orders.ts'
import { Participation } from './participation.ts'
import type { FlowRun } from './run.ts'
import { instructions, makeArtifacts, writeLog, writeManifest } from './run-files.ts'

type CommandOf<T extends FlowCommand['type']> = Extract<FlowCommand, { type: T }>

/** Failures of writing that block a phase instead of ending the run. */
const UNWRITABLE: ReadonlySet<string> = new Set(['cli.file_unwritable', 'flow.log_foreign'])

export class Duties {
  readonly #run: FlowRun
  readonly #participation: Participation
  #acts: Promise<void> = Promise.resolve()
  #logged: Promise<unknown> = Promise.resolve()

  constructor(run: FlowRun) {
    this.#run = run
    this.#participation = new Participation(run)
  }

  async perform(command: FlowCommand, signal: AbortSignal): Promise<void> {
    switch (command.type) {
      case 'run_participant':
        if (command.review === null) this.#makeArtifacts()
        return this.#participation.begin(command, signal)
      case 'ask_again':
        return this.#participation.askAgain(command, signal)
      case 'pass':
        return this.#pass(command)
      case 'read_evidence':
        return this.#readEvidence(command)
      case 'read_list':
        return this.#readList(command)
      case 'ask_human':
        return this.#askHuman(command)
      case 'promote':
        return this.#inTurn(() => this.#promote(command))
      case 'roll_back':
        return this.#inTurn(() => this.#rollBack(command))
      case 'write_log':
        return this.#writeLog(command)
      case 'write_manifest':
        return this.#writeManifest(command)
      // The walker looks at the clock.
      case 'wait':
      case 'deadline':
      case 'stop':
        return
      default:
        return command satisfies never
    }
  }

  /** The tree is changed by one act after another, in the order of the commands. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#acts.then(act)
    this.#acts = done.catch(() => {})
    return done
  }

  #makeArtifacts(): void {
    const { options, state } = this.#run
    makeArtifacts(options.workspace, state.artifacts)
  }

  hearPerson(order: Extract<Order, { kind: 'document' }>): Promise<void> {
    return this.#participation.hearPerson(order)
  }

  /** A node that no participant runs is passed, with the required files that are not there. */
  async #pass({ node_id, command }: CommandOf<'pass'>): Promise<void> {
    const { flow } = this.#run
    const node = flow.nodes[flow.nodeIndex.get(node_id) ?? -1]
    const view = this.#run.viewUnder(node_id)
    const missing: string[] = []
    for (const file of node?.document.required_files ?? [])
      if ((await this.#run.seenFile(file, view)) === null) missing.push(file)
    const lacking = missing.length === 0 ? {} : { missing_files: missing }
    return this.#run.send({ type: 'passed', node_id, command, ...lacking })
  }

  async #readEvidence({ node_id, command, sources }: CommandOf<'read_evidence'>): Promise<void> {
    const { flow, state, stages } = this.#run
    const view = stages.viewOf(flow, state, node_id)
    const readings = await Promise.all(
      sources.map(async ({ edge_id, path, field }) => {
        const found = await orUnreadable(async () =>
          evidenceIn(await this.#run.readFile(path, view), field),
        )
        return { edge_id, ...found }
      }),
    )
    return this.#run.send({ type: 'evidence_read', node_id, command, readings })
  }

  async #readList({ node_id, command, path, field, max }: CommandOf<'read_list'>): Promise<void> {
    const view = this.#run.viewUnder(node_id)
    const found = await readList(() => this.#run.readFile(path, view), field, max)
    return this.#run.send({ type: 'list_read', node_id, command, path, ...found })
  }

  /** Writes the question to a file for people, and leaves the command waiting for an answer. */
  async #askHuman(command: CommandOf<'ask_human'>): Promise<void> {
    const { folder, flow, facts, state } = this.#run
    const stops = stopsOf({ flow, facts, state, waiting: [command] })
    const asked = stops.filter(({ node_id }) => node_id === command.node_id)
    const text = instructions(asked, command.needs)
    folder.show(`waiting-${plainName(command.node_id)}.md`, text)
    this.#run.leaveToPerson(command)
  }

  async #promote(command: CommandOf<'promote'>): Promise<void> {
    const { flow, options } = this.#run
    const { host } = options
    const { node_id, manifest, command: number } = command
    const stage = this.#run.stages.find({ node_id, manifest })
    const answer =
      stage === null ? null : await host.attempts.promoteHeld(stage.actionId, host.confirm)
    if (answer?.pending !== undefined) {
      this.#run.leaveToPerson(command)
      return
    }
    const isPromoted = answer?.promoted === true
    const action_id = isPromoted ? answer.action_id : null
    const why = isPromoted ? undefined : (answer?.decision.codes ?? ['stage.missing'])
    await this.#run.send({
      type: 'promoted',
      node_id,
      command: number,
      action_id,
      manifest,
      ...(why === undefined ? {} : { why, about: obstaclePaths(answer) }),
    })
    if (isPromoted && flow.nodeIndex.has(node_id)) this.#run.folder.forgetBegun(answer.action_id)
  }

  async #rollBack({ node_id, action_id, command }: CommandOf<'roll_back'>): Promise<void> {
    const why = await this.#restore(action_id)
    const told = why === null ? { is_restored: true } : { is_restored: false, why }
    return this.#run.send({ type: 'rolled_back', node_id, command, ...told })
  }

  /** Returns what was in the way; null when everything is as it was before the act. */
  async #restore(actionId: string): Promise<string | null> {
    const { host, runId } = this.#run.options
    try {
      const { verified } = await host.rollback(actionId, runId)
      return verified ? null : 'not all that was restored is as it was before'
    } catch (error) {
      const code = faultCode(error)
      // It was rolled back before, or had changed nothing: there is nothing to restore.
      if (code === 'rollback.nothing') return null
      const isRefused = code?.startsWith('rollback.') || code === 'promote.conflict'
      if (isRefused && error instanceof FaultError) return error.fault.message
      throw error
    }
  }

  async #writeLog({ phase_id, command }: CommandOf<'write_log'>): Promise<void> {
    const { options, folder } = this.#run
    const { workspace, host, runId } = options
    const place = { home: host.home, workspace, folder }
    // Two phases may end at once, and a run has one log.
    const written = this.#logged.then(() =>
      orNull(() => writeLog(this.#run.logText(), runId, place)),
    )
    this.#logged = written.catch(() => null)
    return this.#run.send({ type: 'log_written', phase_id, command, digest: await written })
  }

  async #writeManifest({ subphase_id, command }: CommandOf<'write_manifest'>): Promise<void> {
    const { flow, state, folder, stages } = this.#run
    const span = flow.subphases[flow.subphaseIndex.get(subphase_id) ?? -1]
    const changed = (span?.nodes ?? []).flatMap((index) => stages.changedBy(flow, state, index))
    const digest = await orNull(() =>
      writeManifest(
        flow,
        state,
        subphase_id,
        changed,
        (path) => this.#run.latestFile(path),
        folder,
      ),
    )
    return this.#run.send({ type: 'manifest_written', subphase_id, command, digest })
  }
}

/** A file of evidence that cannot be opened, or is too large, closes its gate like a missing one. */
async function orUnreadable(read: () => Promise<FoundEvidence>): Promise<FoundEvidence> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof FaultError && error.fault.code === 'flow.artifact_changed')
      return { digest: null, value: null, problem: 'changed', why: error.fault.message }
    if (!UNREADABLE.has(faultCode(error) ?? codeOf(error))) throw error
    return { digest: null, value: null, problem: 'unreadable' }
  }
}

/** What was in the way of a promotion: paths, or words where there are none. */
function obstaclePaths(answer: GateAnswer | null): readonly string[] {
  const found = answer?.obstacles ?? []
  return [...new Set(found.flatMap(({ path, detail }) => path ?? detail ?? []))].slice(0, PATHS_MAX)
}

const PATHS_MAX = 10

async function orNull<T>(write: () => T | Promise<T>): Promise<T | null> {
  try {
    return await write()
  } catch (error) {
    if (UNWRITABLE.has(faultCode(error) ?? '')) return null
    throw error
  }
}
