/** Shapes that the ledger's own records share. */
import * as Type from 'typebox'
import { isIsoMoment, show } from '../../base/index.ts'
import { field, type Subject } from '../kernel/contract.ts'

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

export const Size = Type.Integer({ minimum: 0, 'x-code': { minimum: 'size' } })

/** That it is a moment is a semantic check: no pattern knows the calendar. */
export const Moment = Type.String()

export function checkMomentAt({ document, report }: Subject, name: string): void {
  const moment = field(document, name)
  if (typeof moment !== 'string' || isIsoMoment(moment)) return
  const message = `${show(moment, '')} is not an ISO 8601 date and time with an offset`
  report.add('ledger_record.moment', `/${name}`, message)
}
