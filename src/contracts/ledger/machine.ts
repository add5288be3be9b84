/** `machine_v1`: a human lets a machine sign the checkpoints of a stream, or ends that. */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { closed, StreamName, VerifierKeyText } from './records.ts'

const MachineSchema = Type.Object(
  {
    change: Type.Enum(['joined', 'removed'], { 'x-code': 'enum' }),
    machine: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      'x-code': { pattern: 'name' },
      'x-says': '1 to 64 letters, digits, dots, dashes',
    }),
    stream: StreamName,
    origin: Type.String({ minLength: 1 }),
    /** The machine's public key, under the name of the origin. */
    key: VerifierKeyText,
    /** The size of the stream with this fact, whose checkpoint is kept and signed by another key. */
    size: Type.Integer({ minimum: 1, 'x-code': { minimum: 'size' } }),
  },
  closed,
)

export type MachineChange = Type.Static<typeof MachineSchema>

function checkKey({ document, report }: Subject): void {
  const [origin, key] = [field(document, 'origin'), field(document, 'key')]
  if (typeof origin !== 'string' || typeof key !== 'string' || key.startsWith(`${origin}+`)) return
  report.add('ledger_record.key', '/key', `the key is not one of ${show(origin, '')}`)
}

export const machineContract: Contract = {
  name: 'machine_v1',
  title: 'A machine may sign the checkpoints of a stream, or may no longer.',
  prefix: 'ledger_record',
  schema: MachineSchema,
  checks: [checkKey],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
