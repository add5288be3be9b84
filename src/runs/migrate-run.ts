/**
 * Moves a run that no process walks to another version of its flow, as one fact by a human. The
 * programs of participants are pinned again, as the human saw them. Nothing is carried out: `flow
 * resume` goes on.
 */
import { digestDocument, faultError, showName } from '../base/index.ts'
import {
  type CompiledFlow,
  elementAt,
  type FlowFiles,
  type Migration,
  nodesBlockedBy,
  type ProgramChange,
  planMigration,
} from '../flow/index.ts'
import type { FlowHost } from './flow-host.ts'
import { refuseMissingParts } from './programs/needed-parts.ts'
import { keptText, programChanges } from './programs/program-changes.ts'
import { RunPrograms } from './programs/run-programs.ts'
import { FlowRun } from './run.ts'
import { RunFolder } from './run-folder.ts'
import { loadRun, partsAround } from './runs.ts'
import { refuseUnknownTools } from './tool-check.ts'

interface MigrationOrder {
  readonly flow: CompiledFlow
  readonly principal: string
  readonly comment: string | null
  /** The digest of what the person saw. */
  readonly shown: string
  readonly source: FlowFiles | null
}

export interface RunMigration extends Migration {
  /** Files of participants' programs that would be pinned otherwise than now. */
  readonly programs: readonly ProgramChange[]
  /** Of the run, both versions and the changed programs: what a yes is a yes to. */
  readonly digest: string
}

/** The texts of a changed program; null where it is not there, not kept, or no text. */
export interface ProgramTexts {
  readonly before: string | null
  readonly after: string | null
}

interface ShownMigration {
  readonly migration: RunMigration
  readonly texts: ReadonlyMap<string, ProgramTexts>
}

/** Says what a migration would change, in the flow and in the programs of participants. */
export async function lookAtMigration(
  host: FlowHost,
  runId: string,
  flow: CompiledFlow,
): Promise<ShownMigration> {
  const run = await restored(host, runId)
  const { migration, now } = planFor(host, run, flow)
  const texts = new Map<string, ProgramTexts>()
  for (const { path, before, after } of migration.programs) {
    const text = after === null ? null : now.textNow(path)
    texts.set(path, { before: await keptText(host.ledger, before), after: text })
  }
  return { migration, texts }
}

/** Fails with `flow.taken` while a process walks the run, and with `flow.migration` for an obstacle. */
export async function migrateRun(
  host: FlowHost,
  runId: string,
  { flow, principal, comment, shown, source }: MigrationOrder,
): Promise<void> {
  return new RunFolder(host.home, runId).locked(async () => {
    const run = await restored(host, runId)
    const { workspace } = run.options
    const { migration, now, pinned } = planFor(host, run, flow)
    const [first] = migration.obstacles
    if (first !== undefined) throw obstacleFault(runId, first.part, first.message)
    if (migration.digest !== shown) {
      const message = 'its flow or a program of it was changed since the changes were shown'
      throw obstacleFault(runId, 'run', message)
    }
    const left = flow.nodes.filter(({ nodeId }) => !isDone(run, nodeId))
    refuseMissingParts(flow, left, partsAround(host, workspace))
    await refuseUnknownTools(host, flow, workspace, undefined)
    await now.keep(host.ledger)
    await run.record({
      type: 'migrated',
      from: migration.from,
      to: flow.digest,
      flow: flow.base,
      principal,
      comment,
      ...(source === null ? {} : { source }),
      ...pinned,
      ...(migration.programs.length === 0 ? {} : { changed_programs: migration.programs }),
    })
    // The programs that stopped these nodes are the pinned ones now.
    for (const node_id of nodesBlockedBy('flow.program_changed', run.flow, run.state, run.facts))
      await run.record({ type: 'unblocked', node_id, principal })
  })
}

async function restored(host: FlowHost, runId: string): Promise<FlowRun> {
  const { flow, workspace, ...history } = await loadRun(host.ledger, host.stream, runId)
  const run = new FlowRun({ host, flow, runId, workspace })
  run.restore(history)
  return run
}

function planFor(host: FlowHost, run: FlowRun, flow: CompiledFlow) {
  const { workspace, runId } = run.options
  const { PATH: searchPath = '' } = host.environment
  const now = new RunPrograms(flow.base, workspace, searchPath)
  const pinned = now.pin()
  const plan = planMigration(run.state, flow.base)
  const programs = programChanges(run.programs.pins, now.pins)
  const { from, to } = plan
  const isSame = from === to && programs.length === 0
  const same = { part: 'run', message: 'it walks this version already, with these programs' }
  const obstacles = isSame ? [same, ...plan.obstacles] : plan.obstacles
  const digest = digestDocument({ run_id: runId, from, to, programs })
  const migration: RunMigration = { ...plan, obstacles, programs, digest }
  return { migration, now, pinned }
}

function isDone({ flow, state }: FlowRun, nodeId: string): boolean {
  const index = flow.nodeIndex.get(nodeId)
  return index !== undefined && elementAt(state.nodes, index).status === 'done'
}

function obstacleFault(runId: string, part: string, message: string) {
  const words = `the run ${showName(runId)} cannot be moved: ${part}: ${message}`
  return faultError('flow.migration', part, words, 'the run goes on with the version that it has')
}
