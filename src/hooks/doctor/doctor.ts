/**
 * Tries what happens when the hooks of an installed host fail (S-18): runs the host against a stand-in for its
 * model, in a throw-away home and project, once for each fault, with the hooks installed as wrapping.
 */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentHost } from '../../hosts/index.ts'
import { removeTree } from '../../machine/index.ts'
import { install, planInstall } from '../install/install.ts'
import { faultsOf, type HookFault, injectFault, writePrograms } from './faults.ts'
import { startStandIn } from './stand-in.ts'
import { makeTrialPlace, prepareTrial, runTrial } from './trial.ts'

/**
 * `gated`: the command went to `writ exec`. `blocked`: it did not run. `executed`: it ran on the real
 * tree. `silent`: the host never called the tool, so nothing is known.
 */
type FaultOutcome = 'gated' | 'blocked' | 'executed' | 'silent'

export interface FaultTrial {
  readonly fault: string
  readonly says: string
  readonly shell: FaultOutcome
  readonly edit: FaultOutcome
  /** What the host said, if nothing is known. */
  readonly note: string | null
}

interface DoctorOrder {
  readonly host: AgentHost
  /** The words that start the host. */
  readonly program: readonly string[]
  /** The script `bin/writ.cjs` of this installation. */
  readonly writ: string
  readonly plugins: string
  /** For hosts that fetch something at their first start. */
  readonly prepare?: (home: string) => void
}

const HOOK_SECONDS = 3
const TURN_MS = 90_000

export async function* tryFaults(order: DoctorOrder): AsyncGenerator<FaultTrial> {
  for (const fault of await faultsOf(order.host)) yield await tryFault(order, fault)
}

async function tryFault(order: DoctorOrder, fault: HookFault): Promise<FaultTrial> {
  const { host } = order
  const { trial } = host
  if (trial === null) throw new Error(`${host.name} cannot be tried`)
  const folder = mkdtempSync(join(tmpdir(), 'writ-doctor-'))
  const place = makeTrialPlace(folder)
  const ran = join(place.project, 'executed.txt')
  const edited = join(place.project, 'edited.txt')
  const turns = [
    trial.shell('echo executed > executed.txt'),
    trial.write(edited, 'x'),
    { text: 'done' },
  ]
  const model = await startStandIn(turns)
  try {
    prepareTrial(host, place, model.url)
    order.prepare?.(place.home)
    const programs = writePrograms(folder, order.writ, fault)
    const { home, project } = place
    const places = {
      home,
      project,
      state: join(folder, 'state'),
      writ: programs.writ,
      shell: programs.shell,
      plugins: order.plugins,
      seconds: HOOK_SECONDS,
    }
    install(await planInstall(host, 'user', 'wrap', places), places)
    injectFault(fault, project, programs)
    const end = await runTrial({
      host,
      program: order.program,
      place,
      url: model.url,
      arguments: trial.locked(programs),
      variables: fault.variables,
      limitMs: TURN_MS,
    })
    const isSilent = model.requests.length === 0
    const note = isSilent ? (end.stderr || end.stdout).trim().slice(-300) : null
    return {
      fault: fault.name,
      says: fault.says,
      shell: outcomeOf(isSilent, existsSync(ran), existsSync(programs.mark)),
      edit: outcomeOf(isSilent, existsSync(edited), false),
      note,
    }
  } finally {
    await model.close()
    await removeTree(folder)
  }
}

function outcomeOf(isSilent: boolean, isExecuted: boolean, isGated: boolean): FaultOutcome {
  if (isExecuted) return 'executed'
  if (isSilent) return 'silent'
  return isGated ? 'gated' : 'blocked'
}
