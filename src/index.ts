/**
 * The public door of the package: the version, and what most callers need. Rooms have doors of
 * their own (`writ/contracts`, …).
 */
export { canonicalJson, type Digest, digestDocument } from './base/index.ts'
export {
  CONTRACTS,
  findContract,
  type Validation,
  type Violation,
  validate,
} from './contracts/index.ts'
