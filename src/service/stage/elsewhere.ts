/** Acts that another machine of a home rehearsed: their files lie there, and only there. */
import { type FaultError, faultError } from '../../base/index.ts'
import type { Evaluation, SandboxResult } from '../../contracts/index.ts'
import type { Change } from '../../gate/index.ts'
import { isForThisMachine, machineName } from '../../store/index.ts'
import type { GateContext } from '../surface/context.ts'
import { findStage } from './stage-place.ts'

interface RehearsedAct {
  readonly actionId: string
  readonly changes: readonly Change[]
  readonly result: SandboxResult | null
  readonly evaluation: Evaluation
}

type MachinePlace = Pick<GateContext, 'home' | 'ledger'>

function isElsewhere({ home, ledger }: MachinePlace, act: Omit<RehearsedAct, 'actionId'>) {
  const { changes, result, evaluation } = act
  if (ledger.files === null || result === null || changes.length === 0) return false
  const { machine } = evaluation.host
  if (machine !== undefined) return !ledger.machineNames().includes(machine)
  // An older writ did not record the machine.
  return findStage(home, result.sandbox_id) === null
}

/**
 * Returns whether this machine ends an act that was interrupted: the one that rehearsed it does, as long as
 * it is of the home. Another one may be carrying it out.
 */
export async function isForUs(place: MachinePlace, act: Omit<RehearsedAct, 'actionId'>) {
  const { machine } = act.evaluation.host
  return machine === undefined ? !isElsewhere(place, act) : isForThisMachine(place.ledger, machine)
}

/** Returns the name of the other machine that has to answer; null for this one, empty if not recorded. */
export async function machineToAnswer(
  place: MachinePlace,
  act: Omit<RehearsedAct, 'actionId'>,
): Promise<string | null> {
  if (!isElsewhere(place, act)) return null
  const { machine } = act.evaluation.host
  return machine === undefined ? '' : machineName(place.ledger, machine)
}

/** Fails before anything is recorded if the act can be carried out on another machine only. */
export async function refuseElsewhere(place: MachinePlace, act: RehearsedAct): Promise<void> {
  const machine = await machineToAnswer(place, act)
  if (machine !== null) throw answeredElsewhere(act.actionId, machine)
}

/** `machine` may be empty, where no fact names it. */
export function answeredElsewhere(actionId: string, machine: string): FaultError {
  const there = machine === '' ? 'another machine' : `the machine ${machine}`
  const message = `this act was rehearsed on ${there} of the home, where its files lie; nothing was answered`
  const hint = `type there: \`writ approve ${actionId}\`; \`writ deny ${actionId}\` works on every machine`
  return faultError('machine.elsewhere', actionId, message, hint)
}
