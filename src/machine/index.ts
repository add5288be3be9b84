/**
 * Room: machine. What the rooms that touch the machine share: the clock, programs of the system,
 * files and directories without following links, attributes, removal, sync. Sees base, contracts and
 * gate.
 */
export {
  type Attributes,
  CAPABILITY,
  isEscaped,
  isOfTheSystem,
  listUnder,
  NO_ATTRIBUTES,
  readAttributes,
  readRawAttributes,
  TooMuchText,
} from './attributes.ts'
export { type Clock, isJump, type Jump, JumpWatch, SYSTEM_CLOCK } from './clock.ts'
export { makeDurable } from './durable.ts'
export type { EntryStats } from './entry-stats.ts'
export { errnoOf, isAbsent } from './errno.ts'
export { asFailure, toolFailure } from './failure.ts'
export {
  makeFolder,
  namesIfThere,
  readableNames,
  readableStats,
  readableText,
  readIfThere,
  writeWhole,
} from './file.ts'
export { type DigestRequest, digestFiles } from './file-digest.ts'
export { checkFilesystem, type FilesystemType } from './filesystem.ts'
export { FLOCK_CONFLICT, flockWords, withFolderLock } from './folder-lock.ts'
export { holdLongList, LONG_LIST } from './heap.ts'
export {
  allStatsOf,
  codeOf,
  flatPath,
  type HeldDirectory,
  holdDirectory,
  isAbsence,
  itselfAt,
  kindOf,
  LentPermissions,
  namesIn,
  nodePath,
  statsOf,
} from './held-directory.ts'
export { LINE_FEED, piecesOf, readLines, writeLines } from './line-file.ts'
export { namedPath } from './named-path.ts'
export { openEntry, openFile } from './no-follow.ts'
export { Pace } from './pace.ts'
export { readPlainFile, writePlainFile } from './plain-file.ts'
export {
  findNamed,
  findProgram,
  installCommand,
  isExecutable,
  type Program,
  type ProgramPath,
  requireProgram,
  runProgram,
  runProgramNow,
  startProgram,
} from './programs.ts'
export { removeTree, removeTreeSync } from './remove-tree.ts'
export { quote, quoteAll } from './shell-text.ts'
export { syncAndClose, syncDirectory, syncPath } from './sync.ts'
export { stopOutputProcessing } from './terminal-mode.ts'
export {
  inChunks,
  runBatch,
  runTool,
} from './tool.ts'
export { workerEntry } from './worker-entry.ts'
