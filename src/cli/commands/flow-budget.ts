/**
 * `writ flow budget`: a human sets the budgets of a run, as a fact; nodes that a used up budget stopped
 * go on. The process that walks the run takes it; if there is none, `resume` does.
 */
import { faultError } from '../../base/index.ts'
import { type BudgetLimits, type BudgetName, runStatus } from '../../flow/index.ts'
import { findRun, lookAtRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers } from '../call/home.ts'
import { handedText, handOrder } from '../flow/hand-order.ts'
import { withFlows } from '../flow/open.ts'

const USAGE = 'writ flow budget RUN [--seconds N] [--attempts N] [--tokens N]'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, ...others] = call.arguments
  const limits = limitsIn(call)
  if (runName === undefined || others.length > 0 || Object.keys(limits).length === 0)
    throw usageError('say the run and at least one budget', USAGE)
  return withFlows(call, async ({ host, gate }) => {
    refuseOthers(gate.session.caller, 'setting a budget')
    await proveHuman(gate.session, call, 'setting a budget')
    const { run_id } = await findRun(host.ledger, host.stream, runName)
    const { state } = await lookAtRun(host, run_id)
    if (state.ended !== null) {
      const message = `the run has ended: ${runStatus(state)}`
      throw faultError('flow.not_waiting', run_id, message, `writ flow report ${run_id}`)
    }
    refuseUsed(limits, state.totals)
    const { kind, id, namespace } = host.principal
    const handed = await handOrder(host, run_id, {
      kind: 'budget',
      limits,
      principal: `${kind}:${id}@${namespace}`,
    })
    const next = handedText(handed, run_id)
    const walked = handed === 'walked'
    await call.terminal.out(
      call.options.isOn('json')
        ? `${JSON.stringify({ ok: true, run_id, limits, walked })}\n`
        : `recorded; ${next}\n`,
    )
    return EXIT.yes
  })
}

function limitsIn({ options }: CommandCall): BudgetLimits {
  const read = (name: BudgetName): Partial<Record<BudgetName, number>> => {
    const given = options.text(name)
    if (given === null) return {}
    const limit = Number(given)
    const isFit = name === 'seconds' ? Number.isFinite(limit) : Number.isInteger(limit)
    if (given.trim() === '' || !isFit || limit <= 0)
      throw usageError(`\`--${name}\` is a number above 0`, USAGE)
    return { [name]: limit }
  }
  return { ...read('seconds'), ...read('attempts'), ...read('tokens') }
}

/** A limit that is used already would stop the run again at once. */
function refuseUsed(limits: BudgetLimits, used: Readonly<Record<BudgetName, number>>): void {
  for (const name of ['seconds', 'attempts', 'tokens'] as const) {
    const limit = limits[name]
    if (limit === undefined || limit > used[name]) continue
    const message = `${Math.ceil(used[name])} ${name} are used already, so ${limit} would stop the run at once`
    throw faultError('flow.budget', name, message, `name more than that: --${name} N`)
  }
}
