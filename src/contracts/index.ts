/**
 * Room: contracts. The documents of the five systems: schemas, checks, normalisation, one registry.
 * Pure: no clock, no chance, no machine. Sees base.
 */
export { type ActReceipt, actReceipt } from './act/receipt.ts'
export { type ActTask, actTask } from './act/task.ts'
export { findScope, SCOPES, type Scope } from './agent/scope.ts'
export {
  type CheckAnswer,
  type CheckOptions,
  checkDocument,
  checkRead,
  checkText,
  contractNames,
  resolveContract,
  unknownContract,
} from './check.ts'
export { detectContract } from './detect.ts'
export type { Check, Context, Contract, JsonObject, Subject } from './kernel/contract.ts'
export type { Normalise, Normalised, Repair, Sources } from './kernel/normalise.ts'
export { judge, validate } from './kernel/validate.ts'
export type { Validation, Violation } from './kernel/violation.ts'
export { CONTRACTS, findContract, nearestContractName } from './registry.ts'
export { readYaml } from './yaml-reader.ts'
