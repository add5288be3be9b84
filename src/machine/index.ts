/**
 * Room: machine. What the rooms that touch the machine share: the clock, programs of the system,
 * files and directories without following links, attributes, removal, sync. Sees base, contracts and
 * gate.
 */
export { AnsweringProgram } from './answering-program.ts'
export { removeByProgram } from './attribute-reader.ts'
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
export { asFailure, errnoOf, isAbsent, namedPath, toolFailure } from './failure.ts'
export {
  LINE_FEED,
  makeEmptyFile,
  makeFolder,
  namesIfThere,
  piecesOf,
  readableNames,
  readableStats,
  readableText,
  readIfThere,
  readLines,
  replaceFile,
  writeLines,
  writeWhole,
  writeWholeAside,
} from './file.ts'
export { type DigestRequest, digestFiles } from './file-digest.ts'
export { checkFilesystem, type FilesystemType } from './filesystem.ts'
export { FLOCK_CONFLICT, flockWords, holdFolderLock, withFolderLock } from './folder-lock.ts'
export {
  allStatsOf,
  codeOf,
  type EntryStats,
  flatPath,
  type HeldDirectory,
  holdDirectory,
  itselfAt,
  kindOf,
  LentPermissions,
  namesIn,
  nodePath,
  statsOf,
} from './held-directory.ts'
export { type ListenPlace, LOOPBACK_NAMES, refuseOpenAddress } from './listen-address.ts'
export { openEntry, openFile } from './no-follow.ts'
export { holdLongList, LONG_LIST, Pace } from './pace.ts'
export { readPlainFile, writePlainFile } from './plain-file.ts'
export {
  findNamed,
  findProgram,
  type InstalledEnd,
  installCommand,
  isExecutable,
  type Program,
  type ProgramPath,
  quote,
  quoteAll,
  requireProgram,
  runInstalled,
  runProgram,
  runProgramNow,
  startNamed,
  startOwn,
  startProgram,
  stopOutputProcessing,
} from './programs.ts'
export { removeTree, removeTreeSync } from './remove-tree.ts'
export { makeDurable, syncAndClose, syncDirectory, syncPath } from './sync.ts'
export {
  asArguments,
  inChunks,
  runBatch,
  runTool,
} from './tool.ts'
export { builtEntry, workerEntry } from './worker-entry.ts'
