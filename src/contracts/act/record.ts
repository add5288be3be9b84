/**
 * `record`: the ledger's envelope `{ type, payload }` (C-4c). Open, because seed 000 §C
 * says "at least"; the payload is judged by the contract that `type` names.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, field, isObject, type Subject } from '../kernel/contract.ts'
import { judge } from '../kernel/validate.ts'

type Find = (name: string) => Contract | null

/** The envelope over the contracts that may stand on the ledger, by their names. */
export function recordContract(names: readonly string[], find: Find): Contract {
  const known = new Set(names)
  const findPayload: Find = (name) => (known.has(name) ? find(name) : null)
  return {
    name: 'record',
    title: 'The ledger envelope around one document.',
    prefix: 'record',
    schema: Type.Object(
      {
        type: Type.Enum([...names], { 'x-code': { '*': 'type', required: 'type' } }),
        payload: Type.Object({}, { 'x-code': { '*': 'payload', required: 'payload' } }),
      },
      { 'x-code': 'payload' },
    ),
    checks: [(subject) => checkPayload(subject, findPayload)],
    limits: DOCUMENT_LIMITS,
    isRecord: false,
  }
}

function checkPayload({ document, context, report }: Subject, find: Find): void {
  const type = field(document, 'type')
  const contract = typeof type === 'string' ? find(type) : null
  const payload = field(document, 'payload')
  if (contract === null || !isObject(payload)) return
  const { valid, violations } = judge(contract, payload, context)
  if (valid) return
  report.add('record.payload', '/payload', `the payload is not a valid ${showName(contract.name)}`)
  for (const { code, path, message, hint } of violations) {
    report.add(code, `/payload${path}`, message, hint)
  }
}
