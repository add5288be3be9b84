/** `writ flow cancel`: ends a run where it is, and takes back what it promoted, or says how that is done. */
import { faultCode, faultError, showName } from '../../base/index.ts'
import { actsOf, cancelRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { withPersonsRun } from '../flow/order.ts'
import type { GateSession } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName] = call.arguments
  if (runName === undefined) throw usageError('say which run', 'writ flow cancel RUN')
  const { options, terminal } = call
  return withPersonsRun(
    call,
    runName,
    'cancelling a run',
    async ({ host, gate, run: before, principal }) => {
      const { runId, state } = before
      if (state.ended !== null) {
        const message = `the run ${showName(runId)} has ended: ${state.ended}`
        throw faultError('flow.not_waiting', runId, message, `writ flow report ${runId}`)
      }
      const ended = await cancelRun(host, runId, principal, options.text('comment'))
      const acts = actsOf(ended.facts)
      const isEnded = ended.state.ended !== null
      const isUndone = isEnded && options.isOn('undo')
      const isJson = options.isOn('json')
      if (!isJson) await terminal.out(isEnded ? `cancelled  ${runId}\n` : underWay(runId))
      if (isUndone) await takeBack(gate, acts)
      const told = isUndone ? { acts: [], undone: acts } : { acts }
      if (isJson)
        await terminal.out(`${JSON.stringify({ run_id: runId, status: ended.status, ...told })}\n`)
      else if (acts.length > 0)
        await terminal.out(`${isUndone ? undoneText(acts) : promotedText(acts)}\n`)
      return isEnded ? EXIT.yes : EXIT.waiting
    },
  )
}

function underWay(runId: string): string {
  return `recorded; the process that walks ${runId} has not ended it yet: writ flow status ${runId}\n`
}

/** Takes acts back in this order; fails at the first that is in the way, with what to type. */
async function takeBack({ gate }: GateSession, acts: readonly string[]): Promise<void> {
  for (const actionId of acts) {
    try {
      await gate.rollback({ actionId }, { dryRun: false })
    } catch (error) {
      // A person took it back before.
      if (faultCode(error) !== 'rollback.nothing') throw error
    }
  }
}

function undoneText(acts: readonly string[]): string {
  return ['what it promoted is taken back:', ...acts.map((act) => `  ${act}`)].join('\n')
}

function promotedText(acts: readonly string[]): string {
  const lines = acts.map((act) => `  writ rollback ${act}`)
  return ['what it promoted stays; to take it back, the last first:', ...lines].join('\n')
}
