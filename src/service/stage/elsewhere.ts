/** Acts that another machine of a home rehearsed: their files lie there, and only there. */
import { faultError } from '../../base/index.ts'
import type { SandboxResult } from '../../contracts/index.ts'
import type { Change } from '../../gate/index.ts'
import type { GateContext } from '../surface/context.ts'
import { findStage } from './stage-place.ts'

interface RehearsedAct {
  readonly actionId: string
  readonly changes: readonly Change[]
  readonly result: SandboxResult | null
}

export function isElsewhere(
  { home, ledger }: Pick<GateContext, 'home' | 'ledger'>,
  { changes, result }: RehearsedAct,
): boolean {
  if (ledger.files === null || result === null || changes.length === 0) return false
  return findStage(home, result.sandbox_id) === null
}

/** Fails before anything is recorded if the act can be carried out on another machine only. */
export function refuseElsewhere(context: GateContext, act: RehearsedAct): void {
  if (!isElsewhere(context, act)) return
  const message =
    'this act was rehearsed on another machine of the home, where its files lie; nothing was answered'
  const hint = 'answer there: `writ inbox` on that machine; `writ machine list` names the machines'
  throw faultError('machine.elsewhere', act.actionId, message, hint)
}
