/** Acts that another machine of a home rehearsed: their files lie there, and only there. */
import { type FaultError, faultError } from '../../base/index.ts'
import type { Evaluation, SandboxResult } from '../../contracts/index.ts'
import type { Change, RequestMemory } from '../../gate/index.ts'
import { isForThisMachine, machineName } from '../../store/index.ts'
import { PUSH_HEADER } from '../acts/git-push.ts'
import { COMMAND_HEADER } from '../acts/held-command.ts'
import { BUDGET_HEADER } from '../acts/session-budget.ts'
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
  if (ledger.files === null || result === null) return false
  if (changes.length === 0 && !isHeldInState(result)) return false
  const { machine } = evaluation.host
  if (machine !== undefined) return !ledger.machineNames().includes(machine)
  // An older writ did not record the machine.
  return findStage(home, result.sandbox_id) === null
}

/**
 * Returns whether this machine ends an act that was interrupted. The one that has begun to send its requests
 * does, else the one that rehearsed it, as long as it is of the home: it may be carrying the act out.
 */
export async function isForUs(
  place: MachinePlace,
  act: Omit<RehearsedAct, 'actionId'>,
  requests: readonly RequestMemory[],
) {
  const sender = requests.find(({ begun }) => begun.machine !== undefined)?.begun.machine
  const machine = sender ?? act.evaluation.host.machine
  return machine === undefined ? !isElsewhere(place, act) : isForThisMachine(place.ledger, machine)
}

/** What a session wants to push, run or spend lies in the state of its machine until a person says yes. */
function isHeldInState({ side_effects }: SandboxResult): boolean {
  const names = side_effects.held?.flatMap(({ header_names }) => header_names) ?? []
  return names.some((name) => HELD_IN_STATE.has(name))
}

const HELD_IN_STATE: ReadonlySet<string> = new Set([PUSH_HEADER, COMMAND_HEADER, BUDGET_HEADER])

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
