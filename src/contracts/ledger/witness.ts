/**
 * Witnesses of a ledger (H-9): `witness_v1` is what a human says about one, `anchor_v1` what witnesses
 * cosigned. Facts of the host's stream.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { checkMomentAt, closed, Moment, VerifierKeyText } from './records.ts'

const Name = Type.String({
  pattern: '^[^+\\s]{1,256}$',
  'x-code': { pattern: 'name' },
  'x-says': '1 to 256 characters without spaces and `+`',
})

const WitnessSchema = Type.Object(
  {
    change: Type.Enum(['pinned', 'unpinned'], { 'x-code': 'enum' }),
    /** As in its key. */
    name: Name,
    key: Type.Optional(VerifierKeyText),
    /** Where it takes checkpoints, without `/add-checkpoint`. */
    url: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/?#][^\\s?#]{0,2000}$',
        'x-code': { pattern: 'url' },
        'x-says': 'an http or https address without a query',
      }),
    ),
    at: Moment,
  },
  closed,
)

export type WitnessChange = Type.Static<typeof WitnessSchema>

function checkPin({ document, report }: Subject): void {
  const change = field(document, 'change')
  const [name, key, url] = ['name', 'key', 'url'].map((one) => field(document, one))
  for (const [place, value] of [
    ['key', key],
    ['url', url],
  ] as const) {
    if (change === 'pinned' && value === undefined)
      report.add('ledger_record.required', `/${place}`, `a witness that is pinned has its ${place}`)
    if (change === 'unpinned' && value !== undefined)
      report.add('ledger_record.misplaced', `/${place}`, `only a pinned witness has a ${place}`)
  }
  if (typeof key === 'string' && typeof name === 'string' && !key.startsWith(`${name}+`))
    report.add('ledger_record.key', '/key', `the key is not one of ${show(name, '')}`)
}

export const witnessContract: Contract = {
  name: 'witness_v1',
  title: 'A human pinned a witness of this ledger, or let it go.',
  prefix: 'ledger_record',
  schema: WitnessSchema,
  checks: [checkPin, (subject) => checkMomentAt(subject, 'at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const AnchorSchema = Type.Object(
  {
    checkpoints: Type.Array(
      Type.Object(
        {
          /** Of a stream, or of the home. */
          origin: Type.String({ minLength: 1 }),
          size: Type.Integer({ minimum: 1, 'x-code': { minimum: 'size' } }),
          /** The checkpoint with the ledger's signature and the cosignatures. */
          note: Type.String(),
        },
        closed,
      ),
      { minItems: 1, 'x-code': { minItems: 'size' } },
    ),
    witnesses: Type.Array(
      Type.Object(
        {
          name: Name,
          key: VerifierKeyText,
          /** How many of the checkpoints it cosigned. */
          cosigned: Type.Integer({ minimum: 1, 'x-code': { minimum: 'size' } }),
          /** When it first did, by its own clock. */
          at: Moment,
        },
        closed,
      ),
      { minItems: 1, 'x-code': { minItems: 'size' } },
    ),
  },
  closed,
)

export type AnchorRecord = Type.Static<typeof AnchorSchema>

/** A note begins with its origin and its size, and has a cosignature after the ledger's signature. */
function checkNotes({ document, report }: Subject): void {
  const checkpoints = field(document, 'checkpoints')
  for (const [index, one] of (Array.isArray(checkpoints) ? checkpoints : []).entries()) {
    const [origin, size, note] = ['origin', 'size', 'note'].map((name) => field(one, name))
    if (typeof origin !== 'string' || typeof size !== 'number' || typeof note !== 'string') continue
    const signatures = note.match(/^\u2014 \S+ \S+$/gmu) ?? []
    if (note.startsWith(`${origin}\n${size}\n`) && signatures.length > 1) continue
    const message = 'the note is not of this origin and size, or has no cosignature'
    report.add('ledger_record.note', `/checkpoints/${index}/note`, message)
  }
}

export const anchorContract: Contract = {
  name: 'anchor_v1',
  title: 'Witnesses cosigned checkpoints of this ledger.',
  prefix: 'ledger_record',
  schema: AnchorSchema,
  checks: [checkNotes],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
