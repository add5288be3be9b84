/** What a fact becomes in each format: no line, one, or several. */
import { isDigest, VERSION } from '../base/index.ts'
import { type Change, readManifest } from '../gate/index.ts'
import { actSpans, readAct, readBody, spanDocument } from '../history/index.ts'
import type { OpenedFact } from '../ledger/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { cloudEvent } from './cloudevents.ts'
import { type ExportedEvent, eventOf } from './event.ts'
import { promotionEnvelope, type StatementSigner } from './intoto.ts'
import { apiActivity, fileActivity } from './ocsf.ts'

export const EXPORT_FORMATS = ['jsonl', 'cloudevents', 'ocsf', 'otlp', 'intoto'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportSource {
  readonly ledger: LedgerReader
  /** The ledger's own name. */
  readonly home: string
  readonly format: ExportFormat
  /** Needed for `intoto` alone. */
  readonly signer: StatementSigner | null
}

export async function linesOf(
  source: ExportSource,
  fact: OpenedFact,
  text: string,
): Promise<readonly unknown[]> {
  const { home, format, signer } = source
  const event = eventOf(fact, text)
  switch (format) {
    case 'jsonl':
      return [event]
    case 'cloudevents':
      return [cloudEvent(event, home)]
    case 'ocsf': {
      const changes = await promotedChanges(source, event)
      const files = changes.map((change, index) => fileActivity(event, home, change, index))
      return [apiActivity(event, home), ...files]
    }
    case 'otlp':
      return endedTraces(source, event, fact)
    case 'intoto': {
      if (signer === null || event.details['status'] !== 'APPLIED') return []
      return [promotionEnvelope(event, home, await promotedChanges(source, event), signer)]
    }
    default:
      return format satisfies never
  }
}

/** None where the list of changes is no longer kept. */
async function promotedChanges(
  { ledger }: ExportSource,
  { type, details }: ExportedEvent,
): Promise<readonly Change[]> {
  const { manifest } = details
  if (type !== 'promotion_v1' || details['status'] !== 'APPLIED') return []
  if (typeof manifest !== 'string' || !isDigest(manifest)) return []
  const bytes = await readBody(ledger, manifest)
  const read = bytes === null ? null : readManifest(Buffer.from(bytes).toString().split('\n'))
  return read?.changes.filter(({ path }) => !read.discarded.has(path)) ?? []
}

/** The traces of acts that this fact ended: one trace an action, the same ids at every export. */
async function endedTraces(
  { ledger }: ExportSource,
  event: ExportedEvent,
  fact: OpenedFact,
): Promise<readonly unknown[]> {
  const { type, stream, action_id, details } = event
  const isEnd =
    type === 'promotion_v1' ||
    details['decision'] === 'BLOCK' ||
    details['answer'] === 'DENIED' ||
    details['answer'] === 'EXPIRED'
  const undone = details['action_ids']
  const ids = type === 'rollback_v1' && Array.isArray(undone) ? undone : isEnd ? [action_id] : []
  const rollbacks = new Map(
    type === 'rollback_v1' ? ids.map((id) => [String(id).toLowerCase(), fact]) : [],
  )
  const traces: unknown[] = []
  for (const id of ids) {
    const act = await readAct(ledger, stream, String(id), rollbacks)
    if (act !== null) traces.push(spanDocument(actSpans(act, stream), VERSION))
  }
  return traces
}
