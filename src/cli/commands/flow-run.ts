/** `writ flow run`: walks a flow, a table, or a plan with its participants, to its end or to where a human is needed. */
import { realpathSync, statSync } from 'node:fs'
import { faultError, showName } from '../../base/index.ts'
import { addRun, serverOf } from '../../fleet/index.ts'
import type { CompiledFlow } from '../../flow/index.ts'
import { type FlowHost, labelsOf, newRunId, startRun, type WalkedRun } from '../../runs/index.ts'
import { pinFlow } from '../../schedules/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { tellForeignGroups } from '../effects/foreign-groups.ts'
import { runAnswer, runText, statusExit } from '../flow/answer.ts'
import { stopsWithLaws } from '../flow/approval-laws.ts'
import { interruptible } from '../flow/interruptible.ts'
import { watchRun } from '../flow/live.ts'
import { readFlow } from '../flow/load.ts'
import { withFlows } from '../flow/open.ts'
import { refuseActors, tellOpenWork, tellShortSecrets, tellUnknownPeople } from '../flow/person.ts'
import { refuseFlow } from '../flow/problem.ts'
import { sourceFiles } from '../flow/source-files.ts'
import { plain } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [participants, side] = [call.options.text('participants'), call.options.text('side')]
  const source = await readFlow(namedFile(call), participants, side)
  if (!source.ok)
    return refuseFlow(call, namedFile(call), { participants, side }, source.violations)
  const { kind, flow, participantsDigest, warnings } = source
  const workspace = workspaceOf(call)
  return withFlows(call, async ({ host, gate }) => {
    refuseActors(gate, 'starting a flow', 'writ flow run FILE')
    for (const { code, path, message } of warnings)
      if (code === 'flow.plan_repaired') call.terminal.err(`${plain(`${path}: ${message}`)}\n`)
    tellUnknownPeople(call, { gate, host }, flow)
    tellShortSecrets(call, flow)
    tellOpenWork(call, flow, kind, workspace)
    tellForeignGroups(call.terminal, [workspace])
    if (call.options.isOn('queue')) {
      return queueRun(call, host, { flow, participants: participantsDigest, workspace })
    }
    const watch = watchRun(call)
    const walked = await interruptible((abort) =>
      startRun(
        { ...host, confirm: watch.still(host.confirm) },
        {
          flow,
          workspace,
          participantsDigest,
          source: sourceFiles(namedFile(call), participants, side),
          abort,
          waits: call.options.isOn('wait'),
          ...placesOf(call),
          onFacts: watch.onFacts,
          onWaiting: watch.onWaiting,
          onRun: (runId) => call.terminal.err(`${runId}\n`),
        },
      ).finally(watch.end),
    )
    return printRun(call, host, walked)
  })
}

/** Leaves the run to a worker; it is kept on the server until one has begun it. */
async function queueRun(
  call: CommandCall,
  { ledger, stream }: FlowHost,
  { flow, participants, workspace }: QueuedFlow,
): Promise<Exit> {
  const server = serverOf(ledger)
  await pinFlow(ledger, flow)
  const run = newRunId(Date.now())
  const begin = { flow: flow.digest, participants, workspace }
  const labels = [...call.options.texts('label'), ...labelsOf(flow)]
  await addRun(server, { run, stream, begin }, { labels: [...new Set(labels)] })
  return reply(call, { run_id: run, labels }, () => `${run}\n`)
}

interface QueuedFlow {
  readonly flow: CompiledFlow
  readonly participants: string | null
  readonly workspace: string
}

export async function printRun(
  call: CommandCall,
  host: Pick<FlowHost, 'ledger' | 'stream'>,
  walked: WalkedRun,
): Promise<Exit> {
  const { terminal, options } = call
  const stops = await stopsWithLaws(host, walked)
  const isJson = options.isOn('json') || options.isOn('jsonl')
  await terminal.out(
    isJson ? `${JSON.stringify(runAnswer(walked, stops))}\n` : runText(walked, terminal, stops),
  )
  return statusExit(walked.status)
}

/** How many participants may work at once, where the caller says so. */
export function placesOf({ options }: CommandCall): { readonly parallel?: number } {
  const given = options.text('parallel')
  if (given === null) return {}
  const parallel = Number(given)
  if (Number.isInteger(parallel) && parallel >= 1) return { parallel }
  throw usageError('`--parallel` is a whole number from 1 on', 'writ flow run FILE --parallel 4')
}

function namedFile(call: CommandCall): string {
  const [file, ...others] = call.arguments
  if (file !== undefined && others.length === 0) return file
  throw usageError('name one flow or plan')
}

export function workspaceOf(call: CommandCall): string {
  const given = call.options.text('workspace') ?? process.cwd()
  try {
    if (statSync(given).isDirectory()) return realpathSync(given)
  } catch {
    // Told below.
  }
  throw faultError('cli.usage', given, `the workspace ${showName(given)} is no directory`)
}
