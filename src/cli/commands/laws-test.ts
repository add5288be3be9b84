/** `writ laws test`: what would change over past proposals if a file were the law. Decides nothing. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { streamsToRead, withHistory } from '../call/home.ts'
import { progressBar } from '../call/terminal.ts'
import { usageError } from '../call/usage.ts'
import { momentOption } from '../history/option-values.ts'
import { usableReading } from '../laws/law-file.ts'
import { TrialRun, trialText } from '../laws/trial.ts'
import { lawsOfHome, warningText } from './laws-check.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [file = lawsOfHome(call), ...others] = call.arguments
  if (others.length > 0) {
    throw usageError('name one law file')
  }
  const since = momentOption(call, 'since', Date.now())
  const { laws, warnings } = await usableReading(file)
  for (const one of warnings)
    call.terminal.err(`${warningText(file, one, call.terminal.paintError)}\n`)
  const trial = new TrialRun(laws)
  return withHistory(call, async (session) => {
    const { ledger } = session
    for (const stream of await streamsToRead(session, call)) {
      const total = (await ledger.store.head(stream))?.size ?? 0
      const bar = progressBar(call.terminal, `trying laws on ${stream}`)
      await trial.take(ledger, stream, since, (seq) => bar.tick(seq, total))
      bar.end()
    }
    const answer = trial.finish()
    const { terminal, options } = call
    await terminal.out(
      options.isOn('json') ? `${JSON.stringify(answer)}\n` : trialText(answer, terminal.paint),
    )
    return EXIT.yes
  })
}
