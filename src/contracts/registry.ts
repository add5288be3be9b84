/**
 * The registry: every document writ knows. The command line, the server, the ledger and the console
 * ask here and nowhere else.
 */
import { nearest } from '../base/index.ts'
import { recordContract } from './act/record.ts'
import { DOCUMENT_NAMES, findDocument, RECORD_NAMES } from './documents.ts'
import type { Contract } from './kernel/contract.ts'

const record = recordContract(RECORD_NAMES, findDocument)

export const CONTRACTS: readonly Contract[] = allContracts()

function allContracts(): readonly Contract[] {
  const documents = DOCUMENT_NAMES.map(findDocument)
  return [...documents.filter((contract) => contract !== null), record]
}

export function findContract(name: string): Contract | null {
  return name === record.name ? record : findDocument(name)
}

export function nearestContractName(name: string): string | null {
  return nearest(name, [...DOCUMENT_NAMES, record.name])
}
