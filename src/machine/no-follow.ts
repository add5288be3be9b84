/**
 * Opens an entry without following a symbolic link in its last name. It does not wait for a fifo
 * either. The only file that names the flag: a caller says what it wants to do with the entry.
 */
import { constants, openSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } =
  constants
/** Linux, all architectures that Node runs on; Node has no name for it. Needs no right to read. */
const O_PATH = 0o10_000_000

const FLAGS = {
  /** Reads a file. */
  read: O_RDONLY | O_NONBLOCK,
  /** Reads and writes a file that is there. */
  update: O_RDWR | O_NONBLOCK,
  /** Writes a file; creates a missing one. */
  write: O_WRONLY | O_CREAT | O_NONBLOCK,
  /** Creates a file; fails if something is there. */
  create: O_WRONLY | O_CREAT | O_EXCL,
  /** Reads and writes a file that several processes share; creates a missing one. */
  share: O_RDWR | O_CREAT,
  /** Lists, syncs or locks a directory. */
  list: O_RDONLY | O_DIRECTORY,
  /** Reaches the entries of a directory, also of one that may not be listed. */
  enter: O_PATH | O_DIRECTORY,
} as const

/** Returns the descriptor of an entry. Fails if the entry is a symbolic link. */
export function openEntry(path: string | Buffer, use: keyof typeof FLAGS, mode?: number): number {
  return openSync(path, FLAGS[use] | O_NOFOLLOW, mode)
}

/** Opens a file for reading through the thread pool. Fails if it is a symbolic link. */
export function openFile(path: string | Buffer): Promise<FileHandle> {
  return open(path, FLAGS.read | O_NOFOLLOW)
}
