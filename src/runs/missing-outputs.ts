/**
 * Finds what participants said in a run and is no longer kept. The status of a run does not need it; a
 * run that would have to pass it on to another participant is refused.
 */
import { FaultError, fault, showName } from '../base/index.ts'
import { BODY_RULES, type Fact as LedgerFact, markedBodies } from '../ledger/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { outputRows, referred } from './run-records.ts'

/** One body that is gone. */
export interface MissingOutput {
  readonly node_id: string
  /** The fact in the run that names it. */
  readonly seq: number
  /** `raw`: all that was said. `artifact`: the contents of what was made. */
  readonly what: 'raw' | 'artifact'
  readonly body: string
  readonly bytes: number
}

const RULE = BODY_RULES.find(({ type }) => type === 'participant_output_v1')

export async function missingOutputs(
  ledger: LedgerReader,
  stream: string,
  runId: string,
): Promise<readonly MissingOutput[]> {
  const missing: MissingOutput[] = []
  for await (const { text } of outputRows(ledger, stream, runId)) {
    // The store returns texts of facts.
    const { record } = JSON.parse(text) as LedgerFact
    const payload = record.payload ?? (await referred(ledger, record.payload_ref))
    // The store judged the record by its contract before it was written.
    const { node_id, seq, raw } = payload as Pick<MissingOutput, 'node_id' | 'seq'> & {
      readonly raw: string
    }
    for (const { digest, bytes } of markedBodies(payload, RULE)) {
      if (await ledger.objects.has(digest)) continue
      const what = raw.includes(digest) ? 'raw' : 'artifact'
      missing.push({ node_id, seq, what, body: digest, bytes })
    }
  }
  return missing
}

/** Others would be handed a name in place of the contents. */
export async function refuseMissing(
  ledger: LedgerReader,
  stream: string,
  runId: string,
  isLast: (output: MissingOutput) => boolean,
): Promise<void> {
  const missing = await missingOutputs(ledger, stream, runId)
  const lost = missing.find((output) => output.what === 'artifact' && isLast(output))
  if (lost === undefined) return
  const { node_id, body } = lost
  const message = `what ${showName(node_id)} made in the run ${showName(runId)} is no longer kept`
  throw new FaultError(fault('flow.output_missing', body, null, { message }))
}
