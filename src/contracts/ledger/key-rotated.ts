/**
 * `key_rotated_v1`: from here on another key signs the checkpoints of a stream (L-2). `last_size` is
 * the last size that the old key may sign: the one with this fact, whose checkpoint both keys signed.
 * The first key of a ledger follows none.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { closed, Size, StreamName, VerifierKeyText } from './shapes.ts'

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
