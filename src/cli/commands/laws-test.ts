/** `writ laws test`: what would change over past proposals if a file were the law. Decides nothing. */
import { fault, showName } from '../../base/index.ts'
import type { Laws } from '../../policy/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { momentOption } from '../history/moment.ts'
import { streamsToRead } from '../home.ts'
import { withKnownHistory } from '../laws/known-history.ts'
import { TrialRun } from '../laws/trial-run.ts'
import { trialText } from '../laws/trial-text.ts'
import { progressBar } from '../progress.ts'
import { lawsOfHome, readLawFile } from './laws-check.ts'

export async function run(call: Call): Promise<Exit> {
  const [file = lawsOfHome(call), ...others] = call.arguments
  if (others.length > 0) {
    throw new Stop(fault('cli.usage', '', null, { message: 'name one law file' }))
  }
  const since = momentOption(call, 'since', Date.now())
  const trial = new TrialRun(await lawsIn(file))
  return withKnownHistory(call, async (session) => {
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

/** A file with a fault has no laws; the first one is told with its place. */
async function lawsIn(file: string): Promise<Laws> {
  const reading = await readLawFile(file)
  if (reading.ok) return reading.laws
  const [first] = reading.faults
  const more = reading.faults.length - 1
  const place = `${showName(file)} at line ${first?.line}, column ${first?.column}`
  const message = `${place}: ${first?.message}${more === 0 ? '' : ` (and ${more} more)`}`
  const hint = `\`writ laws check ${file}\` tells all of it`
  throw new Stop(fault('laws.unusable', file, null, { message, hint }))
}
