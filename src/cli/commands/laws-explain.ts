/** `writ laws explain ID`: why an act was decided as it was, and what a human can do about it. */
import { faultError, showName } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { streamsToRead, withHistory } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import { wholeActionId } from '../history/short-id.ts'
import { explainAction } from '../laws/explained-action.ts'
import { explanationText } from '../laws/explanation-text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || id === '' || others.length > 0) {
    throw usageError('name one action', '`writ log` lists what was decided')
  }
  const { terminal, options } = call
  return withHistory(call, async (session) => {
    const streams = await streamsToRead(session, call)
    const whole = await wholeActionId(session.ledger, streams, id)
    for (const stream of streams) {
      const explained = await explainAction(session, stream, whole)
      if (explained === null) continue
      const { explanation, human } = explained
      await terminal.out(
        options.isOn('json')
          ? `${JSON.stringify({ ...explanation, human })}\n`
          : explanationText(explanation, human, terminal.paint),
      )
      return EXIT.yes
    }
    throw faultError('history.unknown', id, `nothing was decided about ${showName(id)} here`)
  })
}
