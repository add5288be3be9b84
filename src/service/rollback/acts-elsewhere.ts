/**
 * Promoted acts that this machine cannot take back, because what undoes them lies elsewhere: on another
 * machine of the home, or where the directory of the home lay before it was moved.
 */
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import type { Evaluation } from '../../contracts/index.ts'
import type { PromotedAction } from '../../gate/index.ts'
import { hasOtherMachines, machineName } from '../../store/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { findPreimages } from '../stage/stage-place.ts'
import { type GateContext, workspaceOf } from '../surface/context.ts'
import type { RollbackTarget } from '../surface/surface.ts'

export interface ActElsewhere {
  readonly action_id: string
  /** The name of its machine. */
  readonly machine: string
}

export class ActsElsewhere {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  /** Returns those of the acts that other machines of the home carried out, in the same order. */
  async among(actions: readonly PromotedAction[]): Promise<readonly ActElsewhere[]> {
    const { ledger } = this.#context
    if (ledger.files === null) return []
    const own = ledger.machineNames()
    const found: ActElsewhere[] = []
    for (const { actionId } of actions) {
      const machine = (await this.#hostOf(actionId))?.machine
      if (machine === undefined || own.includes(machine)) continue
      found.push({ action_id: actionId, machine: await machineName(ledger, machine) })
    }
    return found
  }

  /** Fails if what undoes one of the acts does not lie in this home, as far as facts and files tell. */
  async refuseMoved(actions: readonly PromotedAction[]): Promise<void> {
    const here = workspaceOf(this.#context)
    for (const { actionId, promotion } of actions) {
      const host = await this.#hostOf(actionId)
      const there = host?.workspace ?? here
      if (promotion.paths > 0 && host?.machine === undefined) await this.#refuseUnknown(actionId)
      if (there === here) continue
      const message = `${showName(actionId)} was done in ${showName(there)}, and this home is ${showName(here)} now`
      const hint = `to take it back: move the directory back, then \`writ trust\` there`
      throw faultError('rollback.elsewhere', actionId, message, hint)
    }
  }

  /** An older writ did not record the machine: the files tell whether it may have been this one. */
  async #refuseUnknown(actionId: string): Promise<void> {
    const { home, ledger } = this.#context
    if (ledger.files === null || findPreimages(home, actionId) !== null) return
    if (!(await hasOtherMachines(ledger))) return
    const message = `${showName(actionId)} cannot be taken back here: the old versions of its files lie on another machine of the home, or were removed at the end of the undo period or to keep its quota; an older writ recorded the act without its machine`
    const hint = `try \`writ rollback ${actionId}\` on the other machines: \`writ machine list\` names them`
    const details = { ids: [actionId] }
    throw new FaultError(fault('rollback.expired', actionId, details, { message, hint }))
  }

  async #hostOf(actionId: string): Promise<Evaluation['host'] | undefined> {
    const found = await this.#view.factOf('evaluation_v1', actionId)
    // A fact is of its contract.
    return (found?.payload as Evaluation | undefined)?.host
  }
}

/** Says on which machines acts can be taken back, and what a person types there. */
export function takenBackElsewhere(
  target: RollbackTarget,
  elsewhere: readonly ActElsewhere[],
): FaultError {
  const machines = [...new Set(elsewhere.map(({ machine }) => machine))].join(', ')
  const [one, ...others] = elsewhere
  const id = one?.action_id ?? ''
  const acts = others.length === 0 ? showName(id) : `each of the ${elsewhere.length} acts`
  const isLast = 'last' in target
  const what = isLast ? `the last act that can be taken back, ${acts},` : acts
  const message = `${what} was done on another machine of the home (${machines}), where the old versions of its files lie; nothing was taken back`
  const there = 'since' in target ? `writ rollback --since ${target.since}` : `writ rollback ${id}`
  const older = isLast ? '; `writ log` lists older acts, also those of this machine' : ''
  return faultError('machine.elsewhere', id, message, `type on ${machines}: \`${there}\`${older}`)
}
