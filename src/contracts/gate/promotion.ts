/**
 * `promotion_v1`: rehearsed bytes were put in place, or an interrupted promotion was taken back
 * (G-20). One for an action. `window_ms` is the time during which others could see some of the paths
 * new and others old; `undo_until` is how long the pre-images are kept.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { ActionId, Count, checkMoments, checkOrder, closed, DigestText, Moment } from './shapes.ts'

const PROMOTION_STATUSES = ['APPLIED', 'REVERTED'] as const

const Duration = Type.Number({ minimum: 0, 'x-code': { minimum: 'count' } })

const PromotionSchema = Type.Object(
  {
    action_id: ActionId,
    proposal_digest: DigestText,
    result_digest: DigestText,
    status: Type.Enum([...PROMOTION_STATUSES]),
    /** How many paths were changed. */
    paths: Count,
    /** How many bytes of files were put in place. */
    bytes: Count,
    manifest: DigestText,
    /** Of the manifest of pre-images, which may be empty. */
    snapshot_digest: DigestText,
    window_ms: Duration,
    undo_until: Moment,
    promoted_at: Moment,
    /** Finished or taken back by recovery after an interruption. */
    recovered: Type.Boolean(),
  },
  closed,
)

export type Promotion = Type.Static<typeof PromotionSchema>

/** What was taken back is a recovery's work, and left nothing changed. */
function checkReverted({ document, report }: Subject): void {
  if (field(document, 'status') !== 'REVERTED') return
  for (const name of ['paths', 'bytes']) {
    const count = field(document, name)
    if (typeof count !== 'number' || count === 0) continue
    const message = 'a promotion that was taken back changed nothing'
    report.add('gate_record.contradiction', `/${name}`, message)
  }
}

/** Bytes lie in files, and files have paths. */
function checkBytes({ document, report }: Subject): void {
  const bytes = field(document, 'bytes')
  if (field(document, 'paths') !== 0 || typeof bytes !== 'number' || bytes <= 0) return
  if (field(document, 'status') === 'REVERTED') return
  report.add('gate_record.contradiction', '/bytes', 'no path was changed, so no byte was either')
}

export const promotionContract: Contract = {
  name: 'promotion_v1',
  title: 'Rehearsed bytes were put in place, or an interrupted promotion was taken back.',
  prefix: 'gate_record',
  schema: PromotionSchema,
  checks: [
    checkMoments(['promoted_at', 'undo_until']),
    checkOrder(['promoted_at', 'undo_until']),
    checkReverted,
    checkBytes,
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
