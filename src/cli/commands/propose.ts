/** `writ propose`: the whole lifecycle of a proposal, from the document to the promotion. */
import type { Call, Exit } from '../command.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { withGate } from '../gate/open.ts'
import { awaitHuman } from '../gate/waiting.ts'
import { readDocument, refuse } from '../history/refusal.ts'

export async function run(call: Call): Promise<Exit> {
  const reading = await readDocument(call)
  if (!reading.ok) return refuse(call, [reading.refusal])
  const dryRun = call.options.isOn('dry-run')
  return withGate(call, async (session) => {
    const abort = new AbortController()
    const interrupt = (): void => abort.abort()
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
    const answer = await session.gate.propose(reading.value, {
      door: 'propose',
      declaredByApproval: false,
      dryRun,
      // Whoever proposes does not answer: the question goes to the inbox.
      confirm: async () => ({ kind: 'wait' }),
      abort: abort.signal,
    })
    if (!call.options.isOn('wait') || answer.pending === undefined) {
      return printAnswer(call, answer, dryRun)
    }
    const { pending } = answer
    call.terminal.err(
      `waiting for a human: writ approve ${pending.id}, or writ deny ${pending.id}\n`,
    )
    return printAnswer(call, await awaitHuman(session, answer, abort.signal))
  })
}
