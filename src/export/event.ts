/**
 * A fact as other systems may see it: its envelope, what it is about, and values that are listed here
 * by their places. Everything else stays out: intents, arguments, names of files, addresses, outputs,
 * contents, and types that are not listed.
 *
 * INVARIANT (listed or left out): a text passes only from a listed place, and only if it has the form of
 * a word, a digest, a moment or an id.
 */
import { field } from '../contracts/index.ts'
import { factLeaf, hashText, type OpenedFact, type Principal, termsOf } from '../ledger/index.ts'

type Detail = string | number | boolean | readonly string[]

export interface ExportedEvent {
  readonly id: string
  readonly stream: string
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly by: Principal
  /** The leaf of the fact in the tree of its stream: what a proof of it speaks of. */
  readonly leaf: string
  readonly action_id?: string
  readonly task_id?: string
  readonly run_id?: string
  readonly details: Readonly<Record<string, Detail>>
}

/** By record type: names of details, and where their values lie. */
const DETAILS: Readonly<Record<string, readonly string[]>> = {
  proposal_v1: ['descriptor.action_type', 'descriptor.risk_level'],
  sandbox_result_v1: [
    'execution.status',
    'execution.exit_code',
    'execution.signal',
    'diff.counts.added',
    'diff.counts.modified',
    'diff.counts.deleted',
    'diff.bytes',
  ],
  decision_v1: ['decision', 'code', 'codes', 'law_refs', 'tier', 'permanent'],
  confirmation_v1: ['answer', 'assurance', 'level', 'superseded_by'],
  promotion_v1: ['status', 'paths', 'bytes', 'manifest', 'recovered', 'undo_until'],
  rollback_v1: ['action_ids', 'restored', 'verified', 'recovered'],
  override_v1: ['policy_id'],
  halt_v1: ['halted'],
  session_v1: ['event', 'confinement', 'custody'],
  principal_v1: ['change', 'principal.kind'],
  key_rotated_v1: ['stream', 'last_size'],
  body_dropped_v1: ['body', 'bytes'],
  clock_jump_v1: ['jump_ms', 'seen_by'],
  flow_started_v1: ['flow_digest'],
  flow_event_v1: ['kind'],
  ao_act_receipt_v0: ['status'],
  schedule_v1: ['change'],
  witness_v1: ['change'],
  machine_v1: ['change'],
}

const SAFE_TEXT =
  /^(?:[A-Za-z][A-Za-z0-9_.-]{0,63}|sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT[0-9:.]{5,16}Z|[0-9a-fA-F-]{36})$/

/** `text` is the canonical text of the fact. */
export function eventOf(fact: OpenedFact, text: string): ExportedEvent {
  const { fact_id: id, stream, seq, occurred_at: at, principal: by, record, payload } = fact
  const { type } = record
  const { action, task, run } = termsOf({ ...record, payload: payload ?? undefined })
  const details: Record<string, Detail> = {}
  for (const place of DETAILS[type] ?? []) {
    const value = safe(place.split('.').reduce<unknown>(field, payload))
    if (value !== null) details[place.replaceAll('.', '_')] = value
  }
  return {
    id,
    stream,
    seq,
    at,
    type,
    by,
    leaf: hashText(factLeaf(text)),
    ...(action === undefined ? {} : { action_id: action }),
    ...(task === undefined ? {} : { task_id: task }),
    ...(run === undefined ? {} : { run_id: run }),
    details,
  }
}

function safe(value: unknown): Detail | null {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return SAFE_TEXT.test(value) ? value : null
  if (!Array.isArray(value)) return null
  return value.filter((one) => typeof one === 'string' && SAFE_TEXT.test(one))
}
