/**
 * Room: base. Codes, faults, canonical JSON, the strict reader, digests, ids.
 * Pure: no clock, no chance, no machine. Sees no other room.
 */
export { canonicalJson, isCanonicalText, isSurelyCanonical } from './canonical.ts'
export { closingPlaces } from './circles.ts'
export { CODES, type Code, isCode } from './codes.ts'
export {
  BrokenInvariant,
  type Fault,
  FaultError,
  fault,
  faultCode,
  faultError,
  invariant,
} from './fault.ts'
export {
  type Digest,
  digestBytes,
  digestDocument,
  ED25519_KEY_BYTES,
  ed25519Check,
  HASH_BYTES,
  isDigest,
  sha256,
  sha256Into,
} from './hash.ts'
export { isUuid, uuidV7 } from './ids.ts'
export {
  DOCUMENT_LIMITS,
  envelopeLimits,
  GRAPH_LIMITS,
  type JsonLimits,
  type JsonRefusal,
  type JsonRefusalCode,
} from './json-limits.ts'
export { guardValue, isRefusal, type ParsedJson, readJson, utf8Length } from './json-reader.ts'
export { fromBase64Url, isSignedByJwk, toBase64Url } from './jwk-check.ts'
export { isIsoMoment, parseIsoMomentMs } from './moment.ts'
export { nearest } from './nearest.ts'
export { at, compareCodePoints, pointerSteps, readPointer } from './pointer.ts'
export { count, isSecretPlace, show, showCommand, showName, showPath } from './show.ts'
export { LEVEL, VERSION } from './version.ts'
export { visible, visibleLine, visibleName } from './visible.ts'
