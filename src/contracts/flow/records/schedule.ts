/**
 * Schedules: when a flow is run without a person at hand. `schedule_v1` is what a human says about one,
 * with the flow and its files pinned by digest; `schedule_slot_v1` is what became of one of its times.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, isIsoMoment, show } from '../../../base/index.ts'
import { type Contract, field, type Subject } from '../../kernel/contract.ts'
import { Count, checkMoment, closed, Digest, DigestOrNull, Name } from './shapes.ts'

const Word = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  'x-code': { pattern: 'name' },
  'x-says': 'letters, digits, `.`, `_` and `-`, at most 64',
})

const TermsSchema = Type.Object(
  {
    cron: Name,
    /** An IANA time zone, such as `Europe/Berlin`. */
    zone: Name,
    workspace: Name,
    flow_id: Name,
    title: Type.String(),
    flow_digest: Digest,
    participants_digest: DigestOrNull,
    /** What was read when the schedule was set; an edited file is noticed by its digest. */
    files: Type.Array(
      Type.Object(
        {
          role: Type.Enum(['flow', 'participants', 'side', 'subflow']),
          path: Name,
          digest: Digest,
        },
        closed,
      ),
    ),
    /** Times that passed while no process looked: none of them is run, or one run counts for all. */
    missed: Type.Enum(['skip', 'once']),
    /** A time that comes while the last run is open is skipped, or begins another run. */
    overlap: Type.Enum(['skip', 'allow']),
  },
  closed,
)

export type ScheduleTerms = Type.Static<typeof TermsSchema>

const ScheduleSchema = Type.Object(
  {
    name: Word,
    change: Type.Enum(['set', 'paused', 'resumed', 'removed']),
    at: Type.String(),
    terms: Type.Optional(TermsSchema),
  },
  closed,
)

export type ScheduleChange = Type.Static<typeof ScheduleSchema>

function checkTerms({ document, report }: Subject): void {
  const isSet = field(document, 'change') === 'set'
  const hasTerms = field(document, 'terms') !== undefined
  if (isSet && !hasTerms)
    report.add('flow_record.required', '/terms', 'a schedule that is set has its terms')
  if (!isSet && hasTerms)
    report.add('flow_record.unknown_key', '/terms', 'only a schedule that is set has terms')
}

export const scheduleContract: Contract = {
  name: 'schedule_v1',
  title: 'A human set, paused, resumed or removed a schedule.',
  prefix: 'flow_record',
  schema: ScheduleSchema,
  checks: [checkMoment, checkTerms],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const SlotSchema = Type.Object(
  {
    name: Word,
    /** The time of the schedule that this is about. */
    slot: Type.String(),
    at: Type.String(),
    kind: Type.Enum(['claimed', 'skipped', 'failed']),
    /** Claimed: the run that begins. Otherwise the last run of the schedule. */
    run_id: Type.Optional(Name),
    /** Earlier times that this one counts for. */
    missed: Type.Optional(Count),
    why: Type.Optional(Type.Enum(['missed', 'overlap', 'refused'])),
    code: Type.Optional(Name),
    message: Type.Optional(Type.String()),
  },
  closed,
)

export type ScheduleSlot = Type.Static<typeof SlotSchema>

function checkSlot({ document, report }: Subject): void {
  const slot = field(document, 'slot')
  if (typeof slot === 'string' && !isIsoMoment(slot)) {
    const message = `${show(slot, '')} is not an ISO 8601 date and time with an offset`
    report.add('flow_record.moment', '/slot', message)
  }
  if (field(document, 'kind') === 'claimed' && field(document, 'run_id') === undefined)
    report.add('flow_record.required', '/run_id', 'a claimed time names the run that begins')
}

export const scheduleSlotContract: Contract = {
  name: 'schedule_slot_v1',
  title: 'A time of a schedule was claimed for a run, skipped, or its run could not begin.',
  prefix: 'flow_record',
  schema: SlotSchema,
  checks: [checkMoment, checkSlot],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
