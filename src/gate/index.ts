/**
 * Room: gate. What is decided about a proposal, as pure functions of documents, facts and what the
 * host found out. Sees base, contracts and ledger.
 */
export {
  type Attribute,
  type Change,
  type ChangeList,
  changesSince,
  type EntryKind,
  type EntryState,
  isSameState,
  listsOf,
} from './change.ts'
export {
  bytesOfRaw,
  displayOfRaw,
  isBelow,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfBytes,
  rawOfText,
  textOfRaw,
} from './raw-path.ts'
