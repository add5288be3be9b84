/**
 * Room: home. Finds, makes and removes homes; keeps the register of those a human trusts,
 * principals, tokens and credentials. Sees base, contracts, policy, ledger, gate, machine, promotion
 * and store.
 */
export { gitDirectoriesOf, gitTop, workspacePlaces } from './git-directories.ts'
export { type HomeStore, homeToRegister, type MadeHome, makeHome, registerHome } from './home.ts'
export { lostLedger } from './identity.ts'
export { joinHome } from './join.ts'
export { type Home, type KnownHome, lawsOf, openHome } from './known-home.ts'
export { knownPlaces, rememberPlaces, wholePath, type XdgName } from './person-places.ts'
export { findHome, type Surroundings, stateRoot } from './place.ts'
export {
  CODE_LIFE_MS,
  codeDigest,
  findCode,
  liveCodes,
  newOnceCode,
  newRecoveryCodes,
  recoveryCodesLeft,
} from './principals/codes.ts'
export {
  type ApprovalProof,
  isProvenApproval,
  isStrongPassphrase,
  openCredential,
  sealCredential,
  shareCredentials,
  signApproval,
  wrongPassphrase,
} from './principals/credential.ts'
export {
  addPrincipal,
  checkNewPrincipal,
  createToken,
  type PrincipalsPlace,
  RegisterReader,
  readRegister,
  recordChange,
  revokeToken,
} from './principals/principals.ts'
export { isProvenByTicket, PROOF_TICKET } from './principals/proof-ticket.ts'
export {
  knownHomeOf,
  type ListedHome,
  listHomes,
  namedHome,
  removeHome,
  replacedHome,
  unfinishedIn,
} from './removal.ts'
export { isSecretName, readSecret, removeSecret, secretNames, setSecret } from './secrets.ts'
