/**
 * Detects the contract of a document when the caller names none: by `type`, else `schema_version`, else
 * `descriptor_version`, else by the keys that only one kind of document has. If none or two contracts
 * fit, the answer is `document.undetected`.
 */
import { OPERATION_TYPES } from './descriptor/operation.ts'
import { field, isObject, type JsonObject } from './kernel/contract.ts'
import { findContract } from './registry.ts'

/** The name of the contract, or null when the document does not say. */
export function detectContract(document: unknown): string | null {
  if (!isObject(document)) return null
  return byMarker(document) ?? byShape(document)
}

function byMarker(document: JsonObject): string | null {
  for (const marker of ['type', 'schema_version']) {
    const value = field(document, marker)
    if (typeof value !== 'string') continue
    const contract = findContract(value)
    if (contract !== null) {
      // A record's own `type` names the contract of its payload.
      const isRecord = marker === 'type' && contract.isRecord && has(document, 'payload')
      return isRecord ? 'record' : value
    }
    // An operation's `type` says which operation it is, not that it is one.
    if (marker === 'type' && OPERATION_TYPES.includes(value)) return 'operation_v1'
  }
  if (has(document, 'descriptor_version')) return 'action_descriptor'
  return null
}

function byShape(document: JsonObject): string | null {
  const names: string[] = []
  if (has(document, 'type') && has(document, 'payload')) names.push('record')
  if (has(document, 'descriptor') && (has(document, 'operation') || has(document, 'children'))) {
    names.push('proposal_v1')
  }
  if (has(document, 'plan') && has(document, 'nodes') && has(document, 'edges')) {
    names.push('plan_json_v1')
  }
  return names.length === 1 ? (names[0] ?? null) : null
}

function has(document: JsonObject, key: string): boolean {
  return Object.hasOwn(document, key)
}
