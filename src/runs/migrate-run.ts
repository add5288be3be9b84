/**
 * Moves a run that no process walks to another version of its flow, as one fact by a human. The
 * programs of participants are pinned again. Nothing is carried out: `flow resume` goes on.
 */
import { faultError, showName } from '../base/index.ts'
import {
  type CompiledFlow,
  elementAt,
  type FlowFact,
  type FlowFiles,
  type Migration,
  planMigration,
} from '../flow/index.ts'
import type { FlowHost } from './flow-host.ts'
import { refuseMissingParts } from './programs/needed-parts.ts'
import { RunPrograms } from './programs/run-programs.ts'
import { FlowRun } from './run.ts'
import { RunFolder } from './run-folder.ts'
import { loadRun, partsAround } from './runs.ts'
import { refuseUnknownTools } from './tool-check.ts'

interface MigrationOrder {
  readonly flow: CompiledFlow
  readonly principal: string
  readonly comment: string | null
  /** The version that the person saw the changes against. */
  readonly from: string
  readonly source: FlowFiles | null
}

/** Fails with `flow.taken` while a process walks the run, and with `flow.migration` for an obstacle. */
export async function migrateRun(
  host: FlowHost,
  runId: string,
  { flow, principal, comment, from, source }: MigrationOrder,
): Promise<Migration> {
  return new RunFolder(host.home, runId).locked(async () => {
    const { flow: begun, workspace, ...history } = await loadRun(host.ledger, host.stream, runId)
    const run = new FlowRun({ host, flow: begun, runId, workspace })
    run.restore(history)
    const migration = planMigration(run.state, flow.base)
    const [first] = migration.obstacles
    if (first !== undefined) throw obstacleFault(runId, first.part, first.message)
    if (migration.from !== from)
      throw obstacleFault(runId, 'run', 'its flow was changed since the changes were shown')
    const left = flow.nodes.filter(({ nodeId }) => !isDone(run, nodeId))
    refuseMissingParts(flow, left, partsAround(host, workspace))
    await refuseUnknownTools(host, flow, workspace, undefined)
    const { PATH: searchPath = '' } = host.environment
    const pinned = new RunPrograms(flow.base, workspace, searchPath).pin()
    await run.record({
      type: 'migrated',
      from,
      to: flow.digest,
      flow: flow.base,
      principal,
      comment,
      ...(source === null ? {} : { source }),
      ...pinned,
    })
    return migration
  })
}

function isDone({ flow, state }: FlowRun, nodeId: string): boolean {
  const index = flow.nodeIndex.get(nodeId)
  return index !== undefined && elementAt(state.nodes, index).status === 'done'
}

function obstacleFault(runId: string, part: string, message: string) {
  const words = `the run ${showName(runId)} cannot be moved: ${part}: ${message}`
  return faultError('flow.migration', part, words, 'the run goes on with the version that it has')
}

/** Returns the files that the present version of a run's flow was read from; null if none is known. */
export function sourceOf(facts: readonly FlowFact[]): FlowFiles | null {
  let source: FlowFiles | null = null
  for (const { type, payload } of facts) {
    if (type === 'flow_started_v1') source = payload.origin?.source ?? null
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    if (payload.event.type === 'migrated') source = payload.event.source ?? null
  }
  return source
}
