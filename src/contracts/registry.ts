/**
 * The registry: every document writ knows. The command line, the server, the ledger and the console
 * ask here and nowhere else.
 */
import { CODES, nearest } from '../base/index.ts'
import { actReceipt } from './act/receipt.ts'
import { recordContract } from './act/record.ts'
import { actTask } from './act/task.ts'
import { xiaoboAction } from './agent/action.ts'
import { planJson } from './agent/plan.ts'
import { xiaojingReview } from './agent/review.ts'
import { controlEvaluation } from './constitution/control-evaluation.ts'
import { controlRuleset } from './constitution/control-ruleset.ts'
import { controlVerdict } from './constitution/control-verdict.ts'
import { permissionSet } from './constitution/permission-set.ts'
import { problemState } from './constitution/problem-state.ts'
import { ruleset } from './constitution/ruleset.ts'
import { uncertaintyEnvelope } from './constitution/uncertainty-envelope.ts'
import { decisionContract } from './descriptor/decision.ts'
import { actionDescriptor } from './descriptor/descriptor.ts'
import { operationContract } from './descriptor/operation.ts'
import { proposalContract } from './descriptor/proposal.ts'
import { sandboxResult } from './descriptor/sandbox-result.ts'
import { flowContract } from './flow/flow.ts'
import { participantsContract } from './flow/participants.ts'
import { flowClaim, flowEvidence } from './flow/records/claim.ts'
import { flowEvent } from './flow/records/event.ts'
import { flowFinding } from './flow/records/finding.ts'
import { participantOutput } from './flow/records/output.ts'
import { scheduleContract, scheduleSlotContract } from './flow/records/schedule.ts'
import { flowStarted } from './flow/records/started.ts'
import { describeSchema } from './flow/reference/describe.ts'
import { flowSideContract } from './flow/side.ts'
import { flowTestContract } from './flow/testing/test-file.ts'
import { confirmationContract } from './gate/confirmation.ts'
import { deviceKeyContract, dispatchContract } from './gate/dispatch.ts'
import { evaluationContract } from './gate/evaluation.ts'
import { grantContract } from './gate/grant.ts'
import { haltContract, lawsContract } from './gate/laws.ts'
import { lawsFileContract } from './gate/laws-file.ts'
import { notificationContract } from './gate/notification.ts'
import { overrideContract } from './gate/override.ts'
import { promotionContract } from './gate/promotion.ts'
import { requestContract } from './gate/request.ts'
import { rollbackContract } from './gate/rollback.ts'
import { sessionContract } from './gate/session.ts'
import { undoRequestContract } from './gate/undo-request.ts'
import type { Contract } from './kernel/contract.ts'
import { type CodeAnnotation, nodeOf, type SchemaNode } from './kernel/schema.ts'
import { endorsementContract } from './ledger/endorsement.ts'
import { machineContract } from './ledger/machine.ts'
import { passkeyProof } from './ledger/passkey.ts'
import { principalChange } from './ledger/principal.ts'
import { bodyDropped, clockJump, keyRotated, tailCut } from './ledger/records.ts'
import { requestKeyContract } from './ledger/request-key.ts'
import { anchorContract, witnessContract } from './ledger/witness.ts'

/** Every document except the envelope of the ledger. */
const DOCUMENTS: readonly Contract[] = [
  actTask,
  actReceipt,
  xiaoboAction,
  xiaojingReview,
  planJson,
  problemState,
  uncertaintyEnvelope,
  permissionSet,
  ruleset,
  controlRuleset,
  controlVerdict,
  controlEvaluation,
  actionDescriptor,
  operationContract,
  proposalContract,
  sandboxResult,
  decisionContract,
  evaluationContract,
  confirmationContract,
  promotionContract,
  requestContract,
  rollbackContract,
  overrideContract,
  grantContract,
  notificationContract,
  dispatchContract,
  deviceKeyContract,
  sessionContract,
  haltContract,
  lawsContract,
  lawsFileContract,
  flowContract,
  flowSideContract,
  participantsContract,
  flowTestContract,
  flowStarted,
  flowEvent,
  flowFinding,
  flowClaim,
  flowEvidence,
  participantOutput,
  scheduleContract,
  scheduleSlotContract,
  keyRotated,
  tailCut,
  bodyDropped,
  clockJump,
  principalChange,
  passkeyProof,
  endorsementContract,
  requestKeyContract,
  undoRequestContract,
  witnessContract,
  anchorContract,
  machineContract,
]

const BY_NAME: ReadonlyMap<string, Contract> = new Map(
  DOCUMENTS.map((contract) => [contract.name, contract]),
)

const DOCUMENT_NAMES: readonly string[] = [...BY_NAME.keys()]

/** The names of documents that may be the payload of a ledger record. */
const RECORD_NAMES: readonly string[] = DOCUMENTS.filter((contract) => contract.isRecord).map(
  ({ name }) => name,
)

function findDocument(name: string): Contract | null {
  return BY_NAME.get(name) ?? null
}

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

export type PublishedSchema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of a contract as others read it: JSON Schema 2020-12 with an id, a title and full
 * violation codes. What the schema cannot say is in the semantic checks, whose codes are listed.
 */
export function publishSchema(contract: Contract): PublishedSchema {
  // `expand` returns an object for an object.
  const schema = describeSchema(contract.name, nodeOf(contract.schema))
  const body = expand(schema, contract.prefix) as Record<string, unknown>
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:writ:contract:${contract.name}`,
    title: contract.name,
    description: contract.title,
    ...body,
    'x-codes': codesOf(contract.prefix),
  }
}

/** Every code with the contract's prefix and what it means. */
function codesOf(prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(CODES)
      .filter(([code]) => code.startsWith(`${prefix}.`))
      .map(([code, { says }]) => [code, says]),
  )
}

function expand(node: unknown, outer: string): unknown {
  if (Array.isArray(node)) return node.map((item) => expand(item, outer))
  if (typeof node !== 'object' || node === null) return node
  const prefix = (node as SchemaNode)['x-prefix'] ?? outer // Every object in a schema may carry one.
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'x-prefix')
      .map(([key, value]) => [
        key,
        // The value of `x-code` is an annotation.
        key === 'x-code' ? expandCodes(value as CodeAnnotation, prefix) : expand(value, prefix),
      ]),
  )
}

function expandCodes(annotation: CodeAnnotation, prefix: string): unknown {
  if (typeof annotation === 'string') return `${prefix}.${annotation}`
  return Object.fromEntries(
    Object.entries(annotation).map(([keyword, code]) => [keyword, `${prefix}.${code}`]),
  )
}
