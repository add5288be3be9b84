/** `writ flow cancel`: ends a run where it is, and says how what it promoted can be taken back. */
import { faultError, showName } from '../../base/index.ts'
import { actsOf, cancelRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { withPersonsRun } from '../flow/order.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName] = call.arguments
  if (runName === undefined) throw usageError('say which run', 'writ flow cancel RUN')
  const { options, terminal } = call
  return withPersonsRun(
    call,
    runName,
    'cancelling a run',
    async ({ host, run: before, principal }) => {
      const { runId, state } = before
      if (state.ended !== null) {
        const message = `the run ${showName(runId)} has ended: ${state.ended}`
        throw faultError('flow.not_waiting', runId, message, `writ flow report ${runId}`)
      }
      const ended = await cancelRun(host, runId, principal, options.text('comment'))
      const acts = actsOf(ended.facts)
      const isEnded = ended.state.ended !== null
      if (options.isOn('json')) {
        await terminal.out(`${JSON.stringify({ run_id: runId, status: ended.status, acts })}\n`)
        return isEnded ? EXIT.yes : EXIT.waiting
      }
      await terminal.out(
        isEnded
          ? `cancelled  ${runId}\n`
          : `recorded; the process that walks ${runId} has not ended it yet: writ flow status ${runId}\n`,
      )
      if (acts.length > 0) await terminal.out(`${promotedText(acts)}\n`)
      return isEnded ? EXIT.yes : EXIT.waiting
    },
  )
}

function promotedText(acts: readonly string[]): string {
  const lines = acts.map((act) => `  writ rollback ${act}`)
  return ['what it promoted stays; to take it back, the last first:', ...lines].join('\n')
}
