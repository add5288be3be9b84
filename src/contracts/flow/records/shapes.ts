/** Shapes and checks that the records of a run share. */
import * as Type from 'typebox'
import { isIsoMoment, show } from '../../../base/index.ts'
import { field, type Subject } from '../../kernel/contract.ts'

export { closed } from '../shapes.ts'

export const Name = Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })
export const Count = Type.Integer({ minimum: 0, 'x-code': { minimum: 'count' } })
/** A document or value from outside writ, kept unchanged. */
export const Anything = Type.Unsafe<unknown>({})
export const AnyObject = Type.Object({})
export const Digest = Type.String({
  pattern: '^sha256:[0-9a-f]{64}$',
  'x-code': { pattern: 'digest' },
  'x-says': '`sha256:` and 64 lower-case hex digits',
})
export const DigestOrNull = Type.Union([Digest, Type.Null()])
export const NameOrNull = Type.Union([Name, Type.Null()])

/** What every record of a run begins with. That `at` is a moment is a semantic check. */
export const head = { run_id: Name, seq: Count, at: Type.String() }

export function checkMoment({ document, report }: Subject): void {
  const at = field(document, 'at')
  if (typeof at !== 'string' || isIsoMoment(at)) return
  const message = `${show(at, '')} is not an ISO 8601 date and time with an offset`
  report.add('flow_record.moment', '/at', message)
}
