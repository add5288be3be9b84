/** `writ propose`: the whole lifecycle of a proposal, from the document to the promotion. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { nearest, showName } from '../../base/index.ts'
import {
  ACTION_KINDS,
  type Confirmation,
  type Decision,
  type Promotion,
} from '../../contracts/index.ts'
import { displayOfRaw } from '../../gate/index.ts'
import type { Fact } from '../../ledger/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { printAnswer, printOutput } from '../gate/answer-text.ts'
import { exampleProposal } from '../gate/example-proposal.ts'
import { type GateSession, withGate } from '../gate/open.ts'
import { readDocument, refuse } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const kind = call.options.text('example')
  if (kind !== null) return printExample(call, kind)
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
      // The proposer does not answer: the question goes to the inbox.
      confirm: async () => ({ kind: 'wait' }),
      abort: abort.signal,
    })
    if (!call.options.isOn('wait') || answer.pending === undefined) {
      const exit = await printAnswer(call, answer, dryRun)
      if (!call.options.isOn('json')) await printOutput(call, answer)
      return exit
    }
    const { pending } = answer
    call.terminal.err(
      `waiting for a human: writ approve ${pending.id}, or writ deny ${pending.id}\n`,
    )
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

const LOOK_MS = 250

/**
 * Follows the facts about one action until its question is settled. The answer is given in another
 * process, so the ledger is the only place that shows it. Returns the answer as it became; with its
 * question still pending when the wait was given up.
 */
async function awaitHuman(
  session: GateSession,
  answer: GateAnswer,
  abort: AbortSignal,
): Promise<GateAnswer> {
  const { pending } = answer
  if (pending === undefined) return answer
  const question = await session.gate.question(pending.id)
  const paths = (question?.changes ?? []).map(({ path }) => displayOfRaw(path))
  const expiresMs = Date.parse(pending.expires_at)
  while (!abort.aborted) {
    const settled = await settledAnswer(session, answer, paths)
    if (settled !== null) return settled
    // `pending` records that a question has expired.
    if (Date.now() > expiresMs) await session.gate.pending()
    await pause(LOOK_MS, undefined, { signal: abort }).catch(() => {})
  }
  return answer
}

async function settledAnswer(
  session: GateSession,
  answer: GateAnswer,
  paths: readonly string[],
): Promise<GateAnswer | null> {
  const newest = <Payload>(type: string): Promise<Payload | null> =>
    newestPayload<Payload>(session, type, answer.action_id)
  const confirmation = await newest<Confirmation>('confirmation_v1')
  if (confirmation === null) return null
  const { pending: _answered, ...rest } = answer
  const { superseded_by } = confirmation
  if (superseded_by !== undefined) return { ...rest, superseded_by }
  if (confirmation.answer === 'EXPIRED') return { ...rest, expired: true }
  if (confirmation.answer === 'DENIED') return rest
  const promotion = await newest<Promotion>('promotion_v1')
  if (promotion !== null) {
    const { snapshot_digest } = promotion
    const promoted = promotion.status === 'APPLIED'
    return { ...rest, promoted, promotion: { paths: [...paths], snapshot_digest } }
  }
  // A yes that could not be carried out is a decision of its own.
  const decision = await newest<Decision>('decision_v1')
  return decision?.decision === 'BLOCK' ? { ...rest, decision } : null
}

/** The facts that settle a question are small, so the ledger holds them whole. */
async function newestPayload<Payload>(
  { session, stream }: GateSession,
  type: string,
  action: string,
): Promise<Payload | null> {
  const page = await session.ledger.store.find({
    stream,
    type,
    action,
    limit: 1,
    order: 'newest_first',
  })
  const [found] = page.facts
  // The store judged the fact by its contract; the caller's type is that of the facts it asks for.
  return found === undefined ? null : ((JSON.parse(found.text) as Fact).record.payload as Payload)
}
