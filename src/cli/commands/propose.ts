/** `writ propose`: the whole lifecycle of a proposal, from the document to the promotion. */
import { randomUUID } from 'node:crypto'
import { nearest, showName } from '../../base/index.ts'
import { ACTION_KINDS } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { printAnswer, printOutput } from '../gate/answer-text.ts'
import { awaitHuman } from '../gate/await-human.ts'
import { exampleProposal } from '../gate/example-proposal.ts'
import { withGate } from '../gate/open.ts'
import { queueProposal, refuseQueueWords } from '../gate/queued-proposal.ts'
import { readDocument, refuse } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const kind = call.options.text('example')
  if (kind !== null) return printExample(call, kind)
  const reading = await readDocument(call)
  if (!reading.ok) return refuse(call, [reading.refusal])
  const dryRun = call.options.isOn('dry-run')
  const abort = new AbortController()
  const interrupt = (): void => abort.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  if (call.options.isOn('queue')) return queueProposal(call, reading.value, abort.signal)
  refuseQueueWords(call)
  return withGate(call, async (session) => {
    const answer = await session.gate.propose(reading.value, {
      door: 'propose',
      declaredByApproval: false,
      dryRun,
      // The proposer does not answer: the question goes to the inbox.
      confirm: async () => ({ kind: 'wait' }),
      abort: abort.signal,
    })
    if (!call.options.isOn('wait') || answer.pending === undefined) {
      const exit = await printAnswer(call, answer, dryRun)
      if (!call.options.isOn('json')) await printOutput(call, answer)
      return exit
    }
    return printAnswer(call, await awaitHuman(session, answer, abort.signal))
  })
}

/** A document to begin with, for the current directory. */
async function printExample({ terminal }: CommandCall, name: string): Promise<Exit> {
  const kind = ACTION_KINDS.find((one) => one === name.toUpperCase())
  if (kind === undefined) {
    const near = nearest(name.toUpperCase(), ACTION_KINDS)
    const message = `${showName(name)} is no kind of act`
    const hint = near === null ? `one of ${ACTION_KINDS.join(', ')}` : `did you mean ${near}?`
    throw usageError(message, hint)
  }
  const ground = { directory: process.cwd(), nowMs: Date.now(), newId: randomUUID }
  await terminal.out(`${JSON.stringify(exampleProposal(kind, ground), null, 2)}\n`)
  return EXIT.yes
}
