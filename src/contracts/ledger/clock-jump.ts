/**
 * `clock_jump_v1`: the wall clock of the host was off by more than a minute. A running process compares
 * it with the monotonic clock. A starting process compares it with the last fact of a stream, which
 * cannot lie in the future. A machine that slept gives the same record, because its monotonic clock
 * stopped as well.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, parseIsoMomentMs, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { checkMomentAt, closed, Moment } from './shapes.ts'

/** Smaller jumps are ordinary clock corrections. */
export const CLOCK_JUMP_MS_MIN = 60_000

const ClockJumpSchema = Type.Object(
  {
    /** What the clock had to say; with `history` at least. */
    expected_at: Moment,
    found_at: Moment,
    /** The second minus the first. */
    jump_ms: Type.Integer(),
    seen_by: Type.Enum(['process', 'history'], { 'x-code': 'enum' }),
  },
  closed,
)

export type ClockJump = Type.Static<typeof ClockJumpSchema>

function checkJump({ document, report }: Subject): void {
  const jump = field(document, 'jump_ms')
  if (typeof jump !== 'number' || !Number.isInteger(jump)) return
  if (Math.abs(jump) <= CLOCK_JUMP_MS_MIN) {
    const message = `${show(jump, '')} ms are no more than the clock may be wrong by`
    return report.add('ledger_record.jump', '/jump_ms', message)
  }
  const [expected, found] = [momentOf(document, 'expected_at'), momentOf(document, 'found_at')]
  if (expected === null || found === null || found - expected === jump) return
  const message = `${show(jump, '')} is not the time from \`expected_at\` to \`found_at\``
  report.add('ledger_record.jump', '/jump_ms', message)
}

function momentOf(document: unknown, name: string): number | null {
  const text = field(document, name)
  return typeof text === 'string' ? parseIsoMomentMs(text) : null
}

export const clockJump: Contract = {
  name: 'clock_jump_v1',
  title: 'The clock of the host jumped.',
  prefix: 'ledger_record',
  schema: ClockJumpSchema,
  checks: [
    checkJump,
    (subject) => checkMomentAt(subject, 'expected_at'),
    (subject) => checkMomentAt(subject, 'found_at'),
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
