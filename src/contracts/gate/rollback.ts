/**
 * `rollback_v1`: promoted actions were undone, all or nothing, and proven by hashes (G-21). Named
 * are the actions, newest first, as they were undone.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import { ActionId, Count, checkMoments, closed, Moment, Reason } from './shapes.ts'

const RollbackSchema = Type.Object(
  {
    rollback_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    action_ids: Type.Array(ActionId, { minItems: 1, 'x-code': { minItems: 'empty' } }),
    reason: Type.Optional(Reason),
    /** How many paths were restored. */
    restored: Count,
    /** Every restored path was hashed again and equals its pre-image. */
    verified: Type.Boolean(),
    rolled_back_at: Moment,
    /** Acts that were carried out to undo what no restoring can, newest first. */
    compensated_by: Type.Optional(Type.Array(ActionId)),
    /** The run of a flow whose Rollback edge ordered it, or that was cancelled with `--undo`; absent where a person took single acts back. */
    run: Type.Optional(Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })),
    /** Finished by recovery after an interruption. */
    recovered: Type.Boolean(),
  },
  closed,
)

export type Rollback = Type.Static<typeof RollbackSchema>

function checkActions({ document, report }: Subject): void {
  const seen = new Set<string>()
  for (const [index, id] of elements(field(document, 'action_ids')).entries()) {
    if (typeof id !== 'string') continue
    if (seen.has(id.toLowerCase())) {
      const message = `the action ${show(id, '')} is named twice`
      report.add('gate_record.duplicate', at('/action_ids', index), message)
    }
    seen.add(id.toLowerCase())
  }
}

export const rollbackContract: Contract = {
  name: 'rollback_v1',
  title: 'Promoted actions were undone, all or nothing.',
  prefix: 'gate_record',
  schema: RollbackSchema,
  checks: [checkMoments(['rolled_back_at']), checkActions],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
