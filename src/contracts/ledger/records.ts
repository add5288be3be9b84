/** The ledger's own records about itself, and the shapes that they share with `principal_v1`. */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, isIsoMoment, parseIsoMomentMs, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'

export const closed = { additionalProperties: false } as const

export const StreamName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  'x-code': { pattern: 'stream' },
  'x-says': 'the name of a stream',
})

export const DigestText = Type.String({
  pattern: '^sha256:[0-9a-f]{64}$',
  'x-code': { pattern: 'digest' },
  'x-says': '`sha256:` and 64 lower-case hex digits',
})

/** A public key of a signed note. */
export const VerifierKeyText = Type.String({
  pattern: '^[^+\\s]+\\+[0-9a-f]{8}\\+[A-Za-z0-9+/]+={0,2}$',
  'x-code': { pattern: 'key' },
  'x-says': 'a public key of the form `name+id+base64`',
})

const Size = Type.Integer({ minimum: 0, 'x-code': { minimum: 'size' } })

/** That it is a moment is a semantic check: no pattern knows the calendar. */
export const Moment = Type.String()

/** Shapes that the ledger's own records share. */
export function checkMomentAt({ document, report }: Subject, name: string): void {
  const moment = field(document, name)
  if (typeof moment !== 'string' || isIsoMoment(moment)) return
  const message = `${show(moment, '')} is not an ISO 8601 date and time with an offset`
  report.add('ledger_record.moment', `/${name}`, message)
}

const BodyDroppedSchema = Type.Object(
  {
    body: DigestText,
    bytes: Size,
    rule: Type.String({ minLength: 1 }),
    reason: Type.Optional(Type.String()),
    dropped_at: Moment,
  },
  closed,
)

/**
 * `body_dropped_v1`: a body that facts name is no longer kept (L-5). The facts stay; this one says
 * what went, when, and by which rule: the name of a retention rule, or `purge` for a human's word.
 */
export type BodyDropped = Type.Static<typeof BodyDroppedSchema>

export const bodyDropped: Contract = {
  name: 'body_dropped_v1',
  title: 'A body that facts name is no longer kept.',
  prefix: 'ledger_record',
  schema: BodyDroppedSchema,
  checks: [(subject) => checkMomentAt(subject, 'dropped_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

/** Smaller jumps are ordinary clock corrections. */
export const CLOCK_JUMP_MS_MIN = 60_000

/**
 * `clock_jump_v1`: the wall clock of the host was off by more than a minute. A running process compares
 * it with the monotonic clock. A starting process compares it with the last fact of a stream, which
 * cannot lie in the future. A machine that slept gives the same record, because its monotonic clock
 * stopped as well.
 */
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

const KeyRotatedSchema = Type.Object(
  {
    stream: StreamName,
    origin: Type.String({ minLength: 1 }),
    old_key: Type.Union([VerifierKeyText, Type.Null()]),
    new_key: VerifierKeyText,
    last_size: Size,
  },
  closed,
)

/**
 * `key_rotated_v1`: from here on another key signs the checkpoints of a stream (L-2). `last_size` is
 * the last size that the old key may sign: the one with this fact, whose checkpoint both keys signed.
 * The first key of a ledger follows none.
 */
export type KeyRotated = Type.Static<typeof KeyRotatedSchema>

function checkKeys({ document, report }: Subject): void {
  const [oldKey, newKey] = [field(document, 'old_key'), field(document, 'new_key')]
  const lastSize = field(document, 'last_size')
  if (typeof newKey === 'string' && oldKey === newKey) {
    report.add('ledger_record.key', '/new_key', 'the new key is the old one')
  }
  if (typeof lastSize !== 'number' || (oldKey !== null && typeof oldKey !== 'string')) return
  if ((oldKey === null) === (lastSize === 0)) return
  const message = `without an old key the last size is 0, with one it is not; found ${show(lastSize, '')}`
  report.add('ledger_record.size', '/last_size', message)
}

export const keyRotated: Contract = {
  name: 'key_rotated_v1',
  title: 'Another key signs the checkpoints of a stream from here on.',
  prefix: 'ledger_record',
  schema: KeyRotatedSchema,
  checks: [checkKeys],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

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

/**
 * `tail_cut_v1`: a human let go of facts that could not be kept, such as those behind the last backup
 * of a lost disk. The host never cuts by itself; the fact says how much of which stream went, so that
 * older checkpoints that count more do not look like a silent rewrite.
 */
export const tailCut: Contract = {
  name: 'tail_cut_v1',
  title: 'Facts at the end of a stream were given up by a human.',
  prefix: 'ledger_record',
  schema: TailCutSchema,
  checks: [checkSizes, (subject) => checkMomentAt(subject, 'cut_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
