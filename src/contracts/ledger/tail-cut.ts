/**
 * `tail_cut_v1`: a human let go of facts that could not be kept, such as those behind the last backup
 * of a lost disk. The host never cuts by itself; the fact says how much of which stream went, so that
 * older checkpoints that count more do not look like a silent rewrite.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { checkMomentAt, closed, DigestText, Moment, Size, StreamName } from './shapes.ts'

const TailCutSchema = Type.Object(
  {
    stream: StreamName,
    size_before: Size,
    size_after: Size,
    /** The root of what was kept. */
    root_after: DigestText,
    reason: Type.String({ minLength: 1 }),
    cut_at: Moment,
  },
  closed,
)

function checkSizes({ document, report }: Subject): void {
  const [before, after] = [field(document, 'size_before'), field(document, 'size_after')]
  if (typeof before !== 'number' || typeof after !== 'number' || after < before) return
  const message = `nothing is cut between ${show(before, '')} and ${show(after, '')}`
  report.add('ledger_record.size', '/size_after', message)
}

export const tailCut: Contract = {
  name: 'tail_cut_v1',
  title: 'Facts at the end of a stream were given up by a human.',
  prefix: 'ledger_record',
  schema: TailCutSchema,
  checks: [checkSizes, (subject) => checkMomentAt(subject, 'cut_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
